/// A part of the items, and where the next one begins.
public struct ItemPage: Sendable {
  /// Those that match, in the order they were added; no secret was decrypted.
  public var items: [ItemSummary] = []
  /// Those that may match and cannot be read.
  public var damaged: [DamagedItem] = []
  /// The last item that was looked at; nil where there are no more after it.
  public var next: ItemID?
}

extension UserKeychain {
  /// The items that match among the next so many rows, so that a search among many holds nobody else up for long.
  ///
  /// - Parameters:
  ///   - last: the last item that was looked at, from the page before; nil for the first page.
  ///   - count: the most rows to look at; at least 1.
  ///   - includeInvalidated: also those that lost their secret.
  /// - Throws: what reading the database can meet.
  public func page(
    _ query: ItemQuery, after last: ItemID? = nil, count: Int, includeInvalidated: Bool = false
  ) throws(KeychainError) -> ItemPage {
    let conditions = SearchHashes.conditions(of: query, key: keys.search)
    let filter = (conditions.map { "\($0.column.rawValue) = ?" } + ["id > ?"]).joined(separator: " AND ")
    var page = ItemPage()
    var rows = 0
    try database.rows(
      "SELECT \(ItemRow.columns) FROM item WHERE \(filter) ORDER BY id LIMIT ?",
      conditions.map { .blob($0.hash) } + [.integer(last?.rawValue ?? 0), .integer(Int64(max(count, 1)))]
    ) { (row) throws(KeychainError) in
      let row = ItemRow(row)
      rows += 1
      page.next = ItemID(row.id)
      do throws(KeychainError) {
        let item = try row.summary(user: user, keys: keys)
        if query.matches(item.attributes), includeInvalidated || item.state == .present { page.items.append(item) }
      } catch {
        page.damaged.append(DamagedItem(id: ItemID(row.id), error: error))
      }
      return true
    }
    if rows < count { page.next = nil }
    return page
  }
}
