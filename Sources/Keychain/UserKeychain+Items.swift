public import SecretMemory

extension UserKeychain {
  /// Adds an item; it is on the disk when this returns. An invalidated item of the same identity makes way.
  /// - Throws: `.duplicateItem`, `.tooLarge`; `.invalidParameter` also where the item is to be bound to the set of
  ///   fingers while none is registered; `.unsupported`; `.tampered`; what a write can meet.
  public func add(
    _ attributes: ItemAttributes, accessControl: AccessControl, secret: borrowing SecretBytes
  ) throws(KeychainError) -> ItemID {
    try attributes.validate()
    try Self.check(secret)
    let secret = try guarded { () throws(SecretMemoryError) in try secret.clone() }
    return try database.write { () throws(KeychainError) in
      let time = now()
      return try insert(
        ItemBody(attributes: attributes, created: time, modified: time), accessControl: accessControl, secret: secret)
    }
  }

  /// Adds an item within a transaction; what is asked of its parts was checked.
  func insert(
    _ body: ItemBody, accessControl: AccessControl, secret: borrowing SecretBytes
  ) throws(KeychainError) -> ItemID {
    let hashes = SearchHashes(body.attributes, key: keys.search)
    try makeWay(for: hashes.identity)
    let last = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'item'") ?? 0
    let highest = try database.number("SELECT max(id) FROM item") ?? 0
    guard last >= highest, last < .max else { throw .tampered("the numbering of items in \(database.path)") }
    try store(body, id: last + 1, accessControl: accessControl, hashes: hashes, secret: secret, as: Self.insertion)
    return ItemID(last + 1)
  }

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
    try query.itemClass?.requireSupport()
    let most = limit.flatMap { $0 == 0 ? nil : $0 } ?? .max
    let conditions = SearchHashes.conditions(of: query, key: keys.search)
    let filter = conditions.map { "\($0.column.rawValue) = ?" }.joined(separator: " AND ")
    var items: [ItemSummary] = []
    var damaged: [DamagedItem] = []
    try database.rows(
      "SELECT \(ItemRow.columns) FROM item \(filter.isEmpty ? "" : "WHERE \(filter) ")ORDER BY id",
      conditions.map { .blob($0.hash) }
    ) { (row) throws(KeychainError) in
      let row = ItemRow(row)
      do throws(KeychainError) {
        let item = try row.summary(user: user, keys: keys)
        if query.matches(item.attributes), includeInvalidated || item.state == .present { items.append(item) }
      } catch {
        damaged.append(DamagedItem(id: ItemID(row.id), error: error))
      }
      return items.count < most
    }
    return (items, damaged)
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

  /// The secret of an item, for a caller that has checked `accessControl`.
  /// - Parameter accessControl: what the caller has checked; the item's own must be the same.
  /// - Throws: `.itemNotFound`, `.invalidated`, `.tampered` (also where the access control is another one).
  public func secret(of id: ItemID, under accessControl: AccessControl) throws(KeychainError) -> SecretBytes {
    try database.read { () throws(KeychainError) in try open(try summary(of: id, under: accessControl)) }
  }

  /// Changes the attributes given in `changes`, and the secret where there is one, in one transaction.
  ///
  /// The class, the access control and the binding to the set of fingers stay.
  /// - Parameter accessControl: what the caller has checked; the item's own must be the same.
  /// - Throws: `.duplicateItem` where the new identity is taken; otherwise as `secret` and `add`.
  public func update(
    _ id: ItemID, under accessControl: AccessControl, changes: ItemQuery, secret: borrowing SecretBytes?
  ) throws(KeychainError) {
    let given = try Self.checkedClone(secret)
    try database.write { () throws(KeychainError) in
      let item = try summary(of: id, under: accessControl)
      // Also where a new one is given: what cannot be opened any more is not replaced unnoticed.
      let old = try open(item)
      let attributes = try item.attributes.applying(changes)
      try attributes.validate()
      let hashes = SearchHashes(attributes, key: keys.search)
      try makeWay(for: hashes.identity, except: id)
      let body = ItemBody(attributes: attributes, created: item.created, modified: now())
      switch given {
      case .some(let new):
        try store(body, id: id.rawValue, accessControl: accessControl, hashes: hashes, secret: new, as: Self.change)
      case .none:
        try store(body, id: id.rawValue, accessControl: accessControl, hashes: hashes, secret: old, as: Self.change)
      }
    }
    database.checkpoint()
  }

  /// Deletes the items that match, invalidated ones too, and gives their number.
  /// - Parameter all: must be true for a query that names neither service nor account. With an empty query it also
  ///   deletes items that cannot be read.
  /// - Throws: `.invalidParameter` where `all` is needed; `.tampered` for a matching item that cannot be read.
  public func delete(_ query: ItemQuery, all: Bool = false) throws(KeychainError) -> Int {
    guard all || query.service != nil || query.account != nil else {
      throw .invalidParameter("a deletion that names neither service nor account must say that it means all items")
    }
    let count = try database.write { () throws(KeychainError) in
      if query == ItemQuery() { return try database.run("DELETE FROM item") }
      let items = try find(query, includeInvalidated: true)
      for item in items { try database.run("DELETE FROM item WHERE id = ?", [.integer(item.id.rawValue)]) }
      return items.count
    }
    database.checkpoint()
    return count
  }

  /// Deletes one item, whether or not it can be read; gives whether there was one.
  /// - Throws: what a write can meet.
  public func delete(_ id: ItemID) throws(KeychainError) -> Bool {
    let count = try database.write { () throws(KeychainError) in
      try database.run("DELETE FROM item WHERE id = ?", [.integer(id.rawValue)])
    }
    database.checkpoint()
    return count > 0
  }

  /// Takes the secrets and wrapped keys of the items bound to the set of fingers, and marks them. Items that cannot
  /// be read lose theirs too: the constraint stands in the clear, and what was altered is not spared.
  func invalidateItemsBoundToSet() throws(KeychainError) {
    var rows: [ItemRow] = []
    try database.rows("SELECT \(ItemRow.columns) FROM item WHERE state = 0 ORDER BY id") {
      (row) throws(KeychainError) in
      rows.append(ItemRow(row))
      return true
    }
    for row in rows {
      do throws(KeychainError) {
        let item = try row.summary(user: user, keys: keys)
        guard item.accessControl.isBoundToBiometrySet else { continue }
        // 0 stands for "not", also where the clock says 1970.
        let time = max(now(), 1)
        let hashes = SearchHashes(item.attributes, key: keys.search)
        let binding = binding(item.id, item.attributes, item.accessControl, hashes, isInvalidated: true)
        let body = ItemBody(
          attributes: item.attributes, created: item.created, modified: item.modified, invalidated: time)
        try database.run(
          "UPDATE item SET state = 1, attributes = ?, key = NULL, secret = NULL WHERE id = ?",
          [.blob(seal(body, binding)), .integer(item.id.rawValue)])
      } catch {
        switch error {
        // Its key is not to be had without the set's epoch, which is gone: unreadable items can stay as they are.
        case .tampered, .unsupported: continue
        default: throw error
        }
      }
    }
  }

  // MARK: - One item

  private static let insertion = """
    INSERT INTO item(version, class, protection, access, state, identity, service, account, access_group, label, \
    generic, attributes, key, secret, id) VALUES(?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  private static let change = """
    UPDATE item SET version = ?, class = ?, protection = ?, access = ?, state = 0, identity = ?, service = ?, \
    account = ?, access_group = ?, label = ?, generic = ?, attributes = ?, key = ?, secret = ? WHERE id = ?
    """

  static func check(_ secret: borrowing SecretBytes) throws(KeychainError) {
    guard secret.count <= KeychainLimits.secretBytes else {
      throw .tooLarge("the secret", limit: KeychainLimits.secretBytes)
    }
  }

  private static func checkedClone(_ secret: borrowing SecretBytes?) throws(KeychainError) -> SecretBytes? {
    switch secret {
    case .some(let given):
      try check(given)
      do throws(SecretMemoryError) { return try given.clone() } catch { throw .memory(error) }
    case .none: return nil
    }
  }

  private func summary(of id: ItemID, under accessControl: AccessControl) throws(KeychainError) -> ItemSummary {
    let item = try summary(of: id)
    // What was checked a moment ago must be what guards the item now.
    guard item.accessControl == accessControl else {
      throw .tampered("the access control of item \(id.rawValue) of user \(user)")
    }
    if case .invalidated(let time) = item.state { throw .invalidated(at: time) }
    return item
  }

  private func open(_ item: ItemSummary) throws(KeychainError) -> SecretBytes {
    let altered = KeychainError.tampered("item \(item.id.rawValue) of user \(user)")
    var wrapped: [UInt8]?
    var sealed: [UInt8]?
    try database.rows("SELECT key, secret FROM item WHERE id = ?", [.integer(item.id.rawValue)]) {
      (row) throws(KeychainError) in
      wrapped = row.blob(0)
      sealed = row.blob(1)
      return false
    }
    let binding = binding(
      item.id, item.attributes, item.accessControl, SearchHashes(item.attributes, key: keys.search),
      isInvalidated: false)
    guard let wrapped, let sealed,
      let key = try Sealing.open(
        wrapped, key: try wrappingKey(item.accessControl), associatedData: binding.associatedData(.itemKey)),
      key.count == Sealing.keyBytes,
      let secret = try Sealing.open(sealed, key: key, associatedData: binding.associatedData(.itemSecret))
    else { throw altered }
    return secret
  }

  /// Encrypts an item under a new key and writes it, then reads it back within the transaction: a write that could
  /// not be read again is no write.
  private func store(
    _ body: ItemBody, id: Int64, accessControl: AccessControl, hashes: SearchHashes, secret: borrowing SecretBytes,
    as statement: String
  ) throws(KeychainError) {
    let binding = binding(ItemID(id), body.attributes, accessControl, hashes, isInvalidated: false)
    let key = try Sealing.newKey()
    let wrapped = Sealing.seal(
      key, key: try wrappingKey(accessControl), associatedData: binding.associatedData(.itemKey))
    let sealed = Sealing.seal(secret, key: key, associatedData: binding.associatedData(.itemSecret))
    try database.run(
      statement,
      [
        .integer(ItemRow.version), .integer(Int64(body.attributes.itemClass.rawValue)),
        .integer(Int64(accessControl.protection.rawValue)), .blob(accessControl.canonicalBytes),
        .blob(hashes.identity), .blob(hashes.service), .blob(hashes.account), .blob(hashes.accessGroup),
        .blobOrNull(hashes.label), .blobOrNull(hashes.generic), .blob(seal(body, binding)), .blob(wrapped),
        .blob(sealed), .integer(id),
      ])
    let back = try open(try summary(of: ItemID(id), under: accessControl))
    guard SecretBytes.constantTimeEqual(back, secret) else {
      throw .io("item \(id) of user \(user) could not be read back after writing")
    }
  }

  private func seal(_ body: ItemBody, _ binding: ItemBinding) -> [UInt8] {
    body.bytes.withUnsafeBytes {
      Sealing.seal($0, key: keys.attributes, associatedData: binding.associatedData(.itemAttributes))
    }
  }

  private func binding(
    _ id: ItemID, _ attributes: ItemAttributes, _ accessControl: AccessControl, _ hashes: SearchHashes,
    isInvalidated: Bool
  ) -> ItemBinding {
    ItemBinding(
      user: user, id: id.rawValue, itemClass: attributes.itemClass, accessControl: accessControl,
      isInvalidated: isInvalidated, identity: hashes.identity)
  }

  /// The key that wraps the item keys of this access control.
  private func wrappingKey(_ accessControl: AccessControl) throws(KeychainError) -> SecretBytes {
    guard accessControl.isBoundToBiometrySet else { return try Sealing.deriveKey(keys.always, label: "item-key") }
    let set = try BiometrySetStore.read(from: database, user: user, keys: keys)
    guard !set.members.isEmpty else {
      throw .invalidParameter("no finger is registered for an item to be bound to")
    }
    return try set.record.wrappingKey(under: keys.always)
  }

  /// Throws where an item of that identity has a secret; deletes one that lost its own.
  private func makeWay(for identity: [UInt8], except id: ItemID? = nil) throws(KeychainError) {
    var existing: ItemRow?
    try database.rows("SELECT \(ItemRow.columns) FROM item WHERE identity = ?", [.blob(identity)]) {
      (row) throws(KeychainError) in
      existing = ItemRow(row)
      return false
    }
    guard let existing, existing.id != id?.rawValue else { return }
    guard case .invalidated = try existing.summary(user: user, keys: keys).state else { throw .duplicateItem }
    try database.run("DELETE FROM item WHERE id = ?", [.integer(existing.id)])
  }
}
