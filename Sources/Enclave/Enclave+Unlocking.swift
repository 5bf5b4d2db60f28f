public import Keychain
public import SecretMemory

/// What a user's sessions are, as the login manager tells.
public enum SessionLocks: Sendable, Hashable {
  /// The user has no session any more: logged out.
  case none
  /// The user has graphical sessions, and every one is locked.
  case allLocked
  /// A graphical one at least is not locked, or there are only others (a console, ssh).
  case open
}

/// What the enclave remembers of a user's sessions.
struct SessionLockState {
  var locks: SessionLocks
  /// `EnclaveClock.uptime()` when the sessions were last locked.
  var lockedAt: Int64
  /// When the enclave last saw a registered finger or the right passcode of the user; before the first: the past.
  var seenAt: Int64 = .min
}

/// When the class keys of a user come and go.
extension Enclave {
  // MARK: Sessions

  /// The sessions of a user changed. A logout forgets the keys; a lock puts those of unlocked sessions out of reach, and
  /// after it the word of the session that it is unlocked is not enough: any program of the user's can say that. A
  /// registered finger or the passcode must have been seen since.
  public func sessionsChanged(of user: UserID, to locks: SessionLocks) {
    var state = sessions[user] ?? SessionLockState(locks: .open, lockedAt: .min)
    switch locks {
    case .none:
      sessions[user] = nil
      lockKeys(of: user)
      return
    case .allLocked:
      if state.locks != .allLocked {
        state.lockedAt = clock.uptime()
        for (id, context) in contexts where context.owner.user == user { contexts[id]?.forgetAll() }
        shelf.unlockState(of: user).isSessionLocked = true
      }
    case .open: break
    }
    state.locks = locks
    sessions[user] = state
    unlockSessionIfDue(user)
  }

  /// A registered finger or the right passcode of the user was seen just now.
  func sawOwner(_ user: UserID) {
    guard sessions[user] != nil else { return }
    sessions[user]?.seenAt = clock.uptime()
    unlockSessionIfDue(user)
  }

  private func unlockSessionIfDue(_ user: UserID) {
    guard let state = sessions[user], state.locks == .open, state.seenAt >= state.lockedAt else { return }
    shelf.unlockState(of: user).isSessionLocked = false
  }

  /// Forgets the keys that need the passcode: it has to be given again.
  public func lockKeys(of user: UserID) {
    pendingPasscodes[user] = nil
    lockings[user, default: 0] += 1
    let state = shelf.unlockState(of: user)
    state.lock()
    state.isSessionLocked = sessions[user]?.locks == .allLocked
  }

  /// Whether the keys of anybody are unlocked, which would be lost with the process.
  public var hasUnlockedKeys: Bool { !shelf.unlockedUsers.isEmpty }

  /// The users whose keys are unlocked.
  public var unlockedUsers: [UserID] { shelf.unlockedUsers }

  // MARK: The passcode

  /// The passcode of a user is right: it unlocks, and where it was changed while the keys are unlocked it takes the former
  /// one's place. Where it cannot (changed behind our back), it waits for the former one. What fails here shows when the
  /// keys are wanted.
  /// - Parameter locking: of `lockings` when the passcode was given: keys that were locked since stay locked.
  func unlockKeybag(of user: UserID, with passcode: HeldSecret, unlessLockedSince locking: UInt64?) async {
    guard lockings[user] == locking else { return }
    do {
      let known = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.passcodeParameters() }
      if let known {
        let stretched = try await stretching.stretch(passcode, known)
        guard lockings[user] == locking else { return }
        let isOpen = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.unlock(with: stretched)
        }
        guard !isOpen else {
          pendingPasscodes[user] = nil
          return try await allowRescueIfDue(of: user, by: passcode)
        }
      }
      let fresh = try await stretching.stretch(passcode, StretchingParameters(cost: stretchingCost))
      guard lockings[user] == locking else { return }
      let isSet = try withKeychain(of: user) { keychain throws(KeychainError) in
        // Looked at again: others had the enclave meanwhile.
        guard try keychain.keybagState() != .locked else { return false }
        try keychain.setPasscode(fresh)
        return true
      }
      pendingPasscodes[user] = isSet ? nil : fresh
      if isSet { try await allowRescueIfDue(of: user, by: passcode) }
    } catch {
      // The passcode is right all the same.
    }
  }

  /// Gives the passcode that the account had before, once, after it was changed without Whorl: unlocks, and from then on
  /// the one that was given before this counts.
  /// - Throws: `.parameter` where none is waited for; `.authenticationFailed`; `.invalidContext`; `.busy`; `.keychain`.
  public func provideFormerPasscode(
    _ context: ContextID, owner: ContextOwner, passcode: consuming SecretBytes
  ) async throws(EnclaveError) {
    try requireContext(context, owner)
    try await takeFormerPasscode(of: owner.user, passcode)
  }

  /// What `provideFormerPasscode` does, for no context.
  func takeFormerPasscode(of user: UserID, _ passcode: consuming SecretBytes) async throws(EnclaveError) {
    try Self.check(passcode)
    guard pendingPasscodes[user] != nil else {
      throw .parameter("no former password is waited for; give the login password first")
    }
    guard passcodeChecks.insert(user).inserted else {
      throw .busy("a password of user \(user) is being checked already; try again when that has ended")
    }
    defer { passcodeChecks.remove(user) }
    let attempt = HeldSecret(passcode)
    let known = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.passcodeParameters() }
    guard let known else { throw .keychain(.locked(.afterFirstUnlock)) }
    // Counted as the passcode itself is: whoever knows the new one must not try the old ones without end.
    let seconds = try passcodeWait(of: user)
    guard seconds == 0 else { throw .passcodeDelayed(seconds: seconds) }
    let before = try charge(user)
    let stretched: StretchedPassword
    do { stretched = try await stretching.stretch(attempt, known) } catch { throw .keychain(error) }
    guard let pending = pendingPasscodes[user] else {
      throw .parameter("no former password is waited for any more; give the login password first")
    }
    let isRight = try withKeychain(of: user) { keychain throws(KeychainError) in
      guard try keychain.unlock(with: stretched) else { return false }
      try keychain.setPasscode(pending)
      return true
    }
    guard isRight else {
      throw .authenticationFailed(
        "that is not the password that last opened the keychain; give that one, or the recovery key")
    }
    try restore(before, of: user)
    pendingPasscodes[user] = nil
  }

  // MARK: The recovery key

  /// Gives the recovery key to a context: unlocks the keys, and counts there as finger and passcode, so that what is bound
  /// to a reader that is broken can be read.
  /// - Throws: `.authenticationFailed`, `.invalidContext`, `.keychain`.
  public func provideRecoveryKey(
    _ context: ContextID, owner: ContextOwner, key typed: consuming SecretBytes
  ) async throws(EnclaveError) {
    let held = HeldSecret(typed)
    try await noting(owner, "give-recovery-key") { () async throws(EnclaveError) in
      try self.takeRecoveryKey(context, owner, try held.clone())
    }
  }

  private func takeRecoveryKey(
    _ context: ContextID, _ owner: ContextOwner, _ typed: consuming SecretBytes
  ) throws(EnclaveError) {
    try requireContext(context, owner)
    let user = owner.user
    let isRight: Bool
    do {
      let keychain = try shelf.keychain(of: user)
      switch try RecoveryKey(typed: typed) {
      case .some(let key): isRight = try keychain.unlock(with: key)
      case .none:
        throw EnclaveError.authenticationFailed("that is no recovery key: a character is wrong or missing; look again")
      }
      if isRight, let pending = pendingPasscodes.removeValue(forKey: user) { try keychain.setPasscode(pending) }
    } catch {
      throw error as? EnclaveError ?? .keychain(error as? KeychainError ?? .io("\(error)"))
    }
    guard isRight else {
      throw .authenticationFailed(Self.wrongRecoveryKey)
    }
    sawOwner(user)
    contexts[context]?.touched(at: clock.uptime())
    contexts[context]?.passcodeGiven(at: clock.uptime())
    passcodeArrived(in: context)
  }

  /// Makes a recovery key in the place of the one there was; needs the passcode in the context. What is returned is all
  /// there is of it: 41 bytes to write down.
  /// - Throws: `.passcodeNeeded`, `.formerPasscodeNeeded`, `.passcodeNotSet`, `.invalidContext`, `.keychain`.
  public func makeRecoveryKey(_ context: ContextID, owner: ContextOwner) async throws(EnclaveError) -> SecretBytes {
    try await noting(owner, "make-recovery-key") { () async throws(EnclaveError) in
      try await self.requirePasscode(context, owner)
      return try self.withKeychain(of: owner.user) { keychain throws(KeychainError) in
        try keychain.makeRecoveryKey().text()
      }
    }
  }

  /// Takes the recovery key back; needs the passcode in the context.
  /// - Returns: whether there was one.
  /// - Throws: as `makeRecoveryKey`.
  public func revokeRecoveryKey(_ context: ContextID, owner: ContextOwner) async throws(EnclaveError) -> Bool {
    try await requirePasscode(context, owner)
    return try withKeychain(of: owner.user) { keychain throws(KeychainError) in try keychain.revokeRecoveryKey() }
  }

  /// The passcode, taken from the context, and unlocked keys. No `await` between this and what it is for.
  private func requirePasscode(_ context: ContextID, _ owner: ContextOwner) async throws(EnclaveError) {
    guard try !requireContext(context, owner).interactionNotAllowed else { throw .notInteractive }
    try await requirePasscode(in: context, owner, mustBeUnlocked: true)
    guard pendingPasscodes[owner.user] == nil else { throw .formerPasscodeNeeded }
  }

  // MARK: What a class needs

  /// What has to be shown before items of a class can be reached; nil for nothing.
  /// - Throws: `.keychain(.locked)` while the sessions are locked, `.formerPasscodeNeeded`.
  func needToUnlock(
    _ protection: ProtectionClass, of user: UserID
  ) throws(EnclaveError) -> AuthenticationContext.Need? {
    guard protection.needsPasscode else { return nil }
    switch try withKeychain(of: user, { keychain throws(KeychainError) in try keychain.keybagState() }) {
    case .unlocked: return nil
    case .sessionLocked:
      guard protection.endsAtSessionLock else { return nil }
      guard sessions[user]?.locks != .allLocked else { throw .keychain(.locked(protection)) }
      return .presence
    case .locked, .unused:
      guard pendingPasscodes[user] == nil else { throw .formerPasscodeNeeded }
      return .passcode
    }
  }

  /// Whether the account still has its password: items that were to end with it end where it was seen to be removed.
  /// To be called at the daemon's start, and before what needs it.
  public func lookForPasscode(of user: UserID) async {
    guard await passcodes.state(of: user) == .removed else { return }
    _ = try? withKeychain(of: user) { keychain throws(KeychainError) in try keychain.destroyItemsOfPasscode() }
  }
}
