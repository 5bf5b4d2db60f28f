public import Keychain
public import SecretMemory

/// The way back after the device key is lost: firmware that changed under a TPM, another machine, a disk restored without
/// systemd's host key.
extension Enclave {
  /// What can bring a user's keychain back without its device key; nil where nothing has to.
  /// - Throws: `.keychain` for other troubles of the store.
  public func waysBack(of user: UserID) throws(EnclaveError) -> UserKeychain.WaysBack? {
    do { return try shelf.waysBack(of: user) } catch { throw .keychain(error) }
  }

  /// Brings the caller's keychain back with the recovery key, under the machine's device key, or a new one where that
  /// cannot be had. It is unlocked then.
  ///
  /// The key proves itself on the keychain before anything is changed; 160 random bits need no count of attempts.
  /// - Throws: `.authenticationFailed`; `.parameter` where nothing has to be brought back; `.keychain`.
  public func recover(owner: ContextOwner, recoveryKey typed: consuming SecretBytes) async throws(EnclaveError) {
    try requireLoss(of: owner.user)
    let held = HeldSecret(typed)
    try await noting(owner, "recover") { () async throws(EnclaveError) in
      try self.recover(owner.user, by: try held.clone())
    }
  }

  private func recover(_ user: UserID, by typed: consuming SecretBytes) throws(EnclaveError) {
    guard let key = try Self.keychain({ () throws(KeychainError) in try RecoveryKey(typed: typed) }) else {
      throw .authenticationFailed("that is no recovery key: a character is wrong or missing; look again")
    }
    let directory = shelf.directory(of: user)
    guard
      let rescued = try Self.keychain({ () throws(KeychainError) in
        try UserKeychain.rescue(inDirectory: directory, user: user, by: key)
      })
    else {
      throw .authenticationFailed(Self.wrongRecoveryKey)
    }
    do { try shelf.adopt(rescued, of: user) } catch { throw .keychain(error) }
  }

  /// Brings the caller's keychain back with the passcode, where its device key was sealed to a TPM.
  ///
  /// Attempts are counted as those of `providePasscode` are, in a file of their own (`RecoveryAttempts`) while the
  /// keychain is out of reach: each counts as a wrong one before it is looked at, and stays so unless it proves right.
  /// - Throws: `.authenticationFailed`, `.passcodeDelayed`, `.passcodeNotSet`; `.parameter` where nothing has to be brought
  ///   back, or only the recovery key can; `.busy`; `.keychain`, also where the attempt cannot be recorded.
  public func recover(owner: ContextOwner, passcode: consuming SecretBytes) async throws(EnclaveError) {
    try Self.check(passcode)
    let user = owner.user
    guard let slots = try requireLoss(of: user).passcode else {
      throw .parameter("the login password alone cannot bring these secrets back; use the recovery key")
    }
    guard passcodeChecks.insert(user).inserted else {
      throw .busy("a password of user \(user) is being checked already; try again when that has ended")
    }
    defer { passcodeChecks.remove(user) }
    let attempt = HeldSecret(passcode)
    try await noting(owner, "recover") { () async throws(EnclaveError) in
      try await self.recover(user, with: attempt, slots.rescue, slots.unlocking)
    }
  }

  private func recover(
    _ user: UserID, with attempt: HeldSecret, _ rescue: StretchingParameters, _ unlocking: StretchingParameters
  ) async throws(EnclaveError) {
    let locking = lockings[user]
    try await checkForRecovery(of: user, attempt)
    do {
      let rescue = try await stretching.stretch(attempt, rescue)
      let unlocking = try await stretching.stretch(attempt, unlocking)
      guard
        let rescued = try UserKeychain.rescue(
          inDirectory: shelf.directory(of: user), user: user, by: rescue, unlocking)
      else {
        throw EnclaveError.authenticationFailed(
          "your login password was changed since it last unlocked these secrets; use the recovery key")
      }
      try shelf.adopt(rescued, of: user)
      // It is unlocked now, which a logout meanwhile must have ended.
      if lockings[user] != locking { lockKeys(of: user) }
    } catch {
      throw error as? EnclaveError ?? .keychain(error as? KeychainError ?? .io("\(error)"))
    }
  }

  /// Whether that is the passcode, which is counted.
  private func checkForRecovery(of user: UserID, _ attempt: HeldSecret) async throws(EnclaveError) {
    let attempts = RecoveryAttempts(folder: shelf.directory(of: user))
    let seconds = try recoveryWait(of: user)
    guard seconds == 0 else { throw .passcodeDelayed(seconds: seconds) }
    let before = try Self.keychain { () throws(KeychainError) in try attempts.record() }
    var record = before
    record.passcodeFailures = min(record.passcodeFailures + 1, 255)
    let delay = LockoutPolicy.passcodeDelay(afterFailures: record.passcodeFailures)
    let charged = LockoutPolicy.delayed(record, by: delay, clock: clock)
    try Self.keychain { () throws(KeychainError) in try attempts.store(charged) }
    switch await passcodes.verify(user: user, passcode: try attempt.clone()) {
    case .right: try Self.keychain { () throws(KeychainError) in try attempts.store(LockoutRecord()) }
    case .wrong:
      throw .authenticationFailed(
        delay == 0 ? "the password is wrong; try again" : "the password is wrong; try again in \(delay) seconds")
    case .notSet:
      try Self.keychain { () throws(KeychainError) in try attempts.store(before) }
      throw .passcodeNotSet
    case .unavailable(let why):
      try Self.keychain { () throws(KeychainError) in try attempts.store(before) }
      throw .failed(why)
    }
  }

  /// Seconds until a passcode is looked at again for a keychain that is out of reach; 0: now.
  func recoveryWait(of user: UserID) throws(EnclaveError) -> Int {
    let (attempts, clock) = (RecoveryAttempts(folder: shelf.directory(of: user)), clock)
    return try Self.keychain { () throws(KeychainError) in
      let record = try attempts.record()
      let seconds = LockoutPolicy.passcodeWait(record, clock: clock)
      if seconds > 0, !LockoutPolicy.isOfThisBoot(record, clock) {
        // As in `passcodeWait`: from here on the uptime counts.
        try attempts.store(LockoutPolicy.delayed(record, by: seconds, clock: clock))
      }
      return seconds
    }
  }

  @discardableResult
  private func requireLoss(of user: UserID) throws(EnclaveError) -> UserKeychain.WaysBack {
    guard let ways = try waysBack(of: user) else {
      throw .parameter("the secrets can be had; there is nothing to bring back")
    }
    return ways
  }

  /// Where the device key is sealed to a TPM, lets the passcode bring the keychain back one day.
  func allowRescueIfDue(of user: UserID, by passcode: HeldSecret) async throws {
    guard try shelf.sealing() == .hostAndTPM2 else { return }
    let isDue = try withKeychain(of: user) { keychain throws(KeychainError) in try !keychain.allowsRescue() }
    guard isDue else { return }
    let cost = stretchingCost == .usual ? StretchingParameters.Cost.high : stretchingCost
    let stretched = try await stretching.stretch(passcode, StretchingParameters(cost: cost))
    try withKeychain(of: user) { keychain throws(KeychainError) in
      // Locked meanwhile, somebody may have changed the passcode.
      guard try keychain.keybagState() != .locked else { return }
      try keychain.allowRescue(by: stretched)
    }
  }
}
