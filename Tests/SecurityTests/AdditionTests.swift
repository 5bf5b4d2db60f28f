import Testing
import WhorlClient

@testable import Security

@Suite struct AdditionTests {
  @Test func `a generic password with everything`() throws {
    let context = SampleContext()
    let item = try addition(
      kSecClassGenericPassword,
      [
        kSecAttrService: "mail", kSecAttrAccount: "ada", kSecAttrAccessGroup: "team", kSecAttrLabel: "Mail",
        kSecAttrDescription: "token", kSecAttrComment: "note", kSecAttrCreator: UInt32.max, kSecAttrType: 0,
        kSecAttrGeneric: Data([0, 1, 255]), kSecAttrIsInvisible: true, kSecAttrIsNegative: NSNumber(value: 0),
        kSecAttrSynchronizable: true, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
        kSecValueData: Data("secret".utf8), kSecReturnAttributes: true, kSecReturnPersistentRef: true,
        kSecUseAuthenticationContext: context, kSecUseNoAuthenticationUI: true, kSecUseDataProtectionKeychain: true,
      ])
    var wanted = WhorlAttributes(itemClass: "generic-password", service: "mail", account: "ada", label: "Mail")
    wanted.accessGroup = "team"
    wanted.itemDescription = "token"
    wanted.comment = "note"
    wanted.creator = .max
    wanted.type = 0
    wanted.generic = [0, 1, 255]
    wanted.isInvisible = true
    wanted.isNegative = false
    wanted.isSynchronizable = true
    #expect(item.attributes == wanted)
    #expect(item.accessControl == WhorlAccessControl(protection: .afterFirstUnlock))
    #expect(item.secret == Data("secret".utf8) && item.reference == nil)
    #expect(item.returns == ItemReturns(attributes: true, persistentReference: true))
    #expect(
      item.prompting.context === context && item.prompting.interface == .fail && item.prompting.forbidsInteraction)
  }

  @Test func `an internet password's codes are numbers for the enclave`() throws {
    let item = try addition(
      kSecClassInternetPassword,
      [
        kSecAttrServer: "example.org", kSecAttrPort: 65535, kSecAttrProtocol: kSecAttrProtocolHTTPS,
        kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTTPBasic, kSecAttrPath: "/a",
        kSecAttrSecurityDomain: "r",
        kSecAttrAccount: "ada",
      ])
    #expect(item.attributes.protocolType == 0x6874_7073)
    #expect(item.attributes.authenticationType == 0x6874_7470)
    #expect(item.attributes.port == 65535 && item.attributes.server == "example.org" && item.attributes.path == "/a")
    #expect(item.attributes.securityDomain == "r" && item.attributes.account == "ada")
    #expect(
      try addition(kSecClassInternetPassword, [kSecAttrProtocol: 0x6674_7020]).attributes.protocolType == 0x6674_7020)
    for wrong in ["ftp", "https", "htt\u{1}", "hüt", "", true] as [any Sendable] {
      let error = refusal { () throws(ItemRequestError) in
        try addition(kSecClassInternetPassword, [kSecAttrProtocol: wrong])
      }
      #expect(error?.message == "SecItemAdd: kSecAttrProtocol must be a four-character code")
    }
  }

  @Test func `what is not said has defaults`() throws {
    let item = try addition(kSecClassGenericPassword)
    #expect(
      item.attributes
        == {
          var attributes = WhorlAttributes(itemClass: "generic-password")
          attributes.accessGroup = "own"
          return attributes
        }())
    #expect(item.secret == Data())
    #expect(item.accessControl == WhorlAccessControl(protection: .whenUnlocked))
    #expect(item.returns.isNothing && item.prompting.interface == .allow && item.prompting.context == nil)
    #expect(try addition(kSecClassGenericPassword, [kSecAttrAccessGroup: ""]).attributes.accessGroup == "")
  }

  @Test func `an access control is taken whole, and not beside a protection`() throws {
    let control = sampleControl([.biometryAny, .devicePasscode, .or])
    #expect(
      try addition(kSecClassGenericPassword, [kSecAttrAccessControl: control]).accessControl == control.control)
    let both = refusal { () throws(ItemRequestError) in
      try addition(
        kSecClassGenericPassword, [kSecAttrAccessControl: control, kSecAttrAccessible: kSecAttrAccessibleAlways])
    }
    #expect(
      both?.status == errSecParam && both?.message.contains("kSecAttrAccessControl and kSecAttrAccessible") == true)
  }

  /// Apple's documentation rules the two out together; its systems take them, and so do tests of keychain wrappers.
  @Test func `an item of this device only can be synchronizable, since nothing is synchronized`() throws {
    let item = try addition(
      kSecClassGenericPassword,
      [kSecAttrSynchronizable: true, kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly])
    #expect(item.attributes.isSynchronizable == true && item.accessControl.protection == .whenUnlocked.thisDeviceOnly)
  }

  @Test func `an item is synchronizable or not, and never either`() {
    let error = refusal { () throws(ItemRequestError) in
      try addition(kSecClassGenericPassword, [kSecAttrSynchronizable: kSecAttrSynchronizableAny])
    }
    #expect(error?.message == "SecItemAdd: kSecAttrSynchronizable must be true or false for an item of its own")
  }

  @Test(arguments: ["", "é", "e\u{301}", "日本語", "👩‍👩‍👧‍👦", "a\n\t", " \u{FEFF}"])
  func `texts arrive byte for byte, as strings and as data`(text: String) throws {
    for value in [text, Data(text.utf8), text as NSString] as [Any] {
      let attributes = try addition(
        kSecClassGenericPassword, [kSecAttrService: value, kSecAttrAccount: value, kSecAttrLabel: value]
      ).attributes
      for found in [attributes.service, attributes.account, attributes.label] {
        #expect(found.map { Array($0.utf8) } == Array(text.utf8))
      }
    }
  }

  @Test(
    arguments: ["\0", "a\0b", Data([0x61, 0]), Data([0xFF, 0xFE]), Data([0xED, 0xA0, 0x80]), 5, ["a"]] as [any Sendable]
  )
  func `a text with NUL, and what is no text, is refused`(value: any Sendable) {
    for key in [kSecAttrService, kSecAttrAccount, kSecAttrLabel, kSecAttrComment, kSecAttrAccessGroup] {
      #expect(
        refusal { () throws(ItemRequestError) in try addition(kSecClassGenericPassword, [key: value]) }?.status
          == errSecParam)
    }
  }

  @Test(arguments: [Data(), Data([0]), Data([0, 1, 0]), Data(count: 1 << 20), Data([0xFF, 0xFE])])
  func `secrets are bytes of any kind and number`(secret: Data) throws {
    #expect(try addition(kSecClassGenericPassword, [kSecValueData: secret]).secret == secret)
    #expect(try addition(kSecClassGenericPassword, [kSecValueData: secret as NSData]).secret == secret)
  }

  @Test(arguments: ["secret", 5, NSNull()] as [any Sendable]) func `a secret is data`(secret: any Sendable) {
    let error = refusal { () throws(ItemRequestError) in
      try addition(kSecClassGenericPassword, [kSecValueData: secret])
    }
    #expect(error?.message == "SecItemAdd: kSecValueData must be data")
  }

  @Test func `numbers in range alone`() {
    for (key, value) in [
      (kSecAttrCreator, 1 << 32), (kSecAttrCreator, -1), (kSecAttrCreator, true), (kSecAttrType, 1.5),
      (kSecAttrType, "5"),
    ] as [(String, any Sendable)] {
      let error = refusal { () throws(ItemRequestError) in try addition(kSecClassGenericPassword, [key: value]) }
      #expect(error?.message.hasSuffix("must be a whole number from 0 to 4294967295") == true, "\(key) \(value)")
    }
    for value in [65536, -1] {
      #expect(
        refusal { () throws(ItemRequestError) in try addition(kSecClassInternetPassword, [kSecAttrPort: value]) }?
          .message
          == "SecItemAdd: kSecAttrPort must be a whole number from 0 to 65535")
    }
    for value in [2, -1, 0.5, "true"] as [any Sendable] {
      #expect(
        refusal { () throws(ItemRequestError) in try addition(kSecClassGenericPassword, [kSecAttrIsInvisible: value]) }?
          .status == errSecParam)
    }
  }

  @Test func `a key is given as a reference or as bytes`() throws {
    let key = SampleKey()
    let item = try addition(
      kSecClassKey,
      [
        kSecValueRef: key, kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        kSecAttrApplicationTag: "tag", kSecAttrKeySizeInBits: 256, kSecReturnRef: true,
      ])
    #expect(item.reference === key && item.secret == nil)
    #expect(item.attributes.keyType == "ec-p256" && item.attributes.keyClass == "private")
    #expect(item.attributes.applicationTag == Array("tag".utf8) && item.attributes.keySize == 256)
    // The reference says what class it is.
    #expect(try addition(nil, [kSecValueRef: key]).itemClass == .key)
    // As numbers, which is how Apple's systems give them back.
    let numbers = try addition(kSecClassKey, [kSecValueData: Data([4]), kSecAttrKeyType: 73, kSecAttrKeyClass: 0])
    #expect(numbers.attributes.keyType == "ec-p256" && numbers.attributes.keyClass == "public")
    for pairs in [[:], [kSecValueRef: key, kSecValueData: Data()], [kSecValueRef: "key"]] as [Pairs] {
      #expect(refusal { () throws(ItemRequestError) in try addition(kSecClassKey, pairs) }?.status == errSecParam)
    }
    let password = refusal { () throws(ItemRequestError) in try addition(kSecClassGenericPassword, [kSecValueRef: key])
    }
    #expect(password?.message == "SecItemAdd: kSecValueRef has no meaning for a generic password in SecItemAdd")
    for type in [kSecAttrKeyTypeRSA, kSecAttrKeyTypeAES] {
      let pairs: Pairs = [kSecValueRef: key, kSecAttrKeyType: type]
      #expect(
        refusal { () throws(ItemRequestError) in try addition(kSecClassKey, pairs) }?.status == errSecUnimplemented)
    }
  }

  @Test func `the program's own group has a name, whatever the program is`() {
    #expect(!AccessGroup.own.isEmpty)
    #expect(AccessGroup.choose(identifier: "org.example.app", executable: "/usr/bin/tool") == "org.example.app")
    #expect(AccessGroup.choose(identifier: nil, executable: "/usr/bin/tool") == "tool")
    #expect(AccessGroup.choose(identifier: "", executable: "/usr/bin/tool") == "tool")
    #expect(AccessGroup.choose(identifier: nil, executable: nil) == "unnamed")
    #expect(AccessGroup.choose(identifier: "a\0b", executable: "/") == "/")
  }
}
