package import WhorlClient

/// What a search asks for that the enclave does not search by: to be held against each item that it gives.
package struct ItemFilter: Hashable, Sendable {
  /// Whether the item is meant to be synchronized; nil for either.
  package var isSynchronizable: Bool?
  /// The protection class.
  package var protection: WhorlProtection?
  /// The protection class and the constraints.
  package var accessControl: WhorlAccessControl?
  /// When it was added, in seconds since 1970.
  package var created: Int64?
  /// When it was last changed, in seconds since 1970.
  package var modified: Int64?
  /// The persistent references of the items among which it has to be.
  package var references: Set<[UInt8]>?
  /// Texts that are compared loosely; nil for none.
  package var texts: LooseTexts?

  /// Everything passes.
  package init() {}

  /// Whether the item is one that is looked for.
  package func accepts(_ item: WhorlItem) -> Bool {
    if let isSynchronizable, (item.attributes.isSynchronizable ?? false) != isSynchronizable { return false }
    if let protection, item.protection != protection.rawValue { return false }
    if let accessControl {
      guard item.protection == accessControl.protection.rawValue,
        Set(item.constraints) == Set(accessControl.constraints)
      else { return false }
    }
    if let created, item.created != created { return false }
    if let modified, item.modified != modified { return false }
    if let references, !references.contains(item.attributes.persistentReference ?? []) { return false }
    return texts?.match(item.attributes) ?? true
  }
}

/// Texts of a query that match in spite of some differences (`kSecMatchCaseInsensitive` and the like).
///
/// The enclave finds texts byte for byte, by hashes; these it is not asked for.
package struct LooseTexts: Hashable, Sendable {
  /// Capital and small letters are alike.
  package var ignoresCase = false
  /// Letters with and without accents are alike.
  package var ignoresAccents = false
  /// Wide and narrow letters are alike.
  package var ignoresWidth = false
  /// The attributes with the texts; all others are nil.
  package var attributes = WhorlAttributes()

  /// Those that are compared so. The access group is not: it keeps programs apart.
  private static var fields: [WritableKeyPath<WhorlAttributes, String?>] {
    [\.service, \.account, \.label, \.itemDescription, \.comment, \.server, \.path, \.securityDomain]
  }

  var isLoose: Bool { ignoresCase || ignoresAccents || ignoresWidth }

  /// Takes the texts out of a query of the enclave's.
  mutating func take(from query: inout WhorlAttributes) {
    for field in Self.fields {
      attributes[keyPath: field] = query[keyPath: field]
      query[keyPath: field] = nil
    }
  }

  /// Whether an item's texts are alike.
  func match(_ item: WhorlAttributes) -> Bool {
    var options: String.CompareOptions = []
    if ignoresCase { options.insert(.caseInsensitive) }
    if ignoresAccents { options.insert(.diacriticInsensitive) }
    if ignoresWidth { options.insert(.widthInsensitive) }
    return Self.fields.allSatisfy { field in
      guard let wanted = attributes[keyPath: field] else { return true }
      // An item without a service or an account counts as having an empty one.
      let found = item[keyPath: field] ?? (field == \.service || field == \.account ? "" : nil)
      return found.map { wanted.compare($0, options: options) == .orderedSame } ?? false
    }
  }
}
