import Security
import Testing
import WhorlClient

/// Items of the enclave as dictionaries, read as wrappers read them.
@Suite struct ResultTests {
  private var item: WhorlItem {
    var item = WhorlItem()
    item.attributes = WhorlAttributes(
      itemClass: "generic-password", service: "e\u{301}", account: "日本", label: "L")
    item.attributes.accessGroup = "own"
    item.attributes.itemDescription = "d"
    item.attributes.comment = ""
    item.attributes.creator = .max
    item.attributes.generic = [0, 1]
    item.attributes.isInvisible = true
    item.attributes.isNegative = false
    item.attributes.isSynchronizable = true
    item.attributes.persistentReference = [1, 2]
    item.protection = "when-unlocked"
    item.constraints = [.biometryAny, .devicePasscode, .or]
    item.created = 1_000_000
    item.modified = 2_000_000
    return item
  }

  /// As SecItemCopyMatching hands it over.
  private func handedOver(_ value: Any) -> AnyObject { value as AnyObject }

  @Test func `a generic password's attributes`() throws {
    let result: AnyObject? = handedOver(item.attributeDictionary)
    let attributes = try #require(result as? [String: Any])
    #expect(attributes[kSecClass as String] as? String == kSecClassGenericPassword as String)
    #expect((attributes[kSecAttrService] as? String).map { Array($0.utf8) } == [0x65, 0xCC, 0x81])
    #expect(attributes[kSecAttrAccount] as? String == "日本" && attributes[kSecAttrLabel] as? String == "L")
    #expect(attributes[kSecAttrAccessGroup] as? String == "own" && attributes[kSecAttrDescription] as? String == "d")
    #expect(attributes[kSecAttrComment] as? String == "" && attributes[kSecAttrCreator] as? UInt32 == .max)
    #expect(attributes[kSecAttrCreator] as? NSNumber == NSNumber(value: UInt32.max))
    #expect(attributes[kSecAttrGeneric] as? Data == Data([0, 1]) && attributes[kSecAttrType] == nil)
    for key in [kSecAttrSynchronizable, kSecAttrIsInvisible] {
      #expect(attributes[key] as? Bool == true && attributes[key] as? Int == 1 && attributes[key] as? NSNumber == 1)
    }
    #expect(attributes[kSecAttrIsNegative] as? Bool == false)
    #expect(attributes[kSecAttrAccessible] as? String == kSecAttrAccessibleWhenUnlocked)
    let control = try #require(
      SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlocked, [.biometryAny, .or, .devicePasscode], nil))
    #expect(attributes[kSecAttrAccessControl] as? SecAccessControl == control)
    #expect(attributes[kSecAttrAccessControl] as! SecAccessControl? == control)
    #expect(attributes[kSecAttrCreationDate] as? Date == Date(timeIntervalSince1970: 1_000_000))
    #expect(attributes[kSecAttrModificationDate] as? Date == Date(timeIntervalSince1970: 2_000_000))
    #expect(attributes[kSecValueData] == nil && attributes[kSecValuePersistentRef] == nil)
  }

  @Test func `what was returned finds the item again, and nothing of it is refused`() throws {
    let back = try ItemSearch(item.attributeDictionary as CFDictionary, for: .delete, group: "other")
    var wanted = item.attributes
    wanted.isSynchronizable = nil
    wanted.persistentReference = nil
    #expect(back.attributes == wanted)
    #expect(back.filter.accepts(item))
    var key = WhorlItem()
    key.attributes.itemClass = "key"
    key.attributes.keyClass = "public"
    key.attributes.keyType = "ec-p256"
    key.attributes.applicationLabel = [5]
    key.attributes.applicationTag = []
    key.attributes.keySize = 256
    key.protection = "always"
    let found = try ItemSearch(key.attributeDictionary as CFDictionary, for: .copyMatching)
    #expect(found.attributes.keyClass == "public" && found.attributes.keyType == "ec-p256")
    #expect(found.attributes.applicationTag == [] && found.filter.accepts(key) && !found.findsNothing)
  }

  @Test func `an internet password's codes are text again`() throws {
    var item = WhorlItem()
    item.attributes.itemClass = "internet-password"
    item.attributes.server = "example.org"
    item.attributes.port = 0
    item.attributes.path = ""
    item.attributes.securityDomain = "r"
    item.attributes.protocolType = 0x6874_7073
    item.attributes.authenticationType = 7
    let attributes = try #require(handedOver(item.attributeDictionary) as? [String: Any])
    #expect(attributes[kSecAttrProtocol] as? String == kSecAttrProtocolHTTPS)
    #expect(attributes[kSecAttrAuthenticationType] as? Int == 7)
    #expect(attributes[kSecAttrPort] as? Int == 0 && attributes[kSecAttrServer] as? String == "example.org")
    #expect(attributes[kSecAttrPath] as? String == "" && attributes[kSecAttrSecurityDomain] as? String == "r")
    #expect(attributes[kSecAttrAccount] as? String == "" && attributes[kSecAttrService] == nil)
    #expect(attributes[kSecAttrSynchronizable] as? Bool == false)
  }

  @Test func `names that a later enclave gives are left out`() {
    var item = WhorlItem()
    item.attributes.itemClass = "certificate"
    item.protection = "never"
    item.attributes.keyType = "x25519"
    let attributes = item.attributeDictionary
    #expect(attributes[kSecClass] == nil && attributes[kSecAttrAccessible] == nil && attributes[kSecAttrKeyType] == nil)
  }

  @Test func `one thing is returned bare, several in a dictionary`() throws {
    let secret = Data([0, 1, 2])
    let key = SampleKey()
    func result(_ returns: ItemReturns) -> Any? { returns.result(for: item, secret: secret, key: key) }
    #expect(result(ItemReturns()) == nil)
    #expect(result(ItemReturns(data: true)) as? Data == secret)
    #expect(result(ItemReturns(persistentReference: true)) as? Data == Data([1, 2]))
    #expect(result(ItemReturns(reference: true)) as? SampleKey === key)
    let attributes = try #require(result(ItemReturns(attributes: true)) as? [String: Any])
    #expect(attributes[kSecAttrAccount] as? String == "日本" && attributes[kSecValueData] == nil)
    let two = try #require(result(ItemReturns(data: true, persistentReference: true)) as? [String: Any])
    #expect(two[kSecValueData] as? Data == secret && two[kSecValuePersistentRef] as? Data == Data([1, 2]))
    #expect(two[kSecAttrAccount] == nil && two.count == 2)
    let all = ItemReturns(data: true, attributes: true, reference: true, persistentReference: true)
    let several = try #require(result(all))
    let everything = try #require(handedOver(several) as? [String: Any])
    #expect(everything[kSecValueData] as? Data == secret && everything[kSecAttrAccount] as? String == "日本")
    #expect(everything[kSecValueRef] as? SampleKey === key)
    // A password has no reference, and a secret may be out of reach.
    let bare = try #require(all.result(for: item) as? [String: Any])
    #expect(bare[kSecValueRef] == nil && bare[kSecValueData] == nil && bare[kSecValuePersistentRef] != nil)
  }
}
