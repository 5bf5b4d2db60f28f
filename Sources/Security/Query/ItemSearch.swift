package import WhorlClient

/// What SecItemCopyMatching, SecItemUpdate and SecItemDelete are asked to find.
package struct ItemSearch: Sendable {
  /// The function that the query is for.
  package enum Operation: String, Sendable, CaseIterable {
    /// SecItemCopyMatching.
    case copyMatching = "SecItemCopyMatching"
    /// SecItemUpdate, its first dictionary.
    case update = "SecItemUpdate"
    /// SecItemDelete.
    case delete = "SecItemDelete"
  }

  /// The class; nil where a reference alone says which item it is.
  package var itemClass: SecItemClass?
  /// What the enclave is asked for.
  package var attributes: WhorlAttributes
  /// What its items are held against afterwards.
  package var filter = ItemFilter()
  /// The most items; nil for all of them. They count after ``filter``.
  package var limit: Int?
  /// What is returned of each; nothing for an update and a deletion.
  package var returns: ItemReturns
  /// How the user is asked.
  package var prompting: ItemPrompting
  /// The item that `kSecValueRef` names.
  package var reference: (any ItemReference)?
  /// Whether keys of the enclave are meant (true) or plain ones (nil for either).
  package var isInEnclave: Bool?
  /// Whether there can be no such item here, such as a certificate: errSecItemNotFound without asking.
  package var findsNothing = false

  /// Reads a query.
  /// - Parameters:
  ///   - query: the dictionary.
  ///   - operation: the function that it was given to.
  ///   - group: the group that is searched where the query names none.
  /// - Throws: `errSecParam`, with the key, for whatever has no meaning there.
  package init(
    _ query: CFDictionary, for operation: Operation, group: @autoclosure () -> String = AccessGroup.own
  ) throws(ItemRequestError) {
    var reader = try QueryReader(query, call: operation.rawValue)
    let named = reader.has(kSecValuePersistentRef) || reader.has(kSecValueRef)
    itemClass = try reader.itemClass()
    if itemClass == nil, reader.has(kSecValueRef) { itemClass = .key }
    guard itemClass != nil || named else { throw reader.refusal(kSecClass, "is missing") }
    attributes = WhorlAttributes()
    prompting = try reader.prompting()
    returns = try reader.returns()
    limit = try Self.limit(&reader, operation)
    if operation != .copyMatching, !returns.isNothing {
      throw ItemRequestError(errSecParam, "\(operation.rawValue): a kSecReturn key is true, but nothing is returned")
    }
    guard itemClass != .certificate, itemClass != .identity else {
      // None are kept, whatever is asked of them.
      findsNothing = true
      try reader.finishAllowingConstants()
      return
    }
    attributes = try reader.attributes(of: itemClass)
    try readReferences(&reader)
    try readFilter(&reader)
    if itemClass == .key { try readKey(&reader) }
    if operation == .delete {
      // Much code deletes with the very dictionary that it adds afterwards; Apple's systems take no notice of the secret.
      _ = try reader.data(kSecValueData)
    }
    try reader.finish(itemClass.map { "\($0.subject) in \(operation.rawValue)" } ?? "a reference without kSecClass")
    if returns.reference, itemClass == .genericPassword || itemClass == .internetPassword,
      !returns.data, !returns.attributes, !returns.persistentReference
    {
      throw reader.refusal(kSecReturnRef, "alone returns nothing for passwords, which have no references")
    }
    // A reference names one item, whatever its group and whether it is synchronizable.
    if attributes.accessGroup == nil, !named, filter.references == nil { attributes.accessGroup = group() }
  }

  private static func limit(_ reader: inout QueryReader, _ operation: Operation) throws(ItemRequestError) -> Int? {
    guard let value = reader.any(kSecMatchLimit) else { return operation == .copyMatching ? 1 : nil }
    if let text = value as? String {
      switch text {
      case kSecMatchLimitOne: return 1
      case kSecMatchLimitAll: return nil
      default: break
      }
    } else if type(of: value) != Bool.self, let number = value as? Int, number > 0 {
      return number
    }
    throw reader.refusal(kSecMatchLimit, "must be kSecMatchLimitOne, kSecMatchLimitAll or a whole number from 1 on")
  }

  private mutating func readReferences(_ reader: inout QueryReader) throws(ItemRequestError) {
    attributes.persistentReference = try reader.data(kSecValuePersistentRef).map { Array($0) }
    if itemClass == .key { reference = try reader.object(kSecValueRef, "a SecKey") }
    if let list: [Data] = try reader.object(kSecMatchItemList, "an array of persistent references") {
      filter.references = Set(list.map { Array($0) })
    }
  }

  private mutating func readFilter(_ reader: inout QueryReader) throws(ItemRequestError) {
    let isNamed = attributes.persistentReference != nil || reference != nil || filter.references != nil
    switch reader.any(kSecAttrSynchronizable) {
    case nil: filter.isSynchronizable = isNamed ? nil : false
    case let flag as Bool: filter.isSynchronizable = flag
    case let text as String where text == kSecAttrSynchronizableAny: filter.isSynchronizable = nil
    default: throw reader.refusal(kSecAttrSynchronizable, "must be true, false or kSecAttrSynchronizableAny")
    }
    (filter.protection, filter.accessControl) = try reader.guards()
    filter.created = try reader.seconds(kSecAttrCreationDate)
    filter.modified = try reader.seconds(kSecAttrModificationDate)
    var texts = LooseTexts()
    texts.ignoresCase = try reader.flag(kSecMatchCaseInsensitive) ?? false
    texts.ignoresAccents = try reader.flag(kSecMatchDiacriticInsensitive) ?? false
    texts.ignoresWidth = try reader.flag(kSecMatchWidthInsensitive) ?? false
    if texts.isLoose {
      texts.take(from: &attributes)
      filter.texts = texts
    }
  }

  private mutating func readKey(_ reader: inout QueryReader) throws(ItemRequestError) {
    let type = try reader.keyType()
    attributes.keyType = type
    // RSA and the like: Security has a name for them, and the enclave none of them.
    if type == "" { findsNothing = true }
    // What is not permanent is nowhere to be found.
    if try reader.flag(kSecAttrIsPermanent) == false { findsNothing = true }
    isInEnclave = try reader.isInEnclave()
  }
}
