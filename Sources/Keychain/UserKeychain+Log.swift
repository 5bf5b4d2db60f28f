/// What a log may say of an item: a keyed hash of its name, which says nothing to who has not the user's keys.
extension UserKeychain {
  /// The hash of what tells an item of these attributes apart from others.
  public func logName(of attributes: ItemAttributes) -> [UInt8] {
    SearchHashes(attributes, key: keys.search).identity
  }

  /// The item of that hash; nil where it is not there any more.
  /// - Throws: as `summary`.
  public func item(byLogName name: [UInt8]) throws(KeychainError) -> ItemSummary? {
    guard let id = try database.number("SELECT id FROM item WHERE identity = ?", [.blob(name)]) else { return nil }
    return try summary(of: ItemID(id))
  }
}
