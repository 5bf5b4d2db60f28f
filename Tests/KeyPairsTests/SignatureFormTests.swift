import KeyPairs
import Testing

/// ECDSA signatures that are not the one DER form of two numbers: after Wycheproof's kinds of them.
@Suite struct SignatureFormTests {
  static let r = "0eafea039b20e9b42309fb1d89e213057cbf973dc0cfc8f129edddc800ef7719"
  static let s = "4861f0491e6998b9455193e34e7b0d284ddd7149a74b95b9261f13abde940954"
  static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

  private func verify(_ signature: String) throws(KeyPairError) -> Bool {
    try PublicKey(.p256, bytes: hex(P256Tests.point)).verify(
      hex(signature), of: Array("sample".utf8), by: .ecdsaSHA384)
  }

  @Test func `the signature itself is right`() throws {
    #expect(try verify("3044 0220\(Self.r) 0220\(Self.s)"))
  }

  @Test(arguments: [
    "", "30", "3000", "0500", "30440220",
    // Bytes after it, and a length that leaves some over or takes too many.
    "3044 0220\(r) 0220\(s) 00", "3045 0220\(r) 0220\(s) 00", "3046 0220\(r) 0220\(s) 0500",
    "3043 0220\(r) 0220\(s)", "3045 0220\(r) 0220\(s)", "3044 0220\(r) 0221\(s)",
    // Longer forms of the lengths, one without end, one of many bytes.
    "308144 0220\(r) 0220\(s)", "30820044 0220\(r) 0220\(s)", "3045 028120\(r) 0220\(s)",
    "3080 0220\(r) 0220\(s) 0000", "3084ffffffff 0220\(r) 0220\(s)", "3085ffffffffff 0220\(r) 0220\(s)",
    // Numbers with a zero too many, without bytes, of another kind.
    "3045 022100\(r) 0220\(s)", "3045 0220\(r) 022100\(s)", "3024 0200 0220\(s)", "3024 0220\(r) 0200",
    "3044 0320\(r) 0220\(s)", "3144 0220\(r) 0220\(s)", "3044 2220\(r) 0220\(s)",
    // Three numbers, one, and none.
    "3047 0220\(r) 0220\(s) 020101", "3022 0220\(r)",
    // Zero, a negative number, and one of more than 32 bytes.
    "3025 020100 0220\(s)", "3025 0220\(r) 020100", "3006 020100 020100", "3025 0201ff 0220\(s)",
    "3044 0220ff\(r.dropFirst(2)) 0220\(s)", "3045 022101\(r) 0220\(s)", "3046 022200ff\(r) 0220\(s)",
    // r and s without their DER.
    "\(r)\(s)",
  ])
  func `another form is an error, not a no`(signature: String) {
    #expect(throws: KeyPairError.malformedSignature) { try verify(signature) }
  }

  @Test(arguments: [
    "3045 022100\(order) 0220\(s)", "3045 0220\(r) 022100\(order)", "3006 020101 020101",
    "3026 022100\(order) 020101", "3025 020101 0220\(s)",
    "3044 0220\(s) 0220\(r)",
  ])
  func `numbers that do not belong to it are a no`(signature: String) throws {
    #expect(try !verify(signature))
  }
}
