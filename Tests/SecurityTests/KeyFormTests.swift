import Foundation
import Security
import Testing

/// Keys of this process: made, taken apart and put together again, and what they refuse.
@Suite struct KeyFormTests {
  @Test(arguments: [p256, ed25519]) func `a key and its copy are the same key`(type: CFString) throws {
    let privateKey = try newKey(type)
    let publicKey = try publicHalf(privateKey)
    #expect(try publicHalf(publicKey) === publicKey)
    let copy = try key(type, kSecAttrKeyClassPrivate, try bytes(privateKey))
    let publicCopy = try key(type, kSecAttrKeyClassPublic, try bytes(publicKey))
    #expect(copy == privateKey && publicCopy == publicKey && copy != publicKey)
    #expect(try Set([copy, privateKey, publicKey, publicCopy, newKey(type)]).count == 3)
    #expect(try bytes(copy) == bytes(privateKey))
    #expect(try bytes(privateKey).count == (type == p256 ? 97 : 32))
    #expect(try bytes(publicKey).count == (type == p256 ? 65 : 32))
    if type == p256 {
      #expect(try bytes(privateKey).first == 4)
      #expect(try bytes(privateKey).prefix(65) == bytes(publicKey))
    }
    #expect(SecKeyGetBlockSize(privateKey) == 32)
    let algorithm: SecKeyAlgorithm =
      type == p256 ? .ecdsaSignatureMessageX962SHA512 : .eddsaSignatureMessageCurve25519SHA512
    let message = Data("to be signed".utf8) as CFData
    let signature = try #require(SecKeyCreateSignature(copy, algorithm, message, nil))
    #expect(SecKeyVerifySignature(publicKey, algorithm, message, signature, nil))
    let other = try publicHalf(newKey(type))
    #expect(!SecKeyVerifySignature(other, algorithm, message, signature, nil))
    // Nothing secret is shown.
    #expect(privateKey.description == "private \(type == p256 ? "ec-p256" : "ed25519") key")
  }

  @Test func `attributes say what a key is`() throws {
    let privateKey = try #require(
      SecKeyCreateRandomKey(
        [kSecAttrKeyType: p256, kSecAttrLabel: "mine", kSecPrivateKeyAttrs: [kSecAttrApplicationTag: Data("t".utf8)]]
          as CFDictionary, nil))
    let own = try #require(SecKeyCopyAttributes(privateKey) as? [String: Any])
    #expect(own[kSecClass] as? String == kSecClassKey)
    #expect(own[kSecAttrKeyType] as? String == p256)
    #expect(own[kSecAttrKeyClass] as? String == kSecAttrKeyClassPrivate)
    #expect(own[kSecAttrKeySizeInBits] as? Int == 256)
    #expect(own[kSecAttrLabel] as? String == "mine")
    #expect(own[kSecAttrApplicationTag] as? Data == Data("t".utf8))
    #expect(own[kSecAttrIsPermanent] as? Bool == false)
    #expect(own[kSecAttrCanSign] as? Bool == true && own[kSecAttrCanVerify] as? Bool == false)
    #expect(own[kSecAttrTokenID] == nil && own[kSecAttrAccessGroup] == nil && own[kSecValueData] == nil)
    let theirs = try #require(SecKeyCopyAttributes(try publicHalf(privateKey)) as? [String: Any])
    #expect(theirs[kSecAttrKeyClass] as? String == kSecAttrKeyClassPublic)
    #expect(theirs[kSecAttrApplicationLabel] as? Data == own[kSecAttrApplicationLabel] as? Data)
    #expect((theirs[kSecAttrApplicationLabel] as? Data)?.count == 20)
    #expect(theirs[kSecValueData] as? Data == (try bytes(publicHalf(privateKey))))
    #expect(theirs[kSecAttrCanVerify] as? Bool == true && theirs[kSecAttrCanSign] as? Bool == false)
  }

  @Test func `bytes that are no such key are refused`() throws {
    let (pair, other) = (try newKey(), try newKey())
    let form = try bytes(pair)
    let point = Data(form.prefix(65))
    var zero = form
    zero.replaceSubrange(65..<97, with: Data(count: 32))
    let order = keyData("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    let torn = try point + Data(bytes(other).suffix(32))
    let noScalars: [Data] = [
      form.dropLast(), form + Data([0]), point, form.suffix(32), zero, point + order, torn, Data(),
    ]
    let noPoints: [Data] = [
      form, point.dropFirst(), Data([5]) + point.dropFirst(), Data([4]) + Data(repeating: 9, count: 64),
      Data([2]) + point[1..<33], Data(),
    ]
    func refused(_ type: CFString, _ half: CFString, _ wrong: [Data]) {
      for (number, data) in wrong.enumerated() {
        let made = outcome { SecKeyCreateWithData(data as CFData, keyHalf(type, half), $0) }
        #expect(made.error?.code == Int(errSecParam), "number \(number)")
        let text = made.error?.localizedDescription ?? ""
        #expect(text.hasPrefix("SecKeyCreateWithData: "))
      }
    }
    refused(p256, kSecAttrKeyClassPrivate, noScalars)
    refused(p256, kSecAttrKeyClassPublic, noPoints)
    refused(ed25519, kSecAttrKeyClassPublic, [Data(count: 32), point, Data()])
    refused(ed25519, kSecAttrKeyClassPrivate, [Data(count: 31), Data(count: 64), Data()])
  }

  @Test(
    arguments: [
      ([:], errSecParam, "kSecAttrKeyType"), ([kSecAttrKeyType: p256], errSecParam, "kSecAttrKeyClass"),
      ([kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: "0"], errSecUnimplemented, "kSecAttrKeyType"),
      ([kSecAttrKeyType: "no", kSecAttrKeyClass: "0"], errSecParam, "kSecAttrKeyType"),
      ([kSecAttrKeyType: p256, kSecAttrKeyClass: kSecAttrKeyClassSymmetric], errSecUnimplemented, "kSecAttrKeyClass"),
      ([kSecAttrKeyType: p256, kSecAttrKeyClass: "0", kSecAttrKeySizeInBits: 384], errSecUnimplemented, "256"),
      ([kSecAttrKeyType: p256, kSecAttrKeyClass: "0", kSecAttrIsPermanent: true], errSecParam, "kSecAttrIsPermanent"),
      (
        [kSecAttrKeyType: p256, kSecAttrKeyClass: "0", kSecAttrTokenID: kSecAttrTokenIDSecureEnclave],
        errSecUnimplemented, "kSecAttrTokenID"
      ),
      ([kSecAttrKeyType: p256, kSecAttrKeyClass: "0", kSecReturnData: true], errSecParam, "kSecReturn"),
      ([kSecAttrKeyType: p256, kSecAttrKeyClass: "0", kSecAttrAccessGroup: "g"], errSecParam, "kSecAttrAccessGroup"),
      ([kSecAttrKeyType: p256, kSecAttrKeyClass: "0", "nonsense": 1], errSecParam, "nonsense"),
      ([kSecAttrKeyType: p256, kSecAttrKeyClass: "0", kSecAttrService: "s"], errSecParam, "kSecAttrService"),
      (
        [kSecAttrKeyType: p256, kSecAttrKeyClass: "0", kSecAttrApplicationLabel: Data([1])], errSecParam,
        "kSecAttrApplicationLabel"
      ),
    ] as [([String: any Sendable], OSStatus, String)])
  func `attributes of a key that cannot be are refused by name`(
    attributes: [String: any Sendable], status: OSStatus, part: String
  ) throws {
    let data = try bytes(publicHalf(newKey()))
    let made = outcome { SecKeyCreateWithData(data as CFData, attributes as CFDictionary, $0) }
    #expect(made.error?.code == Int(status))
    #expect(made.error?.localizedDescription.contains(part) == true, "\(made.error?.localizedDescription ?? "")")
  }

  @Test(
    arguments: [
      ([kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048], "kSecAttrKeyType"),
      ([kSecAttrKeyType: p256, kSecAttrKeySizeInBits: 521], "kSecAttrKeySizeInBits"),
      ([kSecAttrKeyType: p256, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave], "kSecAttrIsPermanent"),
      (
        [
          kSecAttrKeyType: p256, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
          kSecPublicKeyAttrs: [kSecAttrIsPermanent: true],
        ], "kSecAttrIsPermanent"
      ),
    ] as [([String: any Sendable], String)])
  func `pairs that are not made are refused by name`(parameters: [String: any Sendable], part: String) {
    let made = outcome { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }
    #expect(made.error?.code == Int(errSecUnimplemented))
    #expect(made.error?.localizedDescription.contains(part) == true, "\(made.error?.localizedDescription ?? "")")
  }

  @Test func `a key does what its kind and half can, and says so before`() throws {
    let (ec, ed) = (try newKey(), try newKey(ed25519))
    let ecdsa = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA384
    let eddsa = SecKeyAlgorithm.eddsaSignatureMessageCurve25519SHA512
    let ecdh = SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA384
    let all = SecKeyOperationType.allCases
    func can(_ key: SecKey, _ algorithm: SecKeyAlgorithm) -> [SecKeyOperationType] {
      all.filter { SecKeyIsAlgorithmSupported(key, $0, algorithm) }
    }
    #expect(can(ec, ecdsa) == [.sign] && can(ec, eddsa).isEmpty && can(ec, ecdh) == [.keyExchange])
    #expect(can(ed, ecdsa).isEmpty && can(ed, eddsa) == [.sign] && can(ed, ecdh).isEmpty)
    #expect(try can(publicHalf(ec), ecdsa) == [.verify] && can(publicHalf(ec), ecdh).isEmpty)
    #expect(try can(publicHalf(ed), eddsa) == [.verify])
    for none: SecKeyAlgorithm in [
      .rsaSignatureMessagePKCS1v15SHA256, .rsaEncryptionOAEPSHA256, .eciesEncryptionCofactorX963SHA256AESGCM,
      .eciesEncryptionStandardVariableIVX963SHA256AESGCM, .ecdsaSignatureMessageX962SHA1, .ecdsaSignatureDigestX962,
      SecKeyAlgorithm(rawValue: "algid:none"),
    ] {
      #expect(try can(ec, none).isEmpty && can(publicHalf(ec), none).isEmpty)
      let made = outcome { SecKeyCreateSignature(ec, none, Data() as CFData, $0) }
      #expect(made.error?.code == Int(errSecUnimplemented))
      #expect(made.error?.localizedDescription.contains(none.rawValue) == true)
    }
    for (key, algorithm, count) in [
      (ec, eddsa, 1), (ed, ecdsa, 48), (try publicHalf(ec), ecdsa, 48), (ec, ecdh, 48), (ec, ecdsa, 47), (ec, ecdsa, 0),
    ] {
      let data = Data(count: count) as CFData
      let made = outcome { SecKeyCreateSignature(key, algorithm, data, $0) }
      #expect(made.error?.code == Int(errSecParam), "\(key) \(algorithm.rawValue) \(count)")
    }
    var error: Unmanaged<CFError>?
    #expect(!SecKeyVerifySignature(ec, ecdsa, Data(count: 48) as CFData, Data() as CFData, &error))
    #expect(error?.takeRetainedValue().code == Int(errSecParam))
    #expect(!SecKeyVerifySignature(try publicHalf(ec), ecdsa, Data(count: 48) as CFData, Data() as CFData, &error))
    #expect(error?.takeRetainedValue().code == Int(errSecVerifyFailed))
  }

  @Test func `the names of algorithms are Apple's`() {
    #expect(SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256.rawValue == "algid:sign:ECDSA:message-X962:SHA256")
    #expect(SecKeyAlgorithm.ecdhKeyExchangeCofactor.rawValue == "algid:keyexchange:ECDHC")
    #expect(SecKeyAlgorithm.rsaSignatureDigestPSSSHA384.rawValue == "algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
    #expect(SecKeyOperationType.keyExchange.rawValue == 4)
  }

  @Test func `many threads use one key at once`() async throws {
    let (mine, theirs) = (try newKey(), try newKey())
    let publicKey = try publicHalf(mine)
    let peer = try publicHalf(theirs)
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<16 {
        group.addTask {
          let message = Data("message \(number)".utf8) as CFData
          guard let signature = SecKeyCreateSignature(mine, .ecdsaSignatureMessageX962SHA256, message, nil),
            let one = SecKeyCopyKeyExchangeResult(mine, .ecdhKeyExchangeStandard, peer, [:] as CFDictionary, nil),
            let other = SecKeyCopyKeyExchangeResult(
              theirs, .ecdhKeyExchangeStandard, publicKey, [:] as CFDictionary, nil)
          else { return false }
          return one == other
            && SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil)
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
