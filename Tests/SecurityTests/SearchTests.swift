import Security
import Testing
import WhorlClient

@Suite struct SearchTests {
  @Test func `a search asks for what the query says, in the program's own group`() throws {
    let found = try search(kSecClassGenericPassword, [kSecAttrService: "mail", kSecReturnData: kCFBooleanTrue!])
    var wanted = WhorlAttributes(itemClass: "generic-password", service: "mail")
    wanted.accessGroup = "own"
    #expect(found.attributes == wanted)
    #expect(found.limit == 1 && found.returns == ItemReturns(data: true))
    #expect(try search(kSecClassGenericPassword, [kSecAttrAccessGroup: ""]).attributes.accessGroup == "")
    #expect(try search(kSecClassGenericPassword, [kSecAttrAccessGroup: "team"]).attributes.accessGroup == "team")
  }

  @Test func `one item is copied by default, and all are updated and deleted`() throws {
    #expect(try search(kSecClassKey).limit == 1)
    #expect(try search(kSecClassKey, for: .update).limit == nil && search(kSecClassKey, for: .delete).limit == nil)
    for operation in ItemSearch.Operation.allCases {
      for (value, limit) in [(kSecMatchLimitOne, 1), (kSecMatchLimitAll, nil), (5, 5), (NSNumber(value: 2), 2)]
        as [(any Sendable, Int?)]
      {
        #expect(try search(kSecClassKey, [kSecMatchLimit: value], for: operation).limit == limit)
      }
      for value in [0, -1, 1.5, true, "3", "m_Limit"] as [any Sendable] {
        let error = refusal { () throws(ItemRequestError) in
          try search(kSecClassKey, [kSecMatchLimit: value], for: operation)
        }
        #expect(error?.status == errSecParam && error?.message.contains("kSecMatchLimit ") == true, "\(value)")
      }
    }
  }

  /// The kinds of dictionaries that wrappers build.
  @Test func `values count the same however the dictionary was typed`() throws {
    let control = sampleControl()
    let hashable: [String: AnyHashable] = [
      kSecClass: kSecClassInternetPassword, kSecAttrPort: 443, kSecAttrIsInvisible: true, kSecAttrServer: "h",
      kSecAttrAccessControl: control, kSecMatchLimit: kSecMatchLimitAll,
    ]
    let objects: [String: AnyObject] = [
      kSecClass: kSecClassInternetPassword as AnyObject, kSecAttrPort: 443 as AnyObject,
      kSecAttrIsInvisible: kCFBooleanTrue, kSecAttrServer: "h" as NSString, kSecAttrAccessControl: control,
      kSecMatchLimit: kSecMatchLimitAll as AnyObject,
    ]
    let changed = NSMutableDictionary(dictionary: objects)
    changed[kSecAttrPort] = UInt16(443)
    for dictionary in [hashable as CFDictionary, objects as CFDictionary, changed as CFDictionary] {
      let found = try ItemSearch(dictionary, for: .copyMatching, group: "own")
      #expect(found.attributes.port == 443 && found.attributes.isInvisible == true && found.attributes.server == "h")
      #expect(found.filter.accessControl == control.control && found.limit == nil)
    }
  }

  @Test func `synchronizable items are found where they are asked for`() throws {
    var item = WhorlItem()
    var synchronizable = WhorlItem()
    synchronizable.attributes.isSynchronizable = true
    var local = WhorlItem()
    local.attributes.isSynchronizable = false
    item.attributes.service = "s"
    for (value, finds, findsSynchronizable) in [
      (nil, true, false), (false, true, false), (true, false, true), (kSecAttrSynchronizableAny, true, true),
    ] as [((any Sendable)?, Bool, Bool)] {
      var pairs: Pairs = [:]
      pairs[kSecAttrSynchronizable] = value
      let filter = try search(kSecClassGenericPassword, pairs).filter
      #expect(filter.accepts(item) == finds && filter.accepts(local) == finds)
      #expect(filter.accepts(synchronizable) == findsSynchronizable)
    }
    let error = refusal { () throws(ItemRequestError) in
      try search(kSecClassGenericPassword, [kSecAttrSynchronizable: "yes"])
    }
    #expect(error?.status == errSecParam)
  }

  @Test func `protection, access control and dates filter`() throws {
    var item = WhorlItem()
    item.protection = "when-unlocked-this-device-only"
    item.constraints = [.userPresence]
    item.created = 1000
    item.modified = 2000
    func finds(_ pairs: Pairs) throws -> Bool { try search(kSecClassGenericPassword, pairs).filter.accepts(item) }
    #expect(try finds([kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly]))
    #expect(try !finds([kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]))
    #expect(try finds([kSecAttrAccessControl: sampleControl()]))
    #expect(try !finds([kSecAttrAccessControl: sampleControl([])]))
    // What a search returned finds the item again.
    #expect(
      try finds([
        kSecAttrAccessControl: sampleControl(), kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
      ]))
    #expect(try finds([kSecAttrCreationDate: Date(timeIntervalSince1970: 1000.9)]))
    #expect(try !finds([kSecAttrCreationDate: Date(timeIntervalSince1970: 1001)]))
    #expect(try finds([kSecAttrModificationDate: Date(timeIntervalSince1970: 2000)]))
    #expect(try !finds([kSecAttrModificationDate: Date(timeIntervalSince1970: 1000)]))
    for date in [Date.distantFuture, .distantPast] { #expect(try !finds([kSecAttrCreationDate: date])) }
    let endless = Date(timeIntervalSince1970: .infinity)
    #expect(
      refusal { () throws(ItemRequestError) in
        try search(kSecClassGenericPassword, [kSecAttrCreationDate: endless])
      }?.status == errSecParam)
  }

  @Test func `a persistent reference names an item in every group, with or without a class`() throws {
    let reference = Data([1, 2, 3])
    for itemClass in [nil, kSecClassGenericPassword] {
      let found = try search(itemClass, [kSecValuePersistentRef: reference])
      #expect(found.attributes.persistentReference == [1, 2, 3] && found.attributes.accessGroup == nil)
      #expect(found.filter.isSynchronizable == nil)
    }
    #expect(try search(nil, [kSecValueRef: SampleKey()]).itemClass == .key)
    let list = try search(
      kSecClassKey, [kSecMatchItemList: [reference, Data([9])], kSecMatchLimit: kSecMatchLimitAll])
    var item = WhorlItem()
    item.attributes.persistentReference = [9]
    #expect(list.filter.accepts(item) && list.attributes.accessGroup == nil)
    item.attributes.persistentReference = [8]
    #expect(!list.filter.accepts(item))
    let wrong = refusal { () throws(ItemRequestError) in try search(kSecClassKey, [kSecMatchItemList: ["x"]]) }
    #expect(wrong?.status == errSecParam)
  }

  @Test func `texts are alike where the query says so, and byte for byte otherwise`() throws {
    var item = WhorlItem()
    item.attributes.service = "Café"
    func finds(_ service: String, _ pairs: Pairs) throws -> Bool {
      let query = try search(kSecClassGenericPassword, pairs.merging([kSecAttrService: service]) { $1 })
      #expect((query.attributes.service == nil) == (query.filter.texts != nil))
      return query.filter.accepts(item)
    }
    #expect(try finds("cAFÉ", [kSecMatchCaseInsensitive: true]))
    #expect(try !finds("cafe", [kSecMatchCaseInsensitive: true]))
    #expect(try finds("Cafe", [kSecMatchDiacriticInsensitive: true]))
    #expect(try finds("cafe", [kSecMatchDiacriticInsensitive: true, kSecMatchCaseInsensitive: true]))
    #expect(try !finds("Caf", [kSecMatchDiacriticInsensitive: true, kSecMatchCaseInsensitive: true]))
    // The enclave is asked for these bytes.
    let exact = try search(kSecClassGenericPassword, [kSecAttrService: "e\u{301}", kSecMatchCaseInsensitive: false])
    #expect(exact.attributes.service.map { Array($0.utf8) } == [0x65, 0xCC, 0x81] && exact.filter.texts == nil)
    // The group is no text for people.
    let group = try search(kSecClassGenericPassword, [kSecAttrAccessGroup: "G", kSecMatchCaseInsensitive: true])
    #expect(group.attributes.accessGroup == "G")
    // An item without an account has an empty one.
    let empty = try search(kSecClassGenericPassword, [kSecAttrAccount: "", kSecMatchCaseInsensitive: true])
    #expect(empty.filter.accepts(item))
  }

  @Test func `how the user is asked`() throws {
    func prompting(_ pairs: Pairs) throws -> ItemPrompting { try search(kSecClassGenericPassword, pairs).prompting }
    let context = SampleContext(reason: "by the context", interactionNotAllowed: true)
    #expect(try prompting([:]).promptReason == "" && !prompting([:]).forbidsInteraction)
    #expect(try prompting([kSecUseOperationPrompt: "why"]).promptReason == "why")
    #expect(try prompting([kSecUseAuthenticationContext: context]).promptReason == "by the context")
    #expect(try prompting([kSecUseAuthenticationContext: context]).forbidsInteraction)
    #expect(
      try prompting([kSecUseAuthenticationContext: context, kSecUseOperationPrompt: "why"]).promptReason == "why")
    for (value, interface) in [
      (kSecUseAuthenticationUIAllow, .allow), (kSecUseAuthenticationUIFail, .fail),
      (kSecUseAuthenticationUISkip, .skip),
    ] as [(String, ItemPrompting.Interface)] {
      #expect(try prompting([kSecUseAuthenticationUI: value]).interface == interface)
      #expect(try prompting([kSecUseAuthenticationUI: value]).forbidsInteraction == (interface != .allow))
    }
    #expect(try prompting([kSecUseNoAuthenticationUI: true]).interface == .fail)
    #expect(try prompting([kSecUseNoAuthenticationUI: false]).interface == .allow)
    let skip: Pairs = [kSecUseNoAuthenticationUI: true, kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
    #expect(try prompting(skip).interface == .skip)
    let contrary: Pairs = [kSecUseNoAuthenticationUI: true, kSecUseAuthenticationUI: kSecUseAuthenticationUIAllow]
    #expect(refusal { () throws(ItemRequestError) in try search(kSecClassKey, contrary) }?.status == errSecParam)
    let noContext = refusal { () throws(ItemRequestError) in
      try search(kSecClassKey, [kSecUseAuthenticationContext: NSObject()])
    }
    #expect(noContext?.message == "SecItemCopyMatching: kSecUseAuthenticationContext must be an LAContext")
  }

  @Test func `an update and a deletion return nothing`() throws {
    for operation in [ItemSearch.Operation.update, .delete] {
      #expect(try search(kSecClassKey, [kSecReturnData: false], for: operation).returns.isNothing)
      let error = refusal { () throws(ItemRequestError) in
        try search(kSecClassGenericPassword, [kSecReturnData: true], for: operation)
      }
      #expect(error?.status == errSecParam && error?.message.hasPrefix(operation.rawValue) == true)
    }
  }

  /// The delete before an add, with one dictionary for both, as much code has it.
  @Test func `a deletion takes no notice of the secret, and searches refuse it`() throws {
    let pairs: Pairs = [kSecAttrAccount: "ada", kSecValueData: Data("secret".utf8)]
    #expect(try search(kSecClassGenericPassword, pairs, for: .delete).attributes.account == "ada")
    for operation in [ItemSearch.Operation.copyMatching, .update] {
      let error = refusal { () throws(ItemRequestError) in
        try search(kSecClassGenericPassword, pairs, for: operation)
      }
      #expect(error?.message.contains("kSecValueData has no meaning") == true)
      #expect(error?.message.contains("secret") == false)
    }
  }

  @Test func `a reference alone is for keys`() throws {
    let all: Pairs = [
      kSecReturnRef: true, kSecReturnData: true, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
    ]
    for itemClass in passwordClasses {
      #expect(try search(itemClass, all).returns.reference)
      let error = refusal { () throws(ItemRequestError) in try search(itemClass, [kSecReturnRef: true]) }
      #expect(error?.message.contains("kSecReturnRef") == true)
    }
  }

  @Test func `keys that cannot be here are not found`() throws {
    for pairs in [[kSecAttrKeyType: kSecAttrKeyTypeRSA], [kSecAttrIsPermanent: false]] as [Pairs] {
      #expect(try search(kSecClassKey, pairs).findsNothing)
    }
    let found = try search(
      kSecClassKey, [kSecAttrKeyType: kSecAttrKeyTypeEd25519, kSecAttrTokenID: "com.apple.setoken"])
    #expect(!found.findsNothing && found.isInEnclave == true && found.attributes.keyType == "ed25519")
  }
}
