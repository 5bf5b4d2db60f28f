public import SecretMemory

/// Many changes to one keychain in one transaction, on a connection of its own: whoever owns the keychain can read it
/// meanwhile, and is refused with `.busy`, at once, where it would change it.
///
/// Not Sendable: for the owner of the keychain. Let go without `commit`, it leaves everything as it was.
public final class KeychainImport {
  private let batch: KeychainBatch
  private var keychain: UserKeychain { batch.keychain }

  /// Begins the transaction.
  /// - Throws: `.busy` where another one is under way; what opening and writing can meet.
  public init(into owner: UserKeychain) throws(KeychainError) {
    batch = try KeychainBatch(on: owner)
  }

  /// The item with a secret that is known by the same attributes, as it stands in the transaction.
  public func existing(_ item: PortableItem) throws(KeychainError) -> ItemSummary? {
    try keychain.item(like: item.attributes)
  }

  /// Adds an item with its dates; those that are not known are now's.
  /// - Parameter accessControl: for an item that brings none.
  /// - Throws: as `UserKeychain.add`.
  public func add(
    _ item: PortableItem, accessControl: AccessControl, secret: borrowing SecretBytes
  ) throws(KeychainError) {
    try UserKeychain.check(secret)
    _ = try keychain.insert(
      item.attributes, item.accessControl ?? accessControl, secret, nil,
      created: item.created == 0 ? nil : item.created,
      modified: item.modified == 0 ? nil : item.modified)
  }

  /// Deletes an item.
  public func remove(_ id: ItemID) throws(KeychainError) {
    try keychain.database.run("DELETE FROM item WHERE id = ?", [.integer(id.rawValue)])
  }

  /// All of it is on the disk when this returns; nothing of it where this throws. `StoreUpkeep.checkpoint` is to follow.
  public func commit() throws(KeychainError) { try batch.commit() }
}
