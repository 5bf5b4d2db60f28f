internal import Keychain
public import KeychainArchive
public import SecretMemory
internal import Synchronization

extension Enclave {
  /// So many exports and imports derive a key or write at once: each may take 256 MiB.
  static let backupsAtOnce = 2
  /// So many items of one are handled before others have their turn at the enclave.
  static let backupRows = 32
  /// Or so many bytes of their secrets.
  static let backupBytes = 256 << 10

  /// Writes the whole keychain into an export file, once the context has the passcode and, where an item asks for a
  /// finger, one was touched.
  ///
  /// - Parameters:
  ///   - file: where to write, which must never make anybody wait: a memory file. What is in it after an error is nothing.
  ///   - passphrase: of 1 to 1024 bytes.
  /// - Throws: as `copySecret`; `.archive`; `.busy` where too many others run, or where the keychain got an item meanwhile
  ///   that asks for more than was shown.
  public func export(
    _ context: ContextID, owner: ContextOwner, into file: Int32, passphrase: consuming SecretBytes,
    cost: ArchiveCost = .standard, options: VerificationOptions = VerificationOptions(),
    progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> ExportSummary {
    try requireContext(context, owner)
    try requireRoom(for: owner.user)
    let needs = try await needsOfExport(owner.user)
    // The passcode first: nobody computes, or touches the reader, for nothing.
    if let missing = try missing(BackupNeeds(passcode: true), nil, context, owner) {
      _ = try await ask(context, owner, missing, options, progress)
    }
    let key = try await derive(passphrase, of: owner.user) { words throws(ArchiveError) in
      try ArchiveKey.make(passphrase: words, cost: cost)
    }
    try await satisfy(needs, context, owner, options, progress)
    return try await alone(owner.user) { () async throws(EnclaveError) in
      try await self.write(key, needs, to: file, context, owner)
    }
  }

  /// The passcode, and what the items ask for that go out.
  private func needsOfExport(_ user: UserID) async throws(EnclaveError) -> BackupNeeds {
    var needs = BackupNeeds(passcode: true)
    var last: ItemID?
    repeat {
      guard !Task.isCancelled else { throw .appCancel }
      let page = try withKeychain(of: user) { keychain throws(KeychainError) in
        try keychain.page(ItemQuery(), after: last, count: Limits.searchRows)
      }
      for item in page.items where Self.isExported(item) { needs.include(item.accessControl) }
      last = page.next
      if last != nil { await elsewhere.pause() }
    } while last != nil
    return needs
  }

  /// The items, page by page, into the file.
  private func write(
    _ key: borrowing ArchiveKey, _ needs: BackupNeeds, to file: Int32, _ context: ContextID, _ owner: ContextOwner
  ) async throws(EnclaveError) -> ExportSummary {
    let writer = try archived { () throws(ArchiveError) in try ArchiveWriter(to: file, key: key) }
    var summary = ExportSummary()
    var last: ItemID?
    var rows = Self.backupRows
    repeat {
      // What was shown counts for as long as whoever showed it is there.
      try requireContext(context, owner)
      guard !Task.isCancelled else { throw .appCancel }
      var bytes = 0
      let page = try withKeychain(of: owner.user) { keychain throws(KeychainError) in
        try keychain.page(ItemQuery(), after: last, count: rows, includeInvalidated: true)
      }
      summary.unreadable += page.damaged.count
      for item in page.items {
        guard Self.isExported(item, counting: &summary) else { continue }
        var own = BackupNeeds()
        own.include(item.accessControl)
        guard needs.covers(own) else {
          throw .busy("the keychain got an item meanwhile that asks for a finger; export it again")
        }
        guard let secret = try secretForExport(item, owner.user) else {
          summary.unreadable += 1
          continue
        }
        bytes += secret.count
        let portable = PortableItem(item)
        try archived { () throws(ArchiveError) in
          try writer.write(
            attributes: portable.attributeBytes, accessControl: portable.accessControlBytes, secret: secret)
        }
        summary.exported += 1
      }
      // Large secrets come in small pages.
      rows = bytes > Self.backupBytes ? 1 : Self.backupRows
      last = page.next
      if last != nil { await elsewhere.pause() }
    } while last != nil
    try archived { () throws(ArchiveError) in try writer.finish() }
    return summary
  }

  /// Nil where the item was altered: the others are not affected.
  private func secretForExport(_ item: ItemSummary, _ user: UserID) throws(EnclaveError) -> SecretBytes? {
    do throws(EnclaveError) {
      return try withKeychain(of: user) { keychain throws(KeychainError) in
        try keychain.secret(of: item.id, under: item.accessControl)
      }
    } catch {
      guard case .keychain(.tampered) = error else { throw error }
      return nil
    }
  }

  private static func isExported(_ item: ItemSummary) -> Bool {
    var ignored = ExportSummary()
    return isExported(item, counting: &ignored)
  }

  /// Whether an item goes out; where it does not, its reason is counted.
  private static func isExported(_ item: ItemSummary, counting summary: inout ExportSummary) -> Bool {
    if case .invalidated = item.state {
      summary.gone += 1
    } else if item.accessControl.protection.isThisDeviceOnly {
      summary.thisDeviceOnly += 1
    } else if item.accessControl.constraints.contains(.applicationPassword) {
      summary.applicationPassword += 1
    } else if item.accessControl.constraints.contains(.privateKeyUsage) {
      summary.privateKeys += 1
    } else {
      return true
    }
    return false
  }

  // MARK: - What both take

  /// Asks for all that `needs` names, each once, and takes it from the context: for use at once.
  func satisfy(
    _ needs: BackupNeeds, _ context: ContextID, _ owner: ContextOwner, _ options: VerificationOptions,
    _ progress: @escaping ProgressHandler
  ) async throws(EnclaveError) {
    var touch: Touch?
    while let need = try missing(needs, touch, context, owner, takes: true) {
      touch = try await ask(context, owner, need, options, progress)
    }
  }

  /// What is missing of `needs`, without any await; nil where all is there, which is then used up where `takes` says so.
  private func missing(
    _ needs: BackupNeeds, _ touch: Touch?, _ id: ContextID, _ owner: ContextOwner, takes: Bool = false
  ) throws(EnclaveError) -> AuthenticationContext.Need? {
    guard !Task.isCancelled else { throw .appCancel }
    var context = try requireContext(id, owner)
    let now = clock.uptime()
    if let touch, !isRegistered(touch.print, user: owner.user) { throw .denied(Self.notRegistered(touch)) }
    if needs.passcode, !context.takeForItem(.passcode, at: now) { return .passcode }
    if needs.biometry, touch == nil, !context.takeForItem(.biometry, at: now) { return .biometry }
    if needs.presence, !needs.passcode, !needs.biometry, touch == nil, !context.takeForItem(.presence, at: now) {
      return .presence
    }
    if takes { contexts[id] = context }
    return nil
  }

  /// Makes or checks a key, on a thread of its own.
  func derive(
    _ passphrase: consuming SecretBytes, of user: UserID,
    _ body: @escaping @Sendable (borrowing SecretBytes) throws(ArchiveError) -> ArchiveKey
  ) async throws(EnclaveError) -> ArchiveKey {
    let derivation = Derivation(passphrase)
    let hasRun = try await alone(user) { () async throws(EnclaveError) in
      await OwnThread.run { derivation.run(body) }
    }
    guard hasRun else { throw .failed("no thread could be started for the passphrase; try again") }
    return try archived { () throws(ArchiveError) in try derivation.key() }
  }

  /// Runs `body` where neither another backup of this user's runs nor too many of others'.
  func alone<R: ~Copyable & Sendable>(
    _ user: UserID, _ body: () async throws(EnclaveError) -> R
  ) async throws(EnclaveError) -> R {
    try requireRoom(for: user)
    backups.insert(user)
    defer { backups.remove(user) }
    return try await body()
  }

  /// Throws where another backup of this user's runs, or too many of others'.
  func requireRoom(for user: UserID) throws(EnclaveError) {
    guard !backups.contains(user) else {
      throw .busy("an export or import of yours is under way; try again when that has ended")
    }
    guard backups.count < Self.backupsAtOnce else {
      throw .busy("others export or import now, and more at once would take too much memory; try again in a moment")
    }
  }

  func archived<R: ~Copyable>(_ body: () throws(ArchiveError) -> R) throws(EnclaveError) -> R {
    do throws(ArchiveError) { return try body() } catch { throw .archive(error) }
  }
}

/// A passphrase on its way to a thread, and the key that comes back: a closure cannot take noncopyable values with it.
private final class Derivation: Sendable {
  private struct State: ~Copyable {
    var passphrase: SecretBytes?
    var key: ArchiveKey?
    var problem: ArchiveError?
  }

  private let state: Mutex<State>

  init(_ passphrase: consuming SecretBytes) { state = Mutex(State(passphrase: passphrase)) }

  func run(_ body: (borrowing SecretBytes) throws(ArchiveError) -> ArchiveKey) {
    guard let passphrase = state.withLock({ $0.passphrase.take() }) else { return }
    do throws(ArchiveError) {
      let key = try body(passphrase)
      store(key)
    } catch {
      state.withLock { $0.problem = error }
    }
  }

  private func store(_ key: consuming ArchiveKey) {
    var key: ArchiveKey? = consume key
    state.withLock { $0.key = key.take() }
  }

  func key() throws(ArchiveError) -> ArchiveKey {
    if let problem = state.withLock({ $0.problem }) { throw problem }
    guard let key = state.withLock({ $0.key.take() }) else { throw .wrongPassphrase }
    return key
  }
}
