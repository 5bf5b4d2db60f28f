public import Keychain
public import SecretMemory

/// What a look at a whole keychain found.
public struct KeychainReport: Sendable, Equatable {
  /// How many items there are.
  public var items = 0
  /// How many secrets were decrypted and are whole.
  public var whole = 0
  /// How many could not be looked at: locked, or with a password of a program's own.
  public var unread = 0
  /// How many lost their secret, as they should.
  public var lost = 0
  /// What is wrong, one line for people each; the first hundred.
  public var problems: [String] = []
  /// How many things are wrong.
  public var problemCount = 0
}

extension Enclave {
  private static let mostProblems = 100

  static let busyWithUpkeep = EnclaveError.busy(
    "your keychain is being checked, given new keys or emptied; try again when that has ended")

  /// Runs `body`, which goes through all of a user's keychain in parts, where nothing else does.
  private func upkeep<R: Sendable>(
    of user: UserID, _ body: () async throws(EnclaveError) -> R
  ) async throws(EnclaveError) -> R {
    guard !upkeeps.contains(user) else { throw Self.busyWithUpkeep }
    upkeeps.insert(user)
    shelf.pin(user, true)
    defer {
      upkeeps.remove(user)
      // A backup began before, if there is one: only a check can be beside it.
      shelf.pin(user, backups.contains(user))
    }
    return try await body()
  }

  /// As `upkeep`, for what changes it.
  private func change<R: Sendable>(
    of user: UserID, _ body: () async throws(EnclaveError) -> R
  ) async throws(EnclaveError) -> R {
    guard !backups.contains(user) else {
      throw .busy("an export or import of yours is under way; try again when that has ended")
    }
    return try await upkeep(of: user, body)
  }

  /// Looks at everything in a user's keychain, without a prompt: secrets are decrypted to see that they are whole, and go
  /// nowhere. In between others have their turn at the enclave.
  /// - Throws: `.keychain` where it cannot be had at all; `.busy` where another one is under way; `.appCancel`.
  public func checkKeychain(of user: UserID) async throws(EnclaveError) -> KeychainReport {
    try await upkeep(of: user) { () async throws(EnclaveError) in try await self.look(at: user) }
  }

  private func look(at user: UserID) async throws(EnclaveError) -> KeychainReport {
    var report = KeychainReport()
    func note(_ lines: [String]) {
      report.problemCount += lines.count
      report.problems += lines.prefix(Self.mostProblems - report.problems.count)
    }
    // Opened first: one that cannot be had is an error.
    let records = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.checkRecords() }
    do { note(try await storeWork.integrity(shelf.directory(of: user))) } catch { throw .keychain(error) }
    note(records)
    var last: ItemID?
    repeat {
      guard !Task.isCancelled else { throw .appCancel }
      let part = try withKeychain(of: user) { keychain throws(KeychainError) in
        try keychain.checkItems(after: last, count: Limits.searchRows, bytes: Self.backupBytes)
      }
      report.items += part.rows
      report.whole += part.whole
      report.unread += part.unread
      report.lost += part.lost
      note(part.damaged.map(\.error.description))
      last = part.next
      if last != nil { await pauseBackup() }
    } while last != nil
    return report
  }

  /// Gives a user's keychain new keys and encrypts every secret anew; takes the passcode, which is checked and counted as
  /// in `providePasscode`. The recovery key ends. Others have their turn at the enclave meanwhile; changes to that user's
  /// keychain are refused.
  /// - Returns: how many secrets were encrypted anew.
  /// - Throws: as `providePasscode`; `.formerPasscodeNeeded`; `.busy` where another upkeep or backup of this user's is under
  ///   way; `.appCancel`; `.keychain`, naming the first item that is damaged, or `.locked` after a logout in the middle. Then
  ///   nothing was changed.
  public func rekey(
    _ context: ContextID, owner: ContextOwner, passcode: consuming SecretBytes
  ) async throws(EnclaveError) -> Int {
    let held = HeldSecret(passcode)
    return try await change(of: owner.user) { () async throws(EnclaveError) in
      try await self.rekey(context, owner, held)
    }
  }

  private func rekey(
    _ context: ContextID, _ owner: ContextOwner, _ passcode: HeldSecret
  ) async throws(EnclaveError) -> Int {
    let user = owner.user
    try await providePasscode(context, owner: owner, passcode: try passcode.clone())
    guard contexts[context]?.takeForItem(.passcode, at: clock.uptime()) == true else {
      throw .passcodeNeeded(.required)
    }
    guard pendingPasscodes[user] == nil else { throw .formerPasscodeNeeded }
    let stretched: StretchedPassword
    do {
      stretched = try await stretching.stretch(passcode, StretchingParameters(cost: stretchingCost))
    } catch {
      throw .keychain(error)
    }
    try requireContext(context, owner)
    let count = try await encryptAnew(context, owner, stretched)
    await storeWork.checkpoint(shelf.directory(of: user))
    do { try await allowRescueIfDue(of: user, by: passcode) } catch {
      // The next passcode makes up for it.
    }
    return count
  }

  private func encryptAnew(
    _ context: ContextID, _ owner: ContextOwner, _ passcode: StretchedPassword
  ) async throws(EnclaveError) -> Int {
    let user = owner.user
    let rekey = try Self.keychain { () throws(KeychainError) in try shelf.rekey(user, passcode: passcode) }
    while try Self.keychain({ () throws(KeychainError) in try rekey.step(rows: Self.backupRows) }) {
      await pauseBackup()
      guard !Task.isCancelled else { throw .appCancel }
      // Others had their turn since: whoever asked must still be there, and so must the account.
      try requireContext(context, owner)
    }
    try Self.keychain { () throws(KeychainError) in try rekey.commit() }
    // It has the old keys.
    shelf.close(user)
    return rekey.count
  }

  /// Deletes the items that match; never prompts. Where they may be many, others have their turn at the enclave meanwhile.
  /// - Parameter all: must be true for a query that names neither service nor account.
  /// - Returns: how many there were, at least 1.
  /// - Throws: `.keychain(.itemNotFound)` where none matched; `.busy` where many are to go and another upkeep or backup of
  ///   this user's is under way; `.appCancel`; then nothing was deleted.
  public func delete(user: UserID, query: ItemQuery, all: Bool = false) async throws(EnclaveError) -> Int {
    let count: Int? = try withKeychain(of: user) { keychain throws(KeychainError) in
      try UserKeychain.requireNamed(query, all: all)
      let page = try keychain.page(query, count: Self.backupRows, includeInvalidated: true)
      return page.next == nil ? try keychain.delete(query, all: all) : nil
    }
    let deleted: Int =
      if let count {
        count
      } else {
        try await change(of: user) { () async throws(EnclaveError) in try await self.deleteMany(query, of: user) }
      }
    guard deleted > 0 else { throw .keychain(.itemNotFound) }
    return deleted
  }

  private func deleteMany(_ query: ItemQuery, of user: UserID) async throws(EnclaveError) -> Int {
    let deletion = try withKeychain(of: user) { keychain throws(KeychainError) in
      try KeychainDeletion(of: query, in: keychain)
    }
    while try Self.keychain({ () throws(KeychainError) in try deletion.step(rows: Self.backupRows) }) {
      await pauseBackup()
      guard !Task.isCancelled else { throw .appCancel }
    }
    try Self.keychain { () throws(KeychainError) in try deletion.commit() }
    await storeWork.checkpoint(shelf.directory(of: user))
    return deletion.count
  }
}
