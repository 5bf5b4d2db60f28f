package import WhorlClient

/// What SecKeyCreateRandomKey is asked to make.
package struct KeyGeneration: Sendable {
  /// What one half of the pair is to be.
  package struct Half: Hashable, Sendable {
    /// What it is to be known by; class and kind of key too.
    package var attributes: WhorlAttributes
    /// Whether it is kept in the keychain.
    package var isPermanent: Bool
    /// What is to guard it.
    package var accessControl: WhorlAccessControl
  }

  /// The kind of key.
  package var type: WhorlKeyType
  /// Whether the enclave makes and holds it.
  package var isInEnclave: Bool
  /// The private half.
  package var privateHalf: Half
  /// The public half.
  package var publicHalf: Half
  /// How the user may be asked.
  package var prompting: ItemPrompting

  /// Reads what kind of pair is to be made. What is given beside `kSecPrivateKeyAttrs` and `kSecPublicKeyAttrs` goes for
  /// both halves.
  /// - Parameters:
  ///   - parameters: the dictionary.
  ///   - group: the group that keys get where the dictionary names none.
  /// - Throws: `errSecParam`, with the key, for what has no meaning there; `errSecUnimplemented` for kinds and sizes of keys
  ///   that are not made.
  package init(_ parameters: CFDictionary, group: @autoclosure () -> String = AccessGroup.own) throws(ItemRequestError)
  {
    var reader = try QueryReader(parameters, call: Self.call)
    // Some code says what it is going to be.
    guard try reader.itemClass() ?? .key == .key else { throw reader.refusal(kSecClass, "must be kSecClassKey") }
    switch try reader.keyType() {
    case nil: throw reader.refusal(kSecAttrKeyType, "is missing")
    case let name? where !name.isEmpty: type = WhorlKeyType(rawValue: name)
    default: throw reader.refusal(kSecAttrKeyType, "is one that is not made", status: errSecUnimplemented)
    }
    if let size = try reader.number(kSecAttrKeySizeInBits), size != 256 {
      throw reader.refusal(kSecAttrKeySizeInBits, "must be 256", status: errSecUnimplemented)
    }
    isInEnclave = try reader.isInEnclave() ?? false
    prompting = try reader.prompting()
    let halves = (try reader.dictionary(kSecPrivateKeyAttrs), try reader.dictionary(kSecPublicKeyAttrs))
    let common = try HalfReader(&reader)
    try reader.finish("a pair that is made")
    var privateReader = try QueryReader(halves.0 ?? [:], call: Self.call)
    if privateReader.has(kSecUseAuthenticationContext) || privateReader.has(kSecUseOperationPrompt) {
      prompting = try privateReader.prompting()
    }
    let privateGiven = try HalfReader(&privateReader)
    try privateReader.finish("kSecPrivateKeyAttrs")
    var publicReader = try QueryReader(halves.1 ?? [:], call: Self.call)
    let publicGiven = try HalfReader(&publicReader)
    try publicReader.finish("kSecPublicKeyAttrs")
    let group = group()
    privateHalf = privateGiven.half(over: common, keyClass: "private", type: type, group: group)
    publicHalf = publicGiven.half(over: common, keyClass: "public", type: type, group: group)
  }

  private static let call = "SecKeyCreateRandomKey"

  /// What a dictionary says of a half.
  private struct HalfReader {
    var attributes = WhorlAttributes()
    var isPermanent: Bool?
    var accessControl: WhorlAccessControl?

    init(_ reader: inout QueryReader) throws(ItemRequestError) {
      attributes.label = try reader.text(kSecAttrLabel)
      attributes.accessGroup = try reader.text(kSecAttrAccessGroup)
      attributes.applicationTag = try reader.bytes(kSecAttrApplicationTag)
      attributes.applicationLabel = try reader.bytes(kSecAttrApplicationLabel)
      attributes.isSynchronizable = try ItemAddition.synchronizable(&reader)
      isPermanent = try reader.flag(kSecAttrIsPermanent)
      accessControl = try reader.newAccessControl()
    }

    func half(over common: HalfReader, keyClass: String, type: WhorlKeyType, group: String) -> Half {
      var result = WhorlAttributes(itemClass: SecItemClass.key.enclaveName)
      result.label = attributes.label ?? common.attributes.label
      result.accessGroup = attributes.accessGroup ?? common.attributes.accessGroup ?? group
      result.applicationTag = attributes.applicationTag ?? common.attributes.applicationTag
      result.applicationLabel = attributes.applicationLabel ?? common.attributes.applicationLabel
      result.isSynchronizable = attributes.isSynchronizable ?? common.attributes.isSynchronizable
      result.keyClass = keyClass
      result.keyType = type.rawValue
      result.keySize = 256
      return Half(
        attributes: result, isPermanent: isPermanent ?? common.isPermanent ?? false,
        accessControl: accessControl ?? common.accessControl ?? WhorlAccessControl(protection: .whenUnlocked))
    }
  }
}
