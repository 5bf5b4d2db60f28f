import Foundation
import Security
import Testing

/// Keys against what standards print.
@Suite struct KeyVectorTests {
  // RFC 6979, A.2.5.
  private static let scalar = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"
  private static let point = """
    04 60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6
       7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299
    """

  /// Over "sample": r and s.
  private static let signatures: [(SecKeyAlgorithm, String, String)] = [
    (
      .ecdsaSignatureMessageX962SHA256, "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
      "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    ),
    (
      .ecdsaSignatureMessageX962SHA384, "0EAFEA039B20E9B42309FB1D89E213057CBF973DC0CFC8F129EDDDC800EF7719",
      "4861F0491E6998B9455193E34E7B0D284DDD7149A74B95B9261F13ABDE940954"
    ),
    (
      .ecdsaSignatureMessageX962SHA512, "8496A60B5E9B47C825488827E0495B0E3FA109EC4568FD3F8D1097678EB97F00",
      "2362AB1ADBE2B8ADF9CB9EDAB740EA6049C028114F2460F96554F61FAE3302FE"
    ),
  ]

  /// The DER of a signature; a number whose first bit is set has a zero before it.
  private func der(_ r: String, _ s: String) -> Data {
    let numbers = [r, s].map { text in
      let value = keyData(text)
      let number = (value.first ?? 0) < 128 ? value : [0] + value
      return Data([2, UInt8(number.count)]) + number
    }
    return Data([0x30, UInt8(numbers[0].count + numbers[1].count)]) + numbers[0] + numbers[1]
  }

  @Test(arguments: signatures)
  func `the signatures of RFC 6979 are right, and no others`(algorithm: SecKeyAlgorithm, r: String, s: String) throws {
    let publicKey = try key(p256, kSecAttrKeyClassPublic, keyData(Self.point))
    let privateKey = try key(p256, kSecAttrKeyClassPrivate, keyData(Self.point + Self.scalar))
    #expect(SecKeyCopyPublicKey(privateKey) == publicKey)
    let (message, signature) = (Data("sample".utf8) as CFData, der(r, s) as CFData)
    #expect(SecKeyVerifySignature(publicKey, algorithm, message, signature, nil))
    var error: Unmanaged<CFError>?
    #expect(!SecKeyVerifySignature(publicKey, algorithm, Data("Sample".utf8) as CFData, signature, &error))
    #expect(error?.takeRetainedValue().code == Int(errSecVerifyFailed))
    #expect(!SecKeyVerifySignature(publicKey, algorithm, message, der(s, r) as CFData, nil))
    let own = try #require(outcome { SecKeyCreateSignature(privateKey, algorithm, message, $0) }.value)
    #expect(SecKeyVerifySignature(publicKey, algorithm, message, own, nil))
  }

  @Test(arguments: [
    // RFC 8032, 7.1: the first, the second and the third.
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      """
      e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe2465
      5141438e7a100b
      """
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      """
      92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb0
      0d291612bb0c00
      """
    ),
    (
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      """
      6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc0
      27beceea1ec40a
      """
    ),
  ])
  func `the signatures of RFC 8032 come out, and are right`(
    seed: String, point: String, message: String, signature: String
  ) throws {
    let algorithm = SecKeyAlgorithm.eddsaSignatureMessageCurve25519SHA512
    let privateKey = try key(ed25519, kSecAttrKeyClassPrivate, keyData(seed))
    #expect(try bytes(publicHalf(privateKey)) == keyData(point))
    let made = outcome { SecKeyCreateSignature(privateKey, algorithm, keyData(message) as CFData, $0) }.value
    #expect(made as Data? == keyData(signature))
    let publicKey = try key(ed25519, kSecAttrKeyClassPublic, keyData(point))
    #expect(
      SecKeyVerifySignature(publicKey, algorithm, keyData(message) as CFData, keyData(signature) as CFData, nil))
    var wrong = keyData(signature)
    wrong[3] ^= 4
    for bad in [wrong, wrong.dropLast(), Data()] {
      var error: Unmanaged<CFError>?
      #expect(!SecKeyVerifySignature(publicKey, algorithm, keyData(message) as CFData, bad as CFData, &error))
      #expect(error?.takeRetainedValue().code == Int(errSecVerifyFailed))
    }
  }

  // NIST's KAS_ECC_CDH_PrimitiveTest, P-256, count 0.
  private static let own = """
    04 ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b230
       28af61281fd35e2fa7002523acc85a429cb06ee6648325389f59edfce1405141
       7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534
    """
  private static let peer = """
    04 700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287
       db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac
    """
  private static let shared = "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"

  @Test(
    arguments: [
      (.ecdhKeyExchangeStandard, shared), (.ecdhKeyExchangeCofactor, shared),
      (
        .ecdhKeyExchangeStandardX963SHA256,
        "2fb5926b635eea0f35ccdd7b455ef2ba38c3cda0b2366004876a8ca68a0740892f1228bfdacef6b0"
      ),
      (
        .ecdhKeyExchangeCofactorX963SHA256,
        "2fb5926b635eea0f35ccdd7b455ef2ba38c3cda0b2366004876a8ca68a0740892f1228bfdacef6b0"
      ),
      (
        .ecdhKeyExchangeStandardX963SHA384,
        "0afb027d8393b86828d07ca4e14e19ab46bd967f72537969a3bc5b728e055c2851cbfd40576a00c67d5211dfe7aa2f7fa519c71bae4848"
      ),
      (.ecdhKeyExchangeCofactorX963SHA512, "54968e34fac20263d0e92d00039b52a3"),
    ] as [(SecKeyAlgorithm, String)])
  func `what two sides come to is NIST's, and what is derived of it the standard's`(
    algorithm: SecKeyAlgorithm, expected: String
  ) throws {
    let privateKey = try key(p256, kSecAttrKeyClassPrivate, keyData(Self.own))
    let publicKey = try key(p256, kSecAttrKeyClassPublic, keyData(Self.peer))
    var parameters: [SecKeyKeyExchangeParameter: Any] = [.requestedSize: keyData(expected).count]
    if algorithm.rawValue.contains("KDF") { parameters[.sharedInfo] = Data("both know".utf8) }
    // By the parameters themselves, and by their names.
    let named = [String: Any](uniqueKeysWithValues: parameters.map { ($0.key.rawValue, $0.value) })
    for dictionary in [parameters as CFDictionary, named as CFDictionary] {
      let made = outcome { SecKeyCopyKeyExchangeResult(privateKey, algorithm, publicKey, dictionary, $0) }
      #expect(made.value as Data? == keyData(expected), "\(made.error?.localizedDescription ?? "")")
    }
  }

  @Test func `parameters of a key exchange that cannot be are refused by name`() throws {
    let (mine, theirs) = (try newKey(), try newKey())
    let raw = SecKeyAlgorithm.ecdhKeyExchangeStandard
    let derived = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
    for (algorithm, peer, parameters, part) in [
      (raw, theirs, [:], "public"), (raw, try publicHalf(newKey(ed25519)), [:], "P-256"),
      (raw, try publicHalf(theirs), ["requestedSize": 16], "32 bytes"),
      (raw, try publicHalf(theirs), ["sharedInfo": Data()], "shared info"),
      (raw, try publicHalf(theirs), ["size": 32], "\"size\""),
      (derived, try publicHalf(theirs), [:], "requestedSize is missing"),
      (derived, try publicHalf(theirs), ["requestedSize": 0], "requestedSize"),
      (derived, try publicHalf(theirs), ["requestedSize": -1], "requestedSize"),
      (derived, try publicHalf(theirs), ["requestedSize": 1 << 40], "requestedSize"),
      (derived, try publicHalf(theirs), ["requestedSize": true], "requestedSize"),
      (derived, try publicHalf(theirs), ["requestedSize": 16, "sharedInfo": 5], "sharedInfo"),
    ] as [(SecKeyAlgorithm, SecKey, [String: Any], String)] {
      let made = outcome { SecKeyCopyKeyExchangeResult(mine, algorithm, peer, parameters as CFDictionary, $0) }
      #expect(made.error?.code == Int(errSecParam))
      #expect(made.error?.localizedDescription.contains(part) == true, "\(made.error?.localizedDescription ?? "")")
    }
    let wrong = outcome {
      SecKeyCopyKeyExchangeResult(mine, .ecdsaSignatureMessageX962SHA256, theirs, [:] as CFDictionary, $0)
    }
    #expect(wrong.error?.code == Int(errSecParam))
  }
}
