internal import WhorlClient

extension QueryReader {
  /// The class that the dictionary says.
  mutating func itemClass() throws(ItemRequestError) -> SecItemClass? {
    try choice(kSecClass, "one of the kSecClass values", SecItemClass.byConstant)
  }

  /// The attributes that items of a class have; those that every class has for nil. What is guarded, dates,
  /// kSecAttrSynchronizable, the type of a key and what holds it are left to be read.
  mutating func attributes(of itemClass: SecItemClass?) throws(ItemRequestError) -> WhorlAttributes {
    var result = WhorlAttributes(itemClass: itemClass?.enclaveName)
    result.label = try text(kSecAttrLabel)
    result.accessGroup = try text(kSecAttrAccessGroup)
    switch itemClass {
    case .genericPassword:
      try readPassword(&result)
      result.service = try text(kSecAttrService)
      result.generic = try bytes(kSecAttrGeneric)
    case .internetPassword:
      try readPassword(&result)
      result.server = try text(kSecAttrServer)
      result.port = try number(kSecAttrPort, in: 0...65535)
      result.protocolType = try code(kSecAttrProtocol)
      result.path = try text(kSecAttrPath)
      result.authenticationType = try code(kSecAttrAuthenticationType)
      result.securityDomain = try text(kSecAttrSecurityDomain)
    case .key:
      result.keyClass = try keyClass()
      result.applicationLabel = try bytes(kSecAttrApplicationLabel)
      result.applicationTag = try bytes(kSecAttrApplicationTag)
      result.keySize = try number(kSecAttrKeySizeInBits)
      result.effectiveKeySize = try number(kSecAttrEffectiveKeySize)
    case .certificate, .identity, nil: break
    }
    return result
  }

  private mutating func readPassword(_ result: inout WhorlAttributes) throws(ItemRequestError) {
    result.account = try text(kSecAttrAccount)
    result.itemDescription = try text(kSecAttrDescription)
    result.comment = try text(kSecAttrComment)
    result.creator = try number(kSecAttrCreator)
    result.type = try number(kSecAttrType)
    result.isInvisible = try flag(kSecAttrIsInvisible)
    result.isNegative = try flag(kSecAttrIsNegative)
  }

  /// Which half of a key; the constants are digits, which Apple's systems also give as numbers.
  private mutating func keyClass() throws(ItemRequestError) -> String? {
    try digits(kSecAttrKeyClass, "one of the kSecAttrKeyClass values") { value in
      switch value {
      case kSecAttrKeyClassPublic: "public"
      case kSecAttrKeyClassPrivate: "private"
      case kSecAttrKeyClassSymmetric: "symmetric"
      default: nil
      }
    }
  }

  /// The kind of key by the enclave's name; an empty text for one that exists and that the enclave has none of.
  mutating func keyType() throws(ItemRequestError) -> String? {
    try digits(kSecAttrKeyType, "one of the kSecAttrKeyType values") { value in
      switch value {
      case kSecAttrKeyTypeECSECPrimeRandom: WhorlKeyType.p256.rawValue
      case kSecAttrKeyTypeEd25519: WhorlKeyType.ed25519.rawValue
      case kSecAttrKeyTypeRSA, kSecAttrKeyTypeDSA, kSecAttrKeyTypeAES: ""
      default: nil
      }
    }
  }

  private mutating func digits(
    _ key: String, _ what: String, _ read: (String) -> String?
  ) throws(ItemRequestError) -> String? {
    guard let value = any(key) else { return nil }
    let text = value as? String ?? (value as? UInt32).map { String($0) }
    guard let text, let result = read(text) else { throw refusal(key, "must be \(what)") }
    return result
  }

  /// Whether the enclave is to hold the key; nil where the dictionary does not say.
  mutating func isInEnclave() throws(ItemRequestError) -> Bool? {
    try choice(kSecAttrTokenID, "kSecAttrTokenIDSecureEnclave", [kSecAttrTokenIDSecureEnclave: true])
  }

  /// What is to guard an item: an access control, or a protection class that is made one; nil for neither.
  mutating func newAccessControl() throws(ItemRequestError) -> WhorlAccessControl? {
    guard !has(kSecAttrAccessible) || !has(kSecAttrAccessControl) else {
      throw refusal(kSecAttrAccessControl, "and kSecAttrAccessible exclude each other; give one of them")
    }
    let (protection, control) = try guards()
    return control ?? protection.map { WhorlAccessControl(protection: $0) }
  }

  /// What guards the items to look for.
  mutating func guards() throws(ItemRequestError) -> (protection: WhorlProtection?, control: WhorlAccessControl?) {
    let protection: WhorlProtection? = try choice(
      kSecAttrAccessible, "one of the kSecAttrAccessible values", Self.protections)
    let control: SecAccessControl? = try object(kSecAttrAccessControl, "a SecAccessControl")
    return (protection, control?.control)
  }

  private static let protections: [String: WhorlProtection] = {
    let names = [
      kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
      kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    ]
    return names.reduce(into: [:]) { $0[$1] = WhorlProtection(accessible: $1) }
  }()

  /// How the user may be asked.
  mutating func prompting() throws(ItemRequestError) -> ItemPrompting {
    var result = ItemPrompting()
    // There is one keychain.
    _ = try flag(kSecUseDataProtectionKeychain)
    result.reason = try text(kSecUseOperationPrompt)
    result.context = try object(kSecUseAuthenticationContext, "an LAContext", as: (any EnclaveContextSource).self)
    let interface: ItemPrompting.Interface? = try choice(
      kSecUseAuthenticationUI, "one of the kSecUseAuthenticationUI values",
      [
        kSecUseAuthenticationUIAllow: .allow, kSecUseAuthenticationUIFail: .fail, kSecUseAuthenticationUISkip: .skip,
      ])
    let forbidden = try flag(kSecUseNoAuthenticationUI)
    if let interface, let forbidden, forbidden != (interface != .allow) {
      throw refusal(kSecUseNoAuthenticationUI, "contradicts kSecUseAuthenticationUI; give one of them")
    }
    result.interface = interface ?? (forbidden == true ? .fail : .allow)
    return result
  }

  /// What to return.
  mutating func returns() throws(ItemRequestError) -> ItemReturns {
    ItemReturns(
      data: try flag(kSecReturnData) ?? false, attributes: try flag(kSecReturnAttributes) ?? false,
      reference: try flag(kSecReturnRef) ?? false, persistentReference: try flag(kSecReturnPersistentRef) ?? false)
  }
}
