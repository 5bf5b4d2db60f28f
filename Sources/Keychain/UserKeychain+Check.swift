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
  /// What is wrong with the file, its keys and records, but for the items: one line for people each; none where all is well.
  /// Takes as long as the file is large.
  /// - Throws: what reading the database can meet.
  public func checkFile() throws(KeychainError) -> [String] {
    try StoreUpkeep.integrity(of: database) + checkRecords()
  }

  /// What is wrong with keys and records, but for the items: one line for people each; none where all is well. For the file
  /// itself there is `StoreUpkeep.integrity`.
  /// - Throws: what reading the database can meet.
  public func checkRecords() throws(KeychainError) -> [String] {
    var problems: [String] = []
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
  ///   - bytes: of their secrets; with more the part ends.
  /// - Throws: what reading the database can meet.
  public func checkItems(
    after last: ItemID? = nil, count: Int, bytes limit: Int = .max
  ) throws(KeychainError) -> ItemCheck {
    let page = try page(ItemQuery(), after: last, count: count, includeInvalidated: true)
    var check = ItemCheck(next: page.next)
    var bytes = 0
    for item in page.items where bytes <= limit {
      check.rows += 1
      bytes += try look(at: item, &check)
      if bytes > limit { check.next = item.id }
    }
    let looked = check.next?.rawValue ?? .max
    let damaged = page.damaged.filter { $0.id.rawValue <= looked }
    check.rows += damaged.count
    check.damaged += damaged
    return check
  }

  /// Gives how many bytes its secret has.
  private func look(at item: ItemSummary, _ check: inout ItemCheck) throws(KeychainError) -> Int {
    guard item.state == .present else {
      check.lost += 1
      return 0
    }
    do throws(KeychainError) {
      guard !item.accessControl.needsApplicationPassword else {
        // The outer layer at least.
        try requireReachable(item)
        check.unread += 1
        return 0
      }
      let secret = try secret(of: item.id, under: item.accessControl)
      check.whole += 1
      return secret.count
    } catch {
      switch error {
      case .locked: check.unread += 1
      // Deleted by another connection meanwhile.
      case .itemNotFound: check.rows -= 1
      case .tampered, .unsupported, .invalidParameter:
        check.damaged.append(DamagedItem(id: item.id, error: error))
      default: throw error
      }
      return 0
    }
  }

  /// Throws where what the class key wraps of an item was altered.
  private func requireReachable(_ item: ItemSummary) throws(KeychainError) {
    let binding = binding(
      item.id, item.attributes, item.accessControl, SearchHashes(item.attributes, key: keys.search))
    guard let wrapped = try database.blob("SELECT key FROM item WHERE id = ?", [.integer(item.id.rawValue)]),
      try programsPart(wrapped, try wrappingKey(item.accessControl), binding) != nil
    else { throw .tampered("item \(item.id.rawValue) of user \(user)") }
  }
}
