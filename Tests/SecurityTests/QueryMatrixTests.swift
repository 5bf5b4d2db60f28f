import Security
import Testing
import WhorlClient

/// Every key in every class and call: what is taken, and that all else is refused by name.
@Suite struct QueryMatrixTests {
  enum Call: CaseIterable { case add, copy, update, delete, change }

  struct Rule: Sendable {
    let key: String
    let name: String
    let value: any Sendable
    let classes: [String]
    let calls: [Call]

    init(
      _ name: String, _ key: String, _ value: any Sendable, _ classes: [String],
      _ calls: [Call] = [.add, .copy, .update, .delete, .change]
    ) {
      (self.key, self.name, self.value, self.classes, self.calls) = (key, name, value, classes, calls)
    }
  }

  static let kept = [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassKey]
  static let searches: [Call] = [.copy, .update, .delete]
  static let queries: [Call] = [.add, .copy, .update, .delete]
  static let rules: [Rule] = {
    let inet = [kSecClassInternetPassword]
    let genp = [kSecClassGenericPassword]
    let key = [kSecClassKey]
    return [
      Rule("kSecAttrAccessControl", kSecAttrAccessControl, sampleControl(), kept),
      Rule("kSecAttrAccessible", kSecAttrAccessible, kSecAttrAccessibleAlways, kept),
      Rule("kSecAttrAccessGroup", kSecAttrAccessGroup, "g", kept),
      Rule("kSecAttrLabel", kSecAttrLabel, "l", kept),
      Rule("kSecAttrSynchronizable", kSecAttrSynchronizable, true, kept),
      Rule("kSecAttrCreationDate", kSecAttrCreationDate, Date(timeIntervalSince1970: 5), kept, searches),
      Rule("kSecAttrModificationDate", kSecAttrModificationDate, Date(timeIntervalSince1970: 5), kept, searches),
      Rule("kSecAttrAccount", kSecAttrAccount, "a", passwordClasses),
      Rule("kSecAttrComment", kSecAttrComment, "c", passwordClasses),
      Rule("kSecAttrDescription", kSecAttrDescription, "d", passwordClasses),
      Rule("kSecAttrCreator", kSecAttrCreator, 5, passwordClasses),
      Rule("kSecAttrIsInvisible", kSecAttrIsInvisible, true, passwordClasses),
      Rule("kSecAttrIsNegative", kSecAttrIsNegative, false, passwordClasses),
      Rule("kSecAttrService", kSecAttrService, "s", genp),
      Rule("kSecAttrGeneric", kSecAttrGeneric, Data([1, 0]), genp),
      Rule("kSecAttrServer", kSecAttrServer, "h", inet),
      Rule("kSecAttrPort", kSecAttrPort, 443, inet),
      Rule("kSecAttrProtocol", kSecAttrProtocol, kSecAttrProtocolHTTPS, inet),
      Rule("kSecAttrPath", kSecAttrPath, "/", inet),
      Rule("kSecAttrAuthenticationType", kSecAttrAuthenticationType, kSecAttrAuthenticationTypeDefault, inet),
      Rule("kSecAttrSecurityDomain", kSecAttrSecurityDomain, "r", inet),
      Rule("kSecAttrKeyClass", kSecAttrKeyClass, kSecAttrKeyClassPrivate, key, queries),
      Rule("kSecAttrKeySizeInBits", kSecAttrKeySizeInBits, 256, key, queries),
      Rule("kSecAttrEffectiveKeySize", kSecAttrEffectiveKeySize, 256, key, queries),
      Rule("kSecAttrApplicationLabel", kSecAttrApplicationLabel, Data([1]), key),
      Rule("kSecAttrApplicationTag", kSecAttrApplicationTag, Data([1]), key),
      Rule("kSecAttrIsPermanent", kSecAttrIsPermanent, true, key, queries),
      Rule("kSecAttrTokenID", kSecAttrTokenID, kSecAttrTokenIDSecureEnclave, key, searches),
      Rule("kSecMatchLimit", kSecMatchLimit, kSecMatchLimitAll, kept, searches),
      Rule("kSecMatchItemList", kSecMatchItemList, [Data([1])], kept, searches),
      Rule("kSecMatchCaseInsensitive", kSecMatchCaseInsensitive, true, kept, searches),
      Rule("kSecMatchDiacriticInsensitive", kSecMatchDiacriticInsensitive, true, kept, searches),
      Rule("kSecMatchWidthInsensitive", kSecMatchWidthInsensitive, true, kept, searches),
      Rule("kSecReturnData", kSecReturnData, true, kept, [.add, .copy]),
      Rule("kSecReturnAttributes", kSecReturnAttributes, true, kept, [.add, .copy]),
      Rule("kSecReturnRef", kSecReturnRef, true, key, [.add, .copy]),
      Rule("kSecReturnPersistentRef", kSecReturnPersistentRef, true, kept, [.add, .copy]),
      Rule("kSecValuePersistentRef", kSecValuePersistentRef, Data([1]), kept, searches),
      Rule("kSecValueRef", kSecValueRef, SampleKey(), key, searches),
      Rule("kSecUseDataProtectionKeychain", kSecUseDataProtectionKeychain, true, kept, queries),
      Rule("kSecUseAuthenticationContext", kSecUseAuthenticationContext, SampleContext(), kept, queries),
      Rule("kSecUseAuthenticationUI", kSecUseAuthenticationUI, kSecUseAuthenticationUIFail, kept, queries),
      Rule("kSecUseNoAuthenticationUI", kSecUseNoAuthenticationUI, true, kept, queries),
      Rule("kSecUseOperationPrompt", kSecUseOperationPrompt, "why", kept, queries),
      // What has a meaning on Apple's systems alone.
      Rule("kSecAttrAccess", kSecAttrAccess, "x", []), Rule("kSecMatchPolicy", kSecMatchPolicy, "x", []),
      Rule("kSecMatchSearchList", kSecMatchSearchList, [String](), []),
      Rule("kSecMatchIssuers", kSecMatchIssuers, [Data](), []),
      Rule("kSecMatchEmailAddressIfPresent", kSecMatchEmailAddressIfPresent, "x", []),
      Rule("kSecMatchSubjectContains", kSecMatchSubjectContains, "x", []),
      Rule("kSecMatchTrustedOnly", kSecMatchTrustedOnly, true, []),
      Rule("kSecMatchValidOnDate", kSecMatchValidOnDate, Date(), []),
      Rule("kSecUseKeychain", kSecUseKeychain, "x", []), Rule("kSecUseItemList", kSecUseItemList, [Data](), []),
      Rule("kSecAttrCanSign", kSecAttrCanSign, true, []),
      Rule("kSecAttrIsExtractable", kSecAttrIsExtractable, true, []),
      Rule("kSecPrivateKeyAttrs", kSecPrivateKeyAttrs, [String: String](), []),
    ]
  }()

  private func make(_ call: Call, _ itemClass: String, _ pairs: Pairs) throws(ItemRequestError) {
    var pairs = pairs
    switch call {
    case .add:
      if itemClass == kSecClassKey { pairs[kSecValueData] = Data([4]) }
      _ = try addition(itemClass, pairs)
    case .copy: _ = try search(itemClass, pairs)
    case .update: _ = try search(itemClass, pairs, for: .update)
    case .delete: _ = try search(itemClass, pairs, for: .delete)
    case .change:
      let itemClass: SecItemClass =
        switch itemClass {
        case kSecClassGenericPassword: .genericPassword
        case kSecClassInternetPassword: .internetPassword
        default: .key
        }
      _ = try change(pairs, of: itemClass)
    }
  }

  @Test(arguments: rules) func `a key is taken where it has a meaning and refused by name elsewhere`(rule: Rule) throws
  {
    for itemClass in Self.kept {
      for call in Call.allCases {
        let error = refusal { () throws(ItemRequestError) in try make(call, itemClass, [rule.key: rule.value]) }
        if rule.classes.contains(itemClass), rule.calls.contains(call) {
          #expect(error == nil, "\(rule.name) in \(itemClass) \(call)")
        } else {
          #expect(error?.status == errSecParam, "\(rule.name) in \(itemClass) \(call)")
          let isNamed = error?.message.contains(rule.name) == true || error?.message.contains("kSecReturn key") == true
          #expect(isNamed, "\(rule.name) in \(itemClass) \(call): \(String(describing: error))")
        }
      }
    }
  }

  /// A value that no key takes, and one that is nothing at all.
  @Test(arguments: rules) func `a value of another type is refused by name`(rule: Rule) {
    for value in [["a": 1.5], NSNull(), 1.5, -1] as [any Sendable] {
      for itemClass in rule.classes {
        for call in rule.calls {
          let error = refusal { () throws(ItemRequestError) in try make(call, itemClass, [rule.key: value]) }
          #expect(error?.status == errSecParam, "\(rule.name) in \(itemClass) \(call) with \(value)")
          #expect(error?.message.contains(rule.name) == true, "\(rule.name): \(String(describing: error))")
        }
      }
    }
  }

  @Test(arguments: allClasses) func `a key that is none of Security's is refused in every class`(itemClass: String) {
    for key in ["", "Class", "kSecAttrService", "svc\u{1B}[31me", String(repeating: "k", count: 1000)] {
      for call in Call.allCases {
        // Nothing else can be said of the changes to a certificate, of which there are none.
        let error = refusal { () throws(ItemRequestError) in try make(call, itemClass, [key: "x"]) }
        guard call != .add || Self.kept.contains(itemClass) else { continue }
        #expect(error?.status == errSecParam && error?.message.hasSuffix("is not known") == true)
        #expect(error?.message.utf8.contains(0x1B) == false && error?.message.count ?? 0 < 130)
      }
    }
  }

  @Test func `a key that is no string is refused`() {
    let odd = NSDictionary(dictionary: [1: "x"])
    #expect(refusal { () throws(ItemRequestError) in try ItemSearch(odd, for: .delete) }?.status == errSecParam)
    #expect(refusal { () throws(ItemRequestError) in try ItemAddition(odd) }?.status == errSecParam)
  }

  @Test(arguments: [nil, "", "GENP", "svce"] as [String?])
  func `without a class there is nothing to look for or add`(itemClass: String?) {
    for error in [
      refusal { () throws(ItemRequestError) in try addition(itemClass) },
      refusal { () throws(ItemRequestError) in try search(itemClass) },
      refusal { () throws(ItemRequestError) in try search(itemClass, for: .delete) },
    ] {
      #expect(error?.status == errSecParam && error?.message.contains("kSecClass ") == true)
    }
  }

  @Test(arguments: [kSecClassCertificate, kSecClassIdentity])
  func `certificates and identities cannot be added and are never found`(itemClass: String) throws {
    #expect(refusal { () throws(ItemRequestError) in try addition(itemClass) }?.status == errSecUnimplemented)
    for operation in ItemSearch.Operation.allCases {
      let pairs: Pairs = [kSecAttrLabel: "l", kSecMatchTrustedOnly: true, kSecMatchLimit: kSecMatchLimitAll]
      #expect(try search(itemClass, pairs, for: operation).findsNothing)
    }
  }
}
