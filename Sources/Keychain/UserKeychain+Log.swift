/// What a log may say of an item: a keyed hash of its name, which says nothing to who has not the user's keys, and stays
/// the same over a rekeying.
extension UserKeychain {
  /// The hash of what tells an item of these attributes apart from others.
  public func logName(of attributes: ItemAttributes) -> [UInt8] {
    SearchHashes.identity(of: attributes, key: keys.names)
  }

  /// Whether the database finds items by the names of the log: until the first rekeying. From then on whoever looks for
  /// some goes through all items (`page`).
  public var findsLogNames: Bool { keys.areNamesSearched }

  /// The item of that hash, where the database finds it by that; nil where it is not there any more.
  /// - Throws: as `summary`.
  public func item(byLogName name: [UInt8]) throws(KeychainError) -> ItemSummary? {
    guard let id = try database.number("SELECT id FROM item WHERE identity = ?", [.blob(name)]) else { return nil }
    return try summary(of: ItemID(id))
  }
}
