package import WhorlClient

extension WhorlItem {
  /// The item's attributes as `kSecReturnAttributes` gives them: strings, data, dates and numbers.
  ///
  /// Flags are the numbers 1 and 0, which are read as `Bool`, `Int` and `NSNumber` alike. Attributes that the item does not
  /// have are left out, but for those that are empty texts then: service, account and access group.
  package var attributeDictionary: [String: Any] {
    var result: [String: Any] = [:]
    let itemClass = SecItemClass(enclaveName: attributes.itemClass)
    result[kSecClass] = itemClass?.constant
    result[kSecAttrAccessGroup] = attributes.accessGroup ?? ""
    result[kSecAttrLabel] = attributes.label
    result[kSecAttrSynchronizable] = Self.number(attributes.isSynchronizable ?? false)
    let protection = WhorlProtection(rawValue: protection)
    result[kSecAttrAccessible] = protection.accessible
    result[kSecAttrAccessControl] = SecAccessControl(
      WhorlAccessControl(protection: protection, constraints: constraints))
    result[kSecAttrCreationDate] = Date(timeIntervalSince1970: Double(created))
    result[kSecAttrModificationDate] = Date(timeIntervalSince1970: Double(modified))
    switch itemClass {
    case .genericPassword:
      result[kSecAttrService] = attributes.service ?? ""
      result[kSecAttrGeneric] = attributes.generic.map { Data($0) }
      addPassword(to: &result)
    case .internetPassword:
      result[kSecAttrServer] = attributes.server
      result[kSecAttrPort] = attributes.port.map(Self.number)
      result[kSecAttrProtocol] = attributes.protocolType.map(Self.code)
      result[kSecAttrPath] = attributes.path
      result[kSecAttrAuthenticationType] = attributes.authenticationType.map(Self.code)
      result[kSecAttrSecurityDomain] = attributes.securityDomain
      addPassword(to: &result)
    case .key: addKey(to: &result)
    case .certificate, .identity, nil: break
    }
    return result
  }

  private func addPassword(to result: inout [String: Any]) {
    result[kSecAttrAccount] = attributes.account ?? ""
    result[kSecAttrDescription] = attributes.itemDescription
    result[kSecAttrComment] = attributes.comment
    result[kSecAttrCreator] = attributes.creator.map(Self.number)
    result[kSecAttrType] = attributes.type.map(Self.number)
    result[kSecAttrIsInvisible] = attributes.isInvisible.map(Self.number)
    result[kSecAttrIsNegative] = attributes.isNegative.map(Self.number)
  }

  private func addKey(to result: inout [String: Any]) {
    switch attributes.knownKeyClass {
    case "public": result[kSecAttrKeyClass] = kSecAttrKeyClassPublic
    case "private": result[kSecAttrKeyClass] = kSecAttrKeyClassPrivate
    case "symmetric": result[kSecAttrKeyClass] = kSecAttrKeyClassSymmetric
    default: break
    }
    switch attributes.keyType {
    case WhorlKeyType.p256.rawValue: result[kSecAttrKeyType] = kSecAttrKeyTypeECSECPrimeRandom
    case WhorlKeyType.ed25519.rawValue: result[kSecAttrKeyType] = kSecAttrKeyTypeEd25519
    default: break
    }
    result[kSecAttrApplicationLabel] = attributes.applicationLabel.map { Data($0) }
    result[kSecAttrApplicationTag] = attributes.applicationTag.map { Data($0) }
    result[kSecAttrKeySizeInBits] = attributes.keySize.map(Self.number)
    result[kSecAttrEffectiveKeySize] = attributes.effectiveKeySize.map(Self.number)
    result[kSecAttrIsPermanent] = Self.number(true)
    if attributes.keyHalf == .enclave { result[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave }
  }

  private static func number(_ value: UInt32) -> NSNumber { NSNumber(value: Int(value)) }

  private static func number(_ value: Bool) -> NSNumber { NSNumber(value: value ? 1 : 0) }

  /// A four-character code as its text; as a number where it is none.
  private static func code(_ value: UInt32) -> Any { FourCharacterCode.text(of: value) ?? number(value) }
}
