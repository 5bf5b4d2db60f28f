internal import SecretMemory

/// What was found out about a part of the items, and where the next one begins.
public struct ItemCheck: Sendable {
  /// How many rows were looked at.
  public var rows = 0
  /// How many secrets were decrypted and are whole.
  public var whole = 0
  /// How many could not be looked at: their class is locked, or they have a password of a program's own.
  public var unread = 0
  /// How many lost their secret, as they should.
  public var lost = 0
  /// Those that are damaged.
  public var damaged: [DamagedItem] = []
  /// The last item that was looked at; nil where there are no more after it.
  public var next: ItemID?
}

/// Looking at everything that is stored.
extension UserKeychain {
  /// What is wrong with the file, its keys and records, but for the items: one line for people each; none where all is
  /// well.
  /// - Throws: what reading the database can meet.
  public func checkFile() throws(KeychainError) -> [String] {
    var problems: [String] = []
    // SQLite's own look at its pages, indices and constraints: "ok", or a line for each thing.
    try database.rows("PRAGMA integrity_check(20)") { (row) throws(KeychainError) in
      let line = row.text(0) ?? "an unreadable line"
      if line != "ok" { problems.append("the file: \(line)") }
      return true
    }
    func look(_ what: String, _ body: () throws(KeychainError) -> Void) throws(KeychainError) {
      do throws(KeychainError) { try body() } catch {
        switch error {
        case .tampered, .unsupported, .corrupt: problems.append("\(what): \(error.description)")
        default: throw error
        }
      }
    }
    try look("the keybag") { () throws(KeychainError) in
      let slots = try KeybagSlots.read(from: database)
      if (slots[.recovery] == nil) != (slots[.recoveryOfDevice] == nil) {
        problems.append(
          "the keybag: half of the recovery key is missing; make another with: whorl recovery-key --replace")
      }
      try ClassKeys.check(database)
    }
    for protection in ClassKeys.ofPasscode where unlockState.isUnlocked {
      try look("the class key \(protection.name)") { () throws(KeychainError) in
        guard try ClassKeys.exists(ClassKeys.number(protection), in: database) else { return }
        try withRoot { root throws(KeychainError) in
          _ = try ClassKeys.open(
            ClassKeys.number(protection), root: .passcode, rootKey: root, from: database, user: user)
        }
      }
    }
    try look("the registered fingers") { () throws(KeychainError) in _ = try biometrySet() }
    try look("the trusted readers (whorl reader distrust --all empties the list)") { () throws(KeychainError) in
      _ = try trustedReaders()
    }
    try look("the owner") { () throws(KeychainError) in _ = try owner() }
    if try lockout().isDamaged {
      problems.append("the lockout record is damaged; the password renews it: whorl verify")
    }
    let highest = try database.number("SELECT max(id) FROM item") ?? 0
    let last = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'item'") ?? 0
    if highest > last { problems.append("the numbering of items was altered; nothing can be added") }
    return problems
  }

  /// Authenticates the next so many rows, and decrypts each secret that can be reached; it goes nowhere.
  ///
  /// - Parameters:
  ///   - last: the last item that was looked at, from the part before; nil for the first.
  ///   - count: the most rows to look at; at least 1.
  /// - Throws: what reading the database can meet.
  public func checkItems(after last: ItemID? = nil, count: Int) throws(KeychainError) -> ItemCheck {
    let page = try page(ItemQuery(), after: last, count: count, includeInvalidated: true)
    var check = ItemCheck(rows: page.items.count + page.damaged.count, damaged: page.damaged, next: page.next)
    for item in page.items {
      guard item.state == .present else {
        check.lost += 1
        continue
      }
      do throws(KeychainError) {
        guard !item.accessControl.needsApplicationPassword else {
          // The outer layer at least.
          _ = try isReachable(item)
          check.unread += 1
          continue
        }
        _ = try secret(of: item.id, under: item.accessControl)
        check.whole += 1
      } catch {
        switch error {
        case .locked: check.unread += 1
        // Deleted by another connection meanwhile.
        case .itemNotFound: check.rows -= 1
        case .tampered, .unsupported, .invalidParameter:
          check.damaged.append(DamagedItem(id: item.id, error: error))
        default: throw error
        }
      }
    }
    return check
  }

  /// Throws where what the class key wraps of an item was altered.
  private func isReachable(_ item: ItemSummary) throws(KeychainError) {
    let binding = binding(
      item.id, item.attributes, item.accessControl, SearchHashes(item.attributes, key: keys.search))
    guard let wrapped = try database.blob("SELECT key FROM item WHERE id = ?", [.integer(item.id.rawValue)]),
      try programsPart(wrapped, try wrappingKey(item.accessControl), binding) != nil
    else { throw .tampered("item \(item.id.rawValue) of user \(user)") }
  }
}
