public import SecretMemory

extension UserKeychain {
  /// Adds an item; it is on the disk when this returns. An item of the same identity that lost its secret makes way.
  /// - Parameter applicationPassword: the program's own password, stretched with fresh parameters; needed where the
  ///   access control says so.
  /// - Throws: `.duplicateItem`, `.tooLarge`; `.invalidParameter` also where the item is to be bound to the set of
  ///   fingers while none is registered; `.locked`; `.applicationPasswordNeeded`; `.tampered`; what a write can meet.
  public func add(
    _ attributes: ItemAttributes, accessControl: AccessControl, secret: borrowing SecretBytes,
    applicationPassword: StretchedPassword? = nil
  ) throws(KeychainError) -> ItemID {
    try attributes.validate()
    try Self.check(secret)
    let secret = try guarded { () throws(SecretMemoryError) in try secret.clone() }
    return try database.write { () throws(KeychainError) in
      try insert(attributes, accessControl, secret, applicationPassword)
    }
  }

  /// One new item, within a transaction of the caller's; attributes and secret have been checked.
  func insert(
    _ attributes: ItemAttributes, _ accessControl: AccessControl, _ secret: borrowing SecretBytes,
    _ applicationPassword: StretchedPassword?, created: Int64? = nil, modified: Int64? = nil
  ) throws(KeychainError) -> ItemID {
    let time = now()
    let hashes = SearchHashes(attributes, key: keys.search)
    try makeWay(for: hashes.identity)
    try requireRoomForItem()
    try requireRoom(for: secret.count)
    let last = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'item'") ?? 0
    let highest = try database.number("SELECT max(id) FROM item") ?? 0
    guard last >= highest, last < .max else { throw .tampered("the numbering of items in \(database.path)") }
    let body = ItemBody(
      attributes: attributes, created: created ?? time, modified: modified ?? time,
      biometrySet: accessControl.prefersBiometrySet ? try setMark() : nil)
    try store(
      body, id: last + 1, accessControl: accessControl, hashes: hashes, secret: secret,
      applicationPassword: applicationPassword, as: Self.insertion)
    return ItemID(last + 1)
  }

  /// The secret of an item, for a caller that has checked `accessControl`.
  /// - Parameters:
  ///   - accessControl: what the caller has checked; the item's own must be the same.
  ///   - applicationPassword: stretched with `applicationPasswordParameters(of:)`, where the item has one.
  /// - Throws: `.itemNotFound`, `.invalidated`, `.passcodeRemoved`, `.locked`, `.applicationPasswordNeeded`,
  ///   `.wrongApplicationPassword`, `.tampered` (also where the access control is another one).
  public func secret(
    of id: ItemID, under accessControl: AccessControl, applicationPassword: StretchedPassword? = nil
  ) throws(KeychainError) -> SecretBytes {
    try database.read { () throws(KeychainError) in
      try open(try summary(of: id, under: accessControl), applicationPassword)
    }
  }

  /// What the program's own password of an item has to be stretched with; nil where the item has none.
  /// - Throws: as `summary(of:)`.
  public func applicationPasswordParameters(of id: ItemID) throws(KeychainError) -> StretchingParameters? {
    let item = try summary(of: id)
    guard item.accessControl.needsApplicationPassword else { return nil }
    if let error = item.state.error { throw error }
    guard let wrapped = try database.blob("SELECT key FROM item WHERE id = ?", [.integer(id.rawValue)]),
      let parameters = StretchingParameters(wrapped.prefix(StretchingParameters.byteCount))
    else { throw .tampered("item \(id.rawValue) of user \(user)") }
    return parameters
  }

  /// Changes the attributes given in `changes`, the secret and the access control where there is one, in one transaction.
  ///
  /// The class stays, and without a new access control the binding to the set of fingers.
  /// - Parameters:
  ///   - accessControl: what the caller has checked; the item's own must be the same.
  ///   - newAccessControl: what guards the item from then on; nil leaves it.
  ///   - applicationPassword: as for `secret`, or for `add` where the new access control asks for one and the old does not.
  /// - Throws: `.duplicateItem` where the new identity is taken; otherwise as `secret` and `add`.
  public func update(
    _ id: ItemID, under accessControl: AccessControl, changes: ItemQuery, secret: borrowing SecretBytes?,
    newAccessControl: AccessControl? = nil, applicationPassword: StretchedPassword? = nil
  ) throws(KeychainError) {
    let given = try Self.checkedClone(secret)
    try database.write { () throws(KeychainError) in
      let item = try summary(of: id, under: accessControl)
      // Also where a new one is given: what cannot be opened any more is not replaced unnoticed.
      let old = try open(item, applicationPassword)
      let attributes = try item.attributes.applying(changes)
      try attributes.validate()
      let hashes = SearchHashes(attributes, key: keys.search)
      try makeWay(for: hashes.identity, except: id)
      let control = newAccessControl ?? accessControl
      let set = control.prefersBiometrySet ? (newAccessControl == nil ? item.storedSet : try setMark()) : nil
      let body = ItemBody(attributes: attributes, created: item.created, modified: now(), biometrySet: set)
      func store(_ secret: borrowing SecretBytes) throws(KeychainError) {
        try self.store(
          body, id: id.rawValue, accessControl: control, hashes: hashes, secret: secret,
          applicationPassword: applicationPassword, as: Self.change)
      }
      switch given {
      case .some(let new):
        // What takes no more room than before is let in, also where there is too much already.
        if new.count > old.count { try requireRoom(for: new.count - old.count) }
        try store(new)
      case .none: try store(old)
      }
    }
    database.checkpoint()
  }

  /// Deletes the items that match, those that lost their secrets too, and gives their number.
  /// - Parameter all: must be true for a query that names no items. With an empty query it also deletes items that cannot
  ///   be read.
  /// - Throws: `.invalidParameter` where `all` is needed; `.tampered` for a matching item that cannot be read.
  public func delete(_ query: ItemQuery, all: Bool = false) throws(KeychainError) -> Int {
    try Self.requireNamed(query, all: all)
    let count = try database.write { () throws(KeychainError) in
      if query == ItemQuery() { return try database.run("DELETE FROM item") }
      let items = try find(query, includeInvalidated: true)
      for item in items { try database.run("DELETE FROM item WHERE id = ?", [.integer(item.id.rawValue)]) }
      return items.count
    }
    database.checkpoint()
    return count
  }

  /// Throws `.invalidParameter` for a deletion that names no items and does not say that it means all.
  public static func requireNamed(_ query: ItemQuery, all: Bool) throws(KeychainError) {
    guard all || query.namesItems else {
      throw .invalidParameter(
        "a deletion that names no service, account, server or key must say that it means all items")
    }
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
    if let error = item.state.error { throw error }
    return item
  }

  func open(
    _ item: ItemSummary, _ applicationPassword: StretchedPassword?
  ) throws(KeychainError) -> SecretBytes {
    let altered = KeychainError.tampered("item \(item.id.rawValue) of user \(user)")
    var found: [UInt8]?
    var sealed: [UInt8]?
    try database.rows("SELECT key, secret FROM item WHERE id = ?", [.integer(item.id.rawValue)]) {
      (row) throws(KeychainError) in
      found = row.blob(0)
      sealed = row.blob(1)
      return false
    }
    guard let found, let sealed else { throw altered }
    let binding = binding(
      item.id, item.attributes, item.accessControl, SearchHashes(item.attributes, key: keys.search))
    let key = try unwrap(found, item.accessControl, binding, applicationPassword)
    guard let key else { throw altered }
    guard let secret = try Sealing.open(sealed, key: key, associatedData: binding.associatedData(.itemSecret)) else {
      throw altered
    }
    return secret
  }

  /// Encrypts an item under a new key and writes it, then reads it back within the transaction: a write that could
  /// not be read again is no write.
  private func store(
    _ body: ItemBody, id: Int64, accessControl: AccessControl, hashes: SearchHashes, secret: borrowing SecretBytes,
    applicationPassword: StretchedPassword?, as statement: String
  ) throws(KeychainError) {
    let binding = binding(ItemID(id), body.attributes, accessControl, hashes)
    let key = try Sealing.newKey()
    let wrapped = try wrap(key, accessControl, binding, applicationPassword)
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
    let back = try open(try summary(of: ItemID(id), under: accessControl), applicationPassword)
    guard SecretBytes.constantTimeEqual(back, secret) else {
      throw .io("item \(id) of user \(user) could not be read back after writing")
    }
  }

  func seal(_ body: ItemBody, _ binding: ItemBinding) -> [UInt8] {
    body.bytes.withUnsafeBytes {
      Sealing.seal($0, key: keys.attributes, associatedData: binding.associatedData(.itemAttributes))
    }
  }

  func binding(
    _ id: ItemID, _ attributes: ItemAttributes, _ accessControl: AccessControl, _ hashes: SearchHashes,
    loss: ItemLoss = .none
  ) -> ItemBinding {
    ItemBinding(
      user: user, id: id.rawValue, itemClass: attributes.itemClass, accessControl: accessControl, loss: loss,
      identity: hashes.identity,
      name: keys.areNamesSearched ? hashes.identity : SearchHashes.identity(of: attributes, key: keys.names))
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
    guard try existing.summary(user: user, keys: keys).state != .present else { throw .duplicateItem }
    try database.run("DELETE FROM item WHERE id = ?", [.integer(existing.id)])
  }
}
