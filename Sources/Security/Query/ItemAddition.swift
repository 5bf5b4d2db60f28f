package import WhorlClient

/// What SecItemAdd is asked to store.
package struct ItemAddition: Sendable {
  /// The class.
  package var itemClass: SecItemClass
  /// What the item is to be known by.
  package var attributes: WhorlAttributes
  /// What is to guard it.
  package var accessControl: WhorlAccessControl
  /// The secret; empty where the dictionary gives none, nil where ``reference`` is what is to be stored.
  package var secret: Data?
  /// The key that `kSecValueRef` gives; nil for none.
  package var reference: (any ItemReference)?
  /// What is returned.
  package var returns: ItemReturns
  /// How the user may be asked. An addition asks for nothing.
  package var prompting: ItemPrompting

  /// Reads an item to add.
  /// - Parameters:
  ///   - item: the dictionary.
  ///   - group: the group that the item gets where the dictionary names none.
  /// - Throws: `errSecParam`, with the key, for whatever has no meaning there; `errSecUnimplemented` for certificates,
  ///   identities and kinds of keys that are not kept.
  package init(_ item: CFDictionary, group: @autoclosure () -> String = AccessGroup.own) throws(ItemRequestError) {
    var reader = try QueryReader(item, call: "SecItemAdd")
    let given = try reader.itemClass()
    guard let itemClass = given ?? (reader.has(kSecValueRef) ? .key : nil) else {
      throw reader.refusal(kSecClass, "is missing")
    }
    guard itemClass.enclaveName != nil else {
      throw reader.refusal(kSecClass, "is \(itemClass.subject), and none are kept", status: errSecUnimplemented)
    }
    self.itemClass = itemClass
    prompting = try reader.prompting()
    returns = try reader.returns()
    attributes = try reader.attributes(of: itemClass)
    accessControl = try reader.newAccessControl() ?? WhorlAccessControl(protection: .whenUnlocked)
    attributes.isSynchronizable = try Self.synchronizable(&reader)
    if itemClass == .key { try Self.readKey(&reader, &attributes) }
    secret = try reader.data(kSecValueData)
    if itemClass == .key {
      reference = try reader.object(kSecValueRef, "a SecKey")
      guard (reference == nil) != (secret == nil) else {
        throw reader.refusal(kSecValueRef, "or kSecValueData has to give the key, and not both")
      }
    } else if secret == nil {
      secret = Data()
    }
    try reader.finish("\(itemClass.subject) in SecItemAdd")
    if returns.reference, itemClass != .key, !returns.data, !returns.attributes, !returns.persistentReference {
      throw reader.refusal(kSecReturnRef, "alone returns nothing for passwords, which have no references")
    }
    if attributes.accessGroup == nil { attributes.accessGroup = group() }
  }

  /// Whether an item is meant to be synchronized; nil where a dictionary does not say.
  static func synchronizable(_ reader: inout QueryReader) throws(ItemRequestError) -> Bool? {
    guard let value = reader.any(kSecAttrSynchronizable) else { return nil }
    guard let flag = value as? Bool else {
      throw reader.refusal(kSecAttrSynchronizable, "must be true or false for an item of its own")
    }
    return flag
  }

  private static func readKey(
    _ reader: inout QueryReader, _ attributes: inout WhorlAttributes
  ) throws(ItemRequestError) {
    attributes.keyType = try reader.keyType()
    guard attributes.keyType != "" else {
      throw reader.refusal(kSecAttrKeyType, "is one that is not kept", status: errSecUnimplemented)
    }
    guard try reader.flag(kSecAttrIsPermanent) ?? true else {
      throw reader.refusal(kSecAttrIsPermanent, "is false, but the key is to be kept")
    }
    guard try reader.isInEnclave() == nil else {
      throw reader.refusal(kSecAttrTokenID, "makes a key in the enclave; SecKeyCreateRandomKey does that")
    }
  }
}
