import Bus
import Foundation
import GLibLoop
import SecretMemory
import Security
import TestKit
import Testing
import WhorlClient

/// Apple's keys over a real whorld: those of the enclave, and plain ones in the keychain.
@Suite(.timeLimit(.minutes(3))) struct SecKeyTests {
  private static let ecdsa = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
  private static let message = Data("what is signed\u{0}".utf8)

  /// A world whose user has unlocked his secrets.
  private func world() async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await Client(world).givePasscode(World.passcode)
    return world
  }

  private func tag(_ name: String) -> Data { Data("org.example.\(name)".utf8) }

  private func parameters(
    _ name: String, inEnclave: Bool = true, type: CFString = kSecAttrKeyTypeECSECPrimeRandom,
    _ half: [String: Any] = [:], _ more: [String: Any] = [:]
  ) -> CFDictionary {
    let base: [String: Any] = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag(name)]
    var all: [String: Any] = [
      kSecAttrKeyType: type, kSecAttrKeySizeInBits: 256, kSecPrivateKeyAttrs: base.merging(half) { $1 },
    ]
    if inEnclave { all[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave }
    return all.merging(more) { $1 } as CFDictionary
  }

  private func query(_ name: String, _ more: [String: Any] = [:]) -> CFDictionary {
    let base: [String: Any] = [
      kSecClass: kSecClassKey, kSecAttrApplicationTag: tag(name), kSecAttrKeyClass: kSecAttrKeyClassPrivate,
    ]
    return base.merging(more) { $1 } as CFDictionary
  }

  private func make(_ parameters: CFDictionary) throws -> SecKey {
    var error: Unmanaged<CFError>?
    let made = SecKeyCreateRandomKey(parameters, &error)
    return try #require(made, "\(error?.takeRetainedValue().localizedDescription ?? "")")
  }

  private func find(_ query: CFDictionary) throws -> SecKey {
    var found: AnyObject?
    #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
    return try #require(found as? SecKey)
  }

  private func sign(_ key: SecKey) -> (signature: Data?, status: OSStatus) {
    var error: Unmanaged<CFError>?
    let signature = SecKeyCreateSignature(key, Self.ecdsa, Self.message as CFData, &error)
    return (signature as Data?, OSStatus(error?.takeRetainedValue().code ?? 0))
  }

  private func verifies(_ key: SecKey, _ signature: Data?) throws -> Bool {
    let publicKey = try #require(SecKeyCopyPublicKey(key))
    return SecKeyVerifySignature(
      publicKey, Self.ecdsa, Self.message as CFData, try #require(signature) as CFData, nil)
  }

  private func guardedBy(_ flags: SecAccessControlCreateFlags) throws -> [String: Any] {
    let control = SecAccessControlCreateWithFlags(
      nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags.union(.privateKeyUsage), nil)
    return [kSecAttrAccessControl: try #require(control)]
  }

  @Test func `A key of the enclave signs and agrees, and its private half stays there`() async throws {
    let world = try await world()
    let made = try await world.keychain {
      let key = try make(parameters("shop"))
      #expect(try verifies(key, sign(key).signature))
      // Both sides of an agreement come to the same.
      let mine = try make(parameters("other", inEnclave: false, [kSecAttrIsPermanent: false]))
      let parameters = [SecKeyKeyExchangeParameter.requestedSize: 16] as CFDictionary
      for algorithm: SecKeyAlgorithm in [.ecdhKeyExchangeStandardX963SHA256, .ecdhKeyExchangeCofactorX963SHA512] {
        let (ours, theirs) = (try #require(SecKeyCopyPublicKey(key)), try #require(SecKeyCopyPublicKey(mine)))
        let one = SecKeyCopyKeyExchangeResult(key, algorithm, theirs, parameters, nil)
        #expect(one?.length == 16 && one == SecKeyCopyKeyExchangeResult(mine, algorithm, ours, parameters, nil))
      }
      // Nothing brings it out.
      var error: Unmanaged<CFError>?
      #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
      let text = error?.takeRetainedValue()
      #expect(text?.code == Int(errSecUnimplemented))
      #expect(text?.localizedDescription.contains("never leaves") == true)
      var found: AnyObject?
      #expect(SecItemCopyMatching(query("shop", [kSecReturnData: true]), &found) == errSecUnimplemented)
      #expect(found == nil)
      let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
      #expect(attributes[kSecAttrTokenID] as? String == kSecAttrTokenIDSecureEnclave)
      #expect(attributes[kSecAttrIsPermanent] as? Bool == true && attributes[kSecValueData] == nil)
      #expect(attributes[kSecAttrApplicationTag] as? Data == tag("shop"))
      #expect(key.description == "private ec-p256 key in the enclave")
      return key
    }
    // Another process finds it by its tag, also among those of the enclave alone.
    try await world.keychain {
      let found = try find(query("shop", [kSecReturnRef: true]))
      #expect(found == made)
      #expect(try verifies(made, sign(found).signature))
      let inEnclave: [String: Any] = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecReturnRef: true]
      #expect(try find(query("shop", inEnclave)) == made)
      #expect(SecItemCopyMatching(query("none", inEnclave), nil) == errSecItemNotFound)
      #expect(
        SecItemCopyMatching(query("shop", [kSecAttrKeyClass: kSecAttrKeyClassPublic]), nil) == errSecItemNotFound)
      #expect(SecItemDelete([kSecValueRef: found] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: found] as CFDictionary) == errSecItemNotFound)
      #expect(sign(found).status == errSecItemNotFound)
      #expect(SecItemAdd([kSecValueRef: found] as CFDictionary, nil) == errSecInvalidItemRef)
    }
  }

  @Test func `A guarded key asks once for each signature, and says what for`() async throws {
    let world = try await world()
    try await world.enroll(.leftLoop)
    let agent = try await OddAgent(world) { _ in throw BusMethodError.failed("not asked") }
    let key = try await world.keychain { () -> SecKey in
      let key = try make(parameters("pay", guardedBy(.biometryAny)))
      // Neither finding it nor its public half asks for anything.
      let silent: [String: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail, kSecReturnRef: true]
      let found = try find(query("pay", silent))
      #expect(SecKeyCopyPublicKey(found) == SecKeyCopyPublicKey(key))
      #expect(sign(found).status == errSecInteractionNotAllowed)
      return try find(query("pay", [kSecReturnRef: true, kSecUseOperationPrompt: "pay for the shoes"]))
    }
    #expect(await agent.heard.isEmpty)
    for times in 1...2 {
      async let signed = world.keychain { sign(key) }
      try await agent.hears("Show", times: times)
      #expect(await agent.details.first?["reason"]?.asString == "pay for the shoes")
      try await world.reader.press(.leftLoop)
      let (signature, status) = try await signed
      #expect(status == 0)
      #expect(try verifies(key, signature))
      try await agent.hears("Hide", times: times)
    }
    #expect(await agent.heard.count(where: { $0 == "Show" }) == 2)
    async let declined = world.keychain { sign(key) }
    try await agent.hears("Show", times: 3)
    _ = try await agent.whorld("CancelRequest", [agent.request])
    let no = try await declined
    #expect(no.signature == nil && no.status == errSecUserCanceled)
  }

  @Test func `A key of today's fingers is gone once another is enrolled`() async throws {
    let world = try await world()
    try await world.enroll(.leftLoop)
    let key = try await world.keychain { try make(parameters("bound", guardedBy(.biometryCurrentSet))) }
    try await world.enroll(.rightLoop, as: "left-index-finger")
    try await world.keychain {
      #expect(sign(key).status == errSecItemNotFound)
      #expect(SecItemCopyMatching(query("bound"), nil) == errSecItemNotFound)
      // And is not in the way of another.
      #expect(SecItemDelete(query("bound")) == errSecSuccess)
    }
  }

  @Test func `Plain keys are kept, found, exported and deleted, by class, by tag and by reference`() async throws {
    let world = try await world()
    try await world.keychain {
      for (name, type) in [("ec", kSecAttrKeyTypeECSECPrimeRandom), ("ed", kSecAttrKeyTypeEd25519)] {
        // Both halves are kept.
        let made = try make(
          parameters(
            name, inEnclave: false, type: type, [:],
            [kSecPublicKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag(name)]]))
        let form = try #require(SecKeyCopyExternalRepresentation(made, nil))
        let half: [String: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
        #expect(SecKeyCreateWithData(form, half as CFDictionary, nil) == made)
        let found = try find(query(name, [kSecReturnRef: true, kSecAttrKeyType: type]))
        #expect(found == made && found.description.hasSuffix("key in the keychain"))
        var data: AnyObject?
        #expect(SecItemCopyMatching(query(name, [kSecReturnData: true]), &data) == errSecSuccess)
        #expect(data as? Data == form as Data)
        let ofPublic: [String: Any] = [kSecAttrKeyClass: kSecAttrKeyClassPublic, kSecReturnRef: true]
        #expect(try find(query(name, ofPublic)) == SecKeyCopyPublicKey(made))
        #expect(
          SecItemCopyMatching(query(name, [kSecAttrKeyClass: kSecAttrKeyClassSymmetric]), nil) == errSecItemNotFound)
        let inEnclave: [String: Any] = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
        #expect(SecItemCopyMatching(query(name, inEnclave), nil) == errSecItemNotFound)
        let attributes = try #require(SecKeyCopyAttributes(found) as? [String: Any])
        #expect(attributes[kSecAttrKeyClass] as? String == kSecAttrKeyClassPrivate)
        #expect(attributes[kSecAttrTokenID] == nil)
        // It cannot become another key.
        let other = [kSecAttrApplicationLabel: Data([1])] as CFDictionary
        #expect(SecItemUpdate(query(name), other) == errSecParam)
        #expect(SecItemUpdate(query(name), [kSecAttrLabel: "mine"] as CFDictionary) == errSecSuccess)
        #expect(SecItemDelete([kSecClass: kSecClassKey, kSecValueRef: made] as CFDictionary) == errSecSuccess)
        #expect(SecItemCopyMatching(query(name), nil) == errSecItemNotFound)
        #expect(SecItemCopyMatching(query(name, ofPublic), nil) == errSecSuccess, "the other half stays")
      }
      #expect(SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) == errSecSuccess)
      #expect(SecItemCopyMatching([kSecClass: kSecClassKey] as CFDictionary, nil) == errSecItemNotFound)
    }
  }

  @Test func `A key of the process is added by reference or as data, and is the same one again`() async throws {
    let world = try await world()
    try await world.keychain {
      let made = try make(parameters("a", inEnclave: false, [kSecAttrIsPermanent: false]))
      var added: AnyObject?
      let byReference: [String: Any] = [
        kSecValueRef: made, kSecAttrLabel: "mine", kSecReturnRef: true, kSecReturnAttributes: true,
      ]
      #expect(SecItemAdd(byReference as CFDictionary, &added) == errSecSuccess)
      let result = try #require(added as? [String: Any])
      #expect(result[kSecValueRef] as? SecKey == made)
      #expect(result[kSecAttrLabel] as? String == "mine")
      #expect(result[kSecAttrApplicationTag] as? Data == tag("a"), "the key's own tag")
      #expect(SecItemAdd([kSecValueRef: made] as CFDictionary, nil) == errSecDuplicateItem)
      let kept = try find(query("a", [kSecReturnRef: true]))
      #expect(try verifies(made, sign(kept).signature))
      #expect(SecItemAdd([kSecValueRef: kept] as CFDictionary, nil) == errSecDuplicateItem)
      // By a reference of the process's own to what the keychain has.
      let same: [String: Any] = [kSecValueRef: made, kSecReturnAttributes: true]
      #expect(SecItemCopyMatching(same as CFDictionary, &added) == errSecSuccess)
      #expect((added as? [String: Any])?[kSecAttrLabel] as? String == "mine")

      let publicKey = try #require(SecKeyCopyPublicKey(made))
      #expect(SecItemCopyMatching([kSecValueRef: publicKey] as CFDictionary, nil) == errSecItemNotFound)
      let form = try #require(SecKeyCopyExternalRepresentation(publicKey, nil)) as Data
      var data: [String: Any] = [
        kSecClass: kSecClassKey, kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        kSecAttrApplicationTag: tag("b"), kSecValueData: form,
      ]
      #expect(SecItemAdd(data as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemCopyMatching([kSecValueRef: publicKey] as CFDictionary, nil) == errSecSuccess)
      data[kSecAttrKeyClass] = kSecAttrKeyClassPrivate
      #expect(SecItemAdd(data as CFDictionary, nil) == errSecParam, "65 bytes are no private key")
      data[kSecAttrKeyClass] = kSecAttrKeyClassSymmetric
      #expect(SecItemAdd(data as CFDictionary, nil) == errSecParam)
      data[kSecAttrKeyType] = nil
      #expect(SecItemAdd(data as CFDictionary, nil) == errSecSuccess, "a key that is none of a pair is bytes")
      let symmetric: [String: Any] = [kSecAttrKeyClass: kSecAttrKeyClassSymmetric, kSecReturnData: true]
      #expect(SecItemCopyMatching(query("b", symmetric), &added) == errSecSuccess)
      #expect(added as? Data == form)
      #expect(
        SecItemCopyMatching(query("b", symmetric.merging([kSecReturnRef: true]) { $1 }), &added)
          == errSecUnimplemented)
      #expect(SecItemDelete([kSecValueRef: publicKey] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: publicKey] as CFDictionary) == errSecItemNotFound)
      #expect(SecItemCopyMatching(query("a"), nil) == errSecSuccess)
    }
  }

  @Test func `A guarded plain key asks when it is used, and not when it is found`() async throws {
    let world = try await world()
    try await world.enroll(.leftLoop)
    let agent = try await OddAgent(world) { _ in throw BusMethodError.failed("not asked") }
    let key = try await world.keychain { () -> SecKey in
      _ = try make(parameters("plain", inEnclave: false, guardedBy(.biometryAny)))
      let silent: [String: Any] = [kSecUseNoAuthenticationUI: true, kSecReturnRef: true]
      let found = try find(query("plain", silent))
      #expect(sign(found).status == errSecInteractionNotAllowed)
      var error: Unmanaged<CFError>?
      #expect(SecKeyCopyExternalRepresentation(found, &error) == nil)
      #expect(error?.takeRetainedValue().code == Int(errSecInteractionNotAllowed))
      return try find(query("plain", [kSecReturnRef: true]))
    }
    #expect(await agent.heard.isEmpty)
    async let signed = world.keychain { sign(key) }
    try await agent.hears("Show")
    try await world.reader.press(.leftLoop)
    let (signature, status) = try await signed
    #expect(status == 0)
    #expect(try verifies(key, signature))
  }

  @Test func `openssl takes the signatures, and a message of any size is signed`() async throws {
    let world = try await world()
    let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let (form, signature) = try await world.keychain { () -> (Data, Data) in
      let key = try make(parameters("large"))
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      let form = try #require(SecKeyCopyExternalRepresentation(publicKey, nil)) as Data
      return (form, try #require(SecKeyCreateSignature(key, Self.ecdsa, large as CFData, nil)) as Data)
    }
    // SubjectPublicKeyInfo of a point of P-256.
    let head: [UInt8] = [
      0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
      0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    let pem = "-----BEGIN PUBLIC KEY-----\n\((Data(head) + form).base64EncodedString())\n-----END PUBLIC KEY-----\n"
    try world.folder.write(pem, to: "key.pem")
    try Bytes.write(Array(signature), to: world.folder("signature"))
    try Bytes.write(Array(large), to: world.folder("message"))
    let arguments = [
      "dgst", "-sha256", "-verify", world.folder("key.pem"), "-signature", world.folder("signature"),
      world.folder("message"),
    ]
    let checked = try await RunningProgram.run("/usr/bin/openssl", arguments)
    #expect(checked.status == 0, "\(checked.text)\(checked.errorText)")
  }

  @Test func `A key that the command made is one of the enclave's`() async throws {
    let world = try await world()
    let made = try await world.whorl(["key", "generate", "login", "--type", "p256", "--require", "none"])
    #expect(made.status == 0, "\(made.errorText)")
    let raw = try await world.whorl(["key", "public", "login", "--raw"])
    try await world.keychain {
      let ofCommand: [String: Any] = [
        kSecAttrApplicationTag: Data("whorl:login".utf8), kSecAttrAccessGroup: "", kSecReturnRef: true,
        kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
      ]
      let key = try find(query("", ofCommand))
      #expect(try verifies(key, sign(key).signature))
      let form = SecKeyCopyExternalRepresentation(try #require(SecKeyCopyPublicKey(key)), nil)
      #expect(form.map { Array($0 as Data) } == raw.output)
      // A plain key of the same tag is none of the command's.
      _ = try make(
        parameters("", inEnclave: false, [kSecAttrApplicationTag: Data("whorl:plain".utf8), kSecAttrAccessGroup: ""]))
    }
    #expect(try await world.whorl(["key", "list"]).text == "login\tp256\tnone\n")
  }

  @Test func `What is kept in the place of a key and is not it does not sign`() async throws {
    let world = try await world()
    try await world.keychain {
      let (one, other) = (
        try make(parameters("one", inEnclave: false)), try make(parameters("other", inEnclave: false))
      )
      var attributes = WhorlAttributes(itemClass: "key")
      attributes.keyClass = "symmetric"
      attributes.keyType = "ec-p256"
      attributes.accessGroup = "torn"
      let publicKey = try #require(SecKeyCopyPublicKey(one))
      attributes.generic = try Array(#require(SecKeyCopyExternalRepresentation(publicKey, nil)) as Data)
      for (name, form) in [
        ("another", try #require(SecKeyCopyExternalRepresentation(other, nil)) as Data), ("short", Data([4, 1])),
        ("none", Data()),
      ] {
        attributes.applicationTag = Array(tag(name))
        var secret = try SecretBytes(count: form.count)
        secret.withUnsafeMutableBytes { _ = form.copyBytes(to: $0) }
        try WhorlEnclave.transport.add(attributes, accessControl: WhorlAccessControl(), context: nil, secret: secret)
        let torn = try find(query(name, [kSecAttrAccessGroup: "torn", kSecReturnRef: true]))
        #expect(torn == one)
        #expect(sign(torn).status == errSecDecode)
        var error: Unmanaged<CFError>?
        #expect(SecKeyCopyExternalRepresentation(torn, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(errSecDecode))
      }
      attributes.generic = [1, 2]
      attributes.applicationTag = Array(tag("public"))
      let empty = try SecretBytes(count: 0)
      try WhorlEnclave.transport.add(attributes, accessControl: WhorlAccessControl(), context: nil, secret: empty)
      var found: AnyObject?
      let damaged = query("public", [kSecAttrAccessGroup: "torn", kSecReturnRef: true])
      #expect(SecItemCopyMatching(damaged, &found) == errSecDecode)
    }
  }

  @Test func `Sixteen tasks sign with one key at once`() async throws {
    let world = try await world()
    let transport = BlockingBusTransport(address: world.bus.address)
    let keys = try await world.keychain {
      [try make(parameters("enclave")), try make(parameters("plain", inEnclave: false))]
    }
    for key in keys {
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<16 {
          group.addTask {
            WhorlEnclave.$scoped.withValue(transport) {
              let message = Data("message \(number)".utf8) as CFData
              guard let signature = SecKeyCreateSignature(key, Self.ecdsa, message, nil) else { return false }
              return SecKeyVerifySignature(publicKey, Self.ecdsa, message, signature, nil)
            }
          }
        }
        for try await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test func `Without a daemon a key says so; a pair of the process needs none`() async throws {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    let always = [kSecAttrAccessible: kSecAttrAccessibleAlways]
    let key = try await world.keychain {
      // Locked: nobody has unlocked his secrets.
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateRandomKey(parameters("locked"), &error) == nil)
      #expect(error?.takeRetainedValue().code == Int(errSecInteractionNotAllowed))
      // One half that cannot be kept leaves none behind.
      let taken = try make(
        parameters("twin", always, [kSecPublicKeyAttrs: [kSecAttrIsPermanent: true]].merging(always) { $1 }))
      #expect(taken.description.hasSuffix("enclave"))
      let half = parameters("half", always, [kSecPublicKeyAttrs: [kSecAttrIsPermanent: true]])
      #expect(SecKeyCreateRandomKey(half, nil) == nil)
      #expect(SecItemCopyMatching(query("half"), nil) == errSecItemNotFound)
      return try make(parameters("always", always))
    }
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    try await world.keychain {
      #expect(sign(key).status == errSecNotAvailable)
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateRandomKey(parameters("new"), &error) == nil)
      #expect(error?.takeRetainedValue().code == Int(errSecNotAvailable))
      let own = try make(parameters("own", inEnclave: false, [kSecAttrIsPermanent: false]))
      #expect(try verifies(own, sign(own).signature))
    }
  }
}
