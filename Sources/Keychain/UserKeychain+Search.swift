/// A part of the items, and where the next one begins.
public struct ItemPage: Sendable {
  /// Those that match, in the order they were added; no secret was decrypted.
  public var items: [ItemSummary] = []
  /// Those that may match and cannot be read.
  public var damaged: [DamagedItem] = []
  /// The last item that was looked at; nil where there are no more after it.
  public var next: ItemID?
}

/// Finding items: never decrypts a secret, never needs a finger or an unlocked class.
extension UserKeychain {
  private static let rowsOfPage = 1000

  /// The items that match, in the order they were added; no secret is decrypted.
  /// - Parameters:
  ///   - limit: the most items to give; nil or 0 for all.
  ///   - includeInvalidated: also those that lost their secret.
  /// - Throws: `.tampered` or `.unsupported`, naming the first matching item that cannot be read (`scan` goes past);
  ///   `.invalidParameter` for a negative limit.
  public func find(
    _ query: ItemQuery, limit: Int? = nil, includeInvalidated: Bool = false
  ) throws(KeychainError) -> [ItemSummary] {
    let (items, damaged) = try scan(query, limit: limit, includeInvalidated: includeInvalidated)
    if let first = damaged.first { throw first.error }
    return items
  }

  /// As `find`, and going past the items that cannot be read, which it gives beside the others.
  /// - Throws: `.invalidParameter` for a negative limit; what reading the database can meet.
  public func scan(
    _ query: ItemQuery, limit: Int? = nil, includeInvalidated: Bool = false
  ) throws(KeychainError) -> (items: [ItemSummary], damaged: [DamagedItem]) {
    guard limit ?? 0 >= 0 else { throw .invalidParameter("a limit of \(limit ?? 0) items makes no sense") }
    let most = limit.flatMap { $0 == 0 ? nil : $0 } ?? .max
    var items: [ItemSummary] = []
    var damaged: [DamagedItem] = []
    var last: ItemID?
    repeat {
      let page = try page(query, after: last, count: Self.rowsOfPage, includeInvalidated: includeInvalidated)
      items += page.items
      damaged += page.damaged
      last = page.next
    } while last != nil && items.count < most
    return (Array(items.prefix(most)), damaged)
  }

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
    var filter = conditions.map { "\($0.column) = ?" } + ["id > ?"]
    var values = conditions.map { DatabaseValue.blob($0.hash) } + [.integer(last?.rawValue ?? 0)]
    if let reference = query.persistentReference {
      // A reference of another keychain, or none at all, names no item: no id is below 1.
      filter.append("id = ?")
      values.append(.integer(item(of: reference)?.rawValue ?? 0))
    }
    let rowLimit = max(count, 1)
    var page = ItemPage()
    var rows = 0
    try database.rows(
      "SELECT \(ItemRow.columns) FROM item WHERE \(filter.joined(separator: " AND ")) ORDER BY id LIMIT ?",
      values + [.integer(Int64(rowLimit))]
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
    if rows < rowLimit { page.next = nil }
    return page
  }

  /// An item by its number, without its secret.
  /// - Throws: `.itemNotFound`, `.tampered`, `.unsupported`.
  public func summary(of id: ItemID) throws(KeychainError) -> ItemSummary {
    var found: ItemRow?
    try database.rows("SELECT \(ItemRow.columns) FROM item WHERE id = ?", [.integer(id.rawValue)]) {
      (row) throws(KeychainError) in
      found = ItemRow(row)
      return false
    }
    guard let found else { throw .itemNotFound }
    return try found.summary(user: user, keys: keys)
  }

  /// Bytes that name this item for as long as it is there, also after its attributes changed (Apple:
  /// kSecValuePersistentRef): version, number, and a keyed hash, so that one keychain's mean nothing to another.
  public func persistentReference(of id: ItemID) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.referenceVersion)
    writer.write(id.rawValue)
    return writer.bytes + Sealing.keyedHash(Array("reference".utf8) + writer.bytes, key: keys.names, count: 16)
  }

  /// The item that such bytes name, whether it is still there or not; nil where they are not this keychain's.
  public func item(of reference: [UInt8]) -> ItemID? {
    let id: Int64? = reference.withUnsafeBytes { source in
      var reader = ByteReader(source)
      guard reader.number(UInt8.self) == Self.referenceVersion else { return nil }
      return reader.number(Int64.self)
    }
    guard let id, Sealing.constantTimeEqual(persistentReference(of: ItemID(id)), reference) else { return nil }
    return ItemID(id)
  }

  private static let referenceVersion: UInt8 = 1
}
