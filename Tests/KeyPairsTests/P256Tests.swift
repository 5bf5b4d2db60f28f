import KeyPairs
import SecretMemory
import Testing

@Suite struct P256Tests {
  static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
  /// The generator of the group, uncompressed.
  static let generator = """
    046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296
    4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5
    """
  /// RFC 6979, A.2.5.
  static let scalar = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
  static let point = """
    0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6
    7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299
    """

  struct Signature: Sendable {
    let algorithm: SignatureAlgorithm
    let message, der: String
  }

  /// RFC 6979, A.2.5, r and s in DER.
  static let signatures = [
    Signature(
      algorithm: .ecdsaSHA256, message: "sample",
      der: """
        3046 022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716
             022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8
        """),
    Signature(
      algorithm: .ecdsaSHA384, message: "sample",
      der: """
        3044 02200eafea039b20e9b42309fb1d89e213057cbf973dc0cfc8f129edddc800ef7719
             02204861f0491e6998b9455193e34e7b0d284ddd7149a74b95b9261f13abde940954
        """),
    Signature(
      algorithm: .ecdsaSHA512, message: "sample",
      der: """
        3045 0221008496a60b5e9b47c825488827e0495b0e3fa109ec4568fd3f8d1097678eb97f00
             02202362ab1adbe2b8adf9cb9edab740ea6049c028114f2460f96554f61fae3302fe
        """),
    Signature(
      algorithm: .ecdsaSHA256, message: "test",
      der: """
        3045 022100f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367
             0220019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083
        """),
  ]

  @Test func `the point of a scalar is that of RFC 6979, that of 1 the generator`() throws {
    #expect(try privateKey(.p256, Self.scalar).publicKey.bytes == hex(Self.point))
    let one = [UInt8](repeating: 0, count: 31) + [1]
    #expect(try PrivateKey(.p256, bytes: try secret(one)).publicKey.bytes == hex(Self.generator))
    // The largest scalar leads to the generator mirrored: the same X.
    var last = hex(Self.order)
    last[31] -= 1
    let mirrored = try PrivateKey(.p256, bytes: try secret(last)).publicKey.bytes
    #expect(mirrored[...32] == hex(Self.generator)[...32])
    #expect(mirrored != hex(Self.generator))
  }

  @Test(arguments: signatures)
  func `the signatures of RFC 6979 are right, and no other bytes are`(signature: Signature) throws {
    let key = try PublicKey(.p256, bytes: hex(Self.point))
    let (der, message) = (hex(signature.der), Array(signature.message.utf8))
    #expect(try key.verify(der, of: message, by: signature.algorithm))
    #expect(try !key.verify(der, of: message + [0], by: signature.algorithm))
    for bit in 0..<der.count * 8 {
      // In the head it is no DER any more, in a number another one.
      let isRight = (try? key.verify(flipping(bit, of: der), of: message, by: signature.algorithm)) ?? false
      #expect(!isRight, "bit \(bit)")
    }
    for other in SignatureAlgorithm.allCases where other != signature.algorithm && other.dataBytes == nil {
      let isRight = (try? key.verify(der, of: message, by: other)) ?? false
      #expect(!isRight, "\(other)")
    }
  }

  @Test(arguments: [
    (SignatureAlgorithm.ecdsaSHA256, SignatureAlgorithm.ecdsaDigestSHA256, "sha256"),
    (.ecdsaSHA384, .ecdsaDigestSHA384, "sha384"), (.ecdsaSHA512, .ecdsaDigestSHA512, "sha512"),
  ])
  func `what is signed as a message is right as its digest, and the other way round`(
    message: SignatureAlgorithm, digest: SignatureAlgorithm, hash: String
  ) throws {
    // FIPS 180-4's own example.
    let digests = [
      "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "sha384": """
      cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed
      8086072ba1e7cc2358baeca134c825a7
      """,
      "sha512": """
      ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
      2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
      """,
    ]
    let key = try PrivateKey.generate(.p256)
    let hashed = hex(try #require(digests[hash]))
    let abc = Array("abc".utf8)
    #expect(try key.publicKey.verify(try key.sign(abc, by: message), of: hashed, by: digest))
    #expect(try key.publicKey.verify(try key.sign(hashed, by: digest), of: abc, by: message))
    #expect(digest.dataBytes == hashed.count)
    for count in [0, hashed.count - 1, hashed.count + 1] {
      let wrong = [UInt8](repeating: 1, count: count)
      let expected = KeyPairError.wrongLength("the digest", expected: hashed.count, found: count)
      do throws(KeyPairError) {
        _ = try key.sign(wrong, by: digest)
        Issue.record("signed \(count) bytes")
      } catch { #expect(error == expected) }
      let signature = try key.sign(abc, by: message)
      #expect(throws: expected) { try key.publicKey.verify(signature, of: wrong, by: digest) }
    }
  }

  @Test func `new keys differ, sign, and are there again from their bytes`() throws {
    var seen: Set<[UInt8]> = []
    for type in KeyPairType.allCases {
      for _ in 0..<20 {
        let key = try PrivateKey.generate(type)
        let algorithm = type == .p256 ? SignatureAlgorithm.ecdsaSHA256 : .ed25519
        let signature = try key.sign([1, 2, 3], by: algorithm)
        let publicKey = key.publicKey
        #expect(try publicKey.verify(signature, of: [1, 2, 3], by: algorithm))
        #expect(try PublicKey(type, bytes: publicKey.bytes) == publicKey)
        let again = try PrivateKey(type, bytes: key.takeBytes())
        #expect(again.publicKey == publicKey)
        #expect(seen.insert(publicKey.bytes).inserted)
      }
    }
  }

  @Test(arguments: [
    "0000000000000000000000000000000000000000000000000000000000000000", order,
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  ])
  func `a scalar that is zero or not below the order is no private key`(scalar: String) throws {
    #expect(try privateKeyError(.p256, hex(scalar)) == .invalidPrivateKey(.p256))
  }

  @Test(arguments: [0, 1, 31, 33, 64])
  func `a private key of another length is refused`(count: Int) throws {
    #expect(
      try privateKeyError(.p256, [UInt8](repeating: 1, count: count))
        == .wrongLength("the private key of type ec-p256", expected: 32, found: count))
  }

  @Test func `bytes that are no uncompressed point of the curve are no public key`() throws {
    let point = hex(Self.point)
    let prime = hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    var wrong = [flipping(8 * 64, of: point), flipping(8 * 1, of: point), [4] + [UInt8](repeating: 0, count: 64)]
    // A point of the curve with an X or Y of p or more, other forms' heads, and the twist's Y.
    wrong += [[4] + prime + point[33...], [4] + point[1...32] + prime]
    wrong += [0, 2, 3, 5, 6, 7, 0xff].map { [$0] + point[1...] }
    for bytes in wrong { #expect(publicKeyError(.p256, bytes) == .invalidPublicKey(.p256), "\(bytes)") }
    // Infinity, the compressed form, the bare numbers, nothing.
    let others: [[UInt8]] = [[0], [3] + point[1...32], Array(point[1...]), [], point + [0]]
    for bytes in others {
      #expect(
        publicKeyError(.p256, bytes)
          == .wrongLength("the public key of type ec-p256", expected: 65, found: bytes.count))
    }
  }

  /// RFC 5903, 8.1, and the first of NIST's vectors for ECC CDH on P-256.
  struct Agreement: Sendable {
    let scalar, peer, secret: String
  }

  @Test(arguments: [
    Agreement(
      scalar: "c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433",
      peer: """
        04d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63
        56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab
        """,
      secret: "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"),
    Agreement(
      scalar: "7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534",
      peer: """
        04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287
        db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac
        """,
      secret: "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"),
  ])
  func `shared secrets are those of the standards`(agreement: Agreement) throws {
    let peer = try PublicKey(.p256, bytes: hex(agreement.peer))
    let key = try privateKey(.p256, agreement.scalar)
    #expect(array(try key.sharedSecret(with: peer)) == hex(agreement.secret))
  }

  @Test func `two sides come to the same secret, a third one does not`() throws {
    let one = try PrivateKey.generate(.p256)
    let two = try PrivateKey.generate(.p256)
    let three = try PrivateKey.generate(.p256)
    let secret = array(try one.sharedSecret(with: two.publicKey))
    #expect(secret == array(try two.sharedSecret(with: one.publicKey)))
    #expect(secret.count == 32)
    #expect(secret != array(try three.sharedSecret(with: one.publicKey)))
  }
}
