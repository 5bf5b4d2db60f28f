import KeyPairs
import SecretMemory
import Testing

@Suite struct Ed25519Tests {
  /// RFC 8032, 7.1: seed, public key, message, signature.
  struct Vector: Sendable {
    let seed, publicKey, message, signature: String
  }

  static let vectors = [
    Vector(
      seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
      signature: """
        e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
        5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
        """),
    Vector(
      seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
      signature: """
        92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
        085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
        """),
    Vector(
      seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
      signature: """
        6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
        18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
        """),
    // The message is the SHA-512 of "abc".
    Vector(
      seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
      publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
      message: """
        ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
        2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
        """,
      signature: """
        dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589
        09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704
        """),
  ]

  @Test(arguments: vectors)
  func `keys and signatures are those of RFC 8032`(vector: Vector) throws {
    let key = try privateKey(.ed25519, vector.seed)
    #expect(key.publicKey.bytes == hex(vector.publicKey))
    let message = hex(vector.message)
    #expect(try key.sign(message, by: .ed25519) == hex(vector.signature))
    let publicKey = try PublicKey(.ed25519, bytes: hex(vector.publicKey))
    #expect(try publicKey.verify(hex(vector.signature), of: message, by: .ed25519))
    #expect(array(key.takeBytes()) == hex(vector.seed))
  }

  @Test func `a signature with any bit changed, of another message or by another key is none`() throws {
    let key = try privateKey(.ed25519, Self.vectors[2].seed)
    let signature = try key.sign([1, 2, 3], by: .ed25519)
    for bit in 0..<signature.count * 8 {
      #expect(try !key.publicKey.verify(flipping(bit, of: signature), of: [1, 2, 3], by: .ed25519), "bit \(bit)")
    }
    #expect(try !key.publicKey.verify(signature, of: [1, 2], by: .ed25519))
    #expect(try !key.publicKey.verify(signature, of: [1, 2, 3, 0], by: .ed25519))
    let other = try PrivateKey.generate(.ed25519)
    #expect(try !other.publicKey.verify(signature, of: [1, 2, 3], by: .ed25519))
  }

  @Test func `a signature has one form: its number plus the order of the group is another`() throws {
    let vector = Self.vectors[1]
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    var signature = hex(vector.signature)
    var carry = 0
    for (index, byte) in order.enumerated() {
      let sum = Int(signature[32 + index]) + Int(byte) + carry
      signature[32 + index] = UInt8(sum & 0xff)
      carry = sum >> 8
    }
    let key = try PublicKey(.ed25519, bytes: hex(vector.publicKey))
    #expect(try !key.verify(signature, of: hex(vector.message), by: .ed25519))
  }

  @Test(arguments: [0, 1, 63, 65, 128])
  func `a signature of another length is an error`(count: Int) throws {
    let key = try PrivateKey.generate(.ed25519).publicKey
    #expect(throws: KeyPairError.wrongLength("the signature", expected: 64, found: count)) {
      try key.verify([UInt8](repeating: 0, count: count), of: [], by: .ed25519)
    }
  }

  @Test(arguments: [
    // Off the curve.
    "0200000000000000000000000000000000000000000000000000000000000000",
    // Of orders 1, 2, 4 and 8: whoever has them as a key has signed everything.
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    // Zero and one, written as p and p + 1.
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ])
  func `bytes that are no honest point are no public key`(bytes: String) {
    #expect(publicKeyError(.ed25519, hex(bytes)) == .invalidPublicKey(.ed25519))
  }

  @Test(arguments: [0, 31, 33, 64, 65])
  func `keys of another length are refused`(count: Int) throws {
    let bytes = [UInt8](repeating: 7, count: count)
    #expect(
      publicKeyError(.ed25519, bytes)
        == .wrongLength("the public key of type ed25519", expected: 32, found: count))
    #expect(
      try privateKeyError(.ed25519, bytes)
        == .wrongLength("the private key of type ed25519", expected: 32, found: count))
  }

  @Test func `such keys sign by their own algorithm alone and agree on nothing`() throws {
    let key = try PrivateKey.generate(.ed25519)
    for algorithm in SignatureAlgorithm.allCases where algorithm != .ed25519 {
      do throws(KeyPairError) {
        _ = try key.sign([UInt8](repeating: 0, count: 32), by: algorithm)
        Issue.record("signed by \(algorithm)")
      } catch { #expect(error == .unsuitable(algorithm, .ed25519)) }
      #expect(throws: KeyPairError.unsuitable(algorithm, .ed25519)) {
        try key.publicKey.verify([], of: [], by: algorithm)
      }
    }
    let curve = try PrivateKey.generate(.p256)
    for (mine, theirs) in [(true, false), (false, true), (true, true)] {
      let error: KeyPairError?
      do throws(KeyPairError) {
        let peer = theirs ? try PrivateKey.generate(.ed25519).publicKey : curve.publicKey
        _ = mine ? try key.sharedSecret(with: peer) : try curve.sharedSecret(with: peer)
        error = nil
      } catch let thrown { error = thrown }
      #expect(error == .noAgreement(.ed25519))
    }
  }
}
