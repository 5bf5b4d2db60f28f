internal import Keychain
internal import KeychainArchive
internal import SecretMemory

/// What an export and an import both need.
extension Enclave {
  /// So many exports and imports write at once: each may take 256 MiB.
  static let backupsAtOnce = 2
  /// So many items of one are handled before others have their turn at the enclave.
  static let backupRows = 32
  /// Or so many bytes of their secrets.
  static let backupBytes = 256 << 10

  /// Asks for all that `needs` names, each once, and takes it from the context: for use at once.
  func satisfy(
    _ needs: BackupNeeds, _ context: ContextID, _ owner: ContextOwner, _ options: VerificationOptions,
    _ progress: @escaping ProgressHandler
  ) async throws(EnclaveError) {
    for protection in needs.protections where protection.endsWithPasscode { await lookForPasscode(of: owner.user) }
    var touch: Touch?
    while let (need, isLocked) = try missing(needs, touch, context, owner, takes: true) {
      touch = try await ask(context, owner, need, options, progress, isLocked: isLocked) ?? touch
    }
  }

  /// What is missing of `needs`, without any await; nil where all is there, which is then used up where `takes` says so.
  func missing(
    _ needs: BackupNeeds, _ touch: Touch?, _ id: ContextID, _ owner: ContextOwner, takes: Bool = false
  ) throws(EnclaveError) -> (need: AuthenticationContext.Need, isLocked: Bool)? {
    guard !Task.isCancelled else { throw .appCancel }
    var context = try requireContext(id, owner)
    let now = clock.uptime()
    for protection in needs.protections {
      if let need = try needToUnlock(protection, of: owner.user) { return (need, true) }
    }
    if let touch { try requireForSecrets(touch, of: owner.user) }
    if needs.passcode, !context.takePasscodeForKeys(at: now) { return (.passcode, false) }
    if needs.biometry, touch == nil, !context.takeForItem(.biometry, at: now) { return (.biometry, false) }
    if needs.presence, !needs.passcode, !needs.biometry, touch == nil, !context.takeForItem(.presence, at: now) {
      return (.presence, false)
    }
    if takes { contexts[id] = context }
    return nil
  }

  /// The key of an export file, while others have the enclave.
  func archiveKey(
    _ passphrase: consuming SecretBytes, of user: UserID,
    _ body: @escaping @Sendable (borrowing SecretBytes) throws(ArchiveError) -> ArchiveKey
  ) async throws(EnclaveError) -> ArchiveKey {
    let held = HeldSecret(passphrase)
    guard derivations.insert(user).inserted else {
      throw .busy("a passphrase of yours is being looked at; try again when that has ended")
    }
    defer { derivations.remove(user) }
    do { return try await passphrases.key(held, body) } catch {
      guard !Task.isCancelled else { throw .appCancel }
      throw .archive(error)
    }
  }

  /// Runs `body` where neither another backup of this user's writes nor too many of others'.
  func alone<R: Sendable>(
    _ user: UserID, _ body: () async throws(EnclaveError) -> R
  ) async throws(EnclaveError) -> R {
    try requireRoom(for: user)
    backups.insert(user)
    shelf.pin(user, true)
    defer {
      backups.remove(user)
      shelf.pin(user, false)
    }
    return try await body()
  }

  /// Throws where another backup of this user's writes, or too many of others'.
  func requireRoom(for user: UserID) throws(EnclaveError) {
    guard !backups.contains(user) else {
      throw .busy("an export or import of yours is under way; try again when that has ended")
    }
    guard !upkeeps.contains(user) else { throw Self.busyWithUpkeep }
    guard backups.count < Self.backupsAtOnce else {
      throw .busy("others export or import now, and more at once would take too much memory; try again in a moment")
    }
  }

  /// Lets others have their turn at the enclave.
  func pauseBackup() async {
    await elsewhere.pause()
    await betweenBackupParts?()
  }

  func archived<R: ~Copyable>(_ body: () throws(ArchiveError) -> R) throws(EnclaveError) -> R {
    do throws(ArchiveError) { return try body() } catch { throw .archive(error) }
  }
}
