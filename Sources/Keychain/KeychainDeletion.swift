/// The deletion of many items in one transaction and in parts, as `KeychainBatch` has it.
///
/// Not Sendable: for the owner of the keychain. Let go without `commit`, it leaves everything as it was.
public final class KeychainDeletion {
  private let batch: KeychainBatch
  private let query: ItemQuery
  private var last: ItemID?
  /// How many items it has deleted so far.
  public private(set) var count = 0

  /// Begins to delete the items that match, those that lost their secrets too; with an empty query also those that cannot be
  /// read.
  /// - Throws: `.busy` where another long change is under way; what opening and writing can meet.
  public init(of query: ItemQuery, in owner: UserKeychain) throws(KeychainError) {
    self.query = query
    batch = try KeychainBatch(on: owner)
  }

  /// Looks at the next so many items and deletes those that match.
  /// - Returns: whether there are more.
  /// - Throws: `.tampered` for a matching item that cannot be read; what a write can meet.
  public func step(rows: Int) throws(KeychainError) -> Bool {
    let database = batch.keychain.database
    guard query != ItemQuery() else {
      let deleted = try database.run(
        "DELETE FROM item WHERE id IN (SELECT id FROM item ORDER BY id LIMIT ?)", [.integer(Int64(max(1, rows)))])
      count += deleted
      return deleted > 0
    }
    let page = try batch.keychain.page(query, after: last, count: rows, includeInvalidated: true)
    if let first = page.damaged.first { throw first.error }
    for item in page.items { try database.run("DELETE FROM item WHERE id = ?", [.integer(item.id.rawValue)]) }
    count += page.items.count
    last = page.next
    return last != nil
  }

  /// They are gone from the disk when this returns and `StoreUpkeep.checkpoint` was run.
  /// - Throws: what a write can meet; then nothing was changed.
  public func commit() throws(KeychainError) { try batch.commit() }
}
