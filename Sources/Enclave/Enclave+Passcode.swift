public import Keychain
public import SecretMemory

extension Enclave {
  /// Gives the caller's passcode to a context. The right one ends the lockout of fingers and the delay of passcodes, and
  /// covers what the context's reuse time says (see `Grant`).
  ///
  /// Each attempt is recorded as a wrong one before it is looked at, and stays so unless it proves right: whoever
  /// vanishes or ends the daemon meanwhile gains no free attempt.
  /// - Throws: `.authenticationFailed` for a wrong one, `.passcodeDelayed`, `.passcodeNotSet`, `.invalidContext`;
  ///   `.busy` while another of the user's is looked at; `.parameter` for an empty one, one with a NUL byte or one of
  ///   more than 511 bytes (not counted); `.keychain` where the attempt cannot be recorded.
  public func providePasscode(
    _ context: ContextID, owner: ContextOwner, passcode: consuming SecretBytes, isForItemsOnly: Bool = false
  ) async throws(EnclaveError) {
    try requireContext(context, owner)
    try await verifyPasscode(of: owner.user, passcode)
    try requireContext(context, owner)
    contexts[context]?.passcodeGiven(at: clock.uptime(), isForItemsOnly: isForItemsOnly)
    passcodeArrived(in: context)
  }

  /// Looks at a passcode as `providePasscode` does, for no context: the right one unlocks the keys.
  /// - Parameter counts: whether a wrong one counts; not where nobody learns what came of it.
  func verifyPasscode(
    of user: UserID, _ passcode: consuming SecretBytes, counts: Bool = true
  ) async throws(EnclaveError) {
    try Self.check(passcode)
    guard passcodeChecks.insert(user).inserted else {
      throw .busy("a password of user \(user) is being checked already; try again when that has ended")
    }
    // In a task of its own: a caller that goes away must not take the count with it.
    let attempt = HeldSecret(passcode)
    let check = Task { await self.checkPasscode(of: user, attempt, counts: counts) }
    try await check.value.get()
  }

  /// Whether the right passcode was given since the machine started, and no wrong one after it. False where that cannot be
  /// told.
  public func passcodeGivenSinceBoot(_ user: UserID) -> Bool {
    let clock = clock
    let given = try? withKeychain(of: user) { keychain throws(KeychainError) in
      let record = try keychain.lockout()
      return record.passcodeFailures == 0 && !record.isDamaged && LockoutPolicy.isOfThisBoot(record, clock)
    }
    return given ?? false
  }

  /// Throws where no password is like that.
  static func check(_ passcode: borrowing SecretBytes) throws(EnclaveError) {
    guard (1...Limits.passcodeBytes).contains(passcode.count) else {
      throw .parameter("the password has \(passcode.count) bytes; it must have 1 to \(Limits.passcodeBytes)")
    }
    guard passcode.withUnsafeBytes({ !$0.contains(0) }) else {
      throw .parameter("the password has a NUL byte in it; give it without")
    }
  }

  /// Seconds until a passcode of that user is looked at again; 0: now.
  func passcodeWait(of user: UserID) throws(EnclaveError) -> Int {
    let clock = clock
    return try withKeychain(of: user) { keychain throws(KeychainError) in
      let record = try keychain.lockout()
      let seconds = LockoutPolicy.passcodeWait(record, clock: clock)
      if seconds > 0, !LockoutPolicy.isOfThisBoot(record, clock) {
        // From here on the uptime counts, so that setting the wall clock neither ends nor extends the delay.
        try store(LockoutPolicy.delayed(record, by: seconds, clock: clock), in: keychain)
      }
      return seconds
    }
  }

  private func checkPasscode(of user: UserID, _ attempt: HeldSecret, counts: Bool) async -> Result<Void, EnclaveError> {
    defer { passcodeChecks.remove(user) }
    do {
      let seconds = try passcodeWait(of: user)
      guard seconds == 0 else { throw EnclaveError.passcodeDelayed(seconds: seconds) }
      let passcode = try attempt.clone()
      let before = try charge(user)
      let locking = lockings[user]
      switch await passcodes.verify(user: user, passcode: passcode) {
      case .right:
        // With the boot, so that it is known that the passcode was given in it.
        let record = LockoutRecord(bootID: clock.bootID())
        try withKeychain(of: user) { keychain throws(KeychainError) in try store(record, in: keychain) }
        unrecorded.remove(user)
        await unlockKeybag(of: user, with: attempt, unlessLockedSince: locking)
        sawOwner(user)
        return .success(())
      case .wrong:
        if !counts { try restore(before, of: user) }
        let delay = LockoutPolicy.passcodeDelay(afterFailures: before.passcodeFailures + 1)
        throw EnclaveError.authenticationFailed(
          delay == 0
            ? "the password is wrong; try again" : "the password is wrong; try again in \(delay) seconds")
      case .notSet:
        try restore(before, of: user)
        await lookForPasscode(of: user)
        throw EnclaveError.passcodeNotSet
      case .unavailable(let why):
        try restore(before, of: user)
        throw EnclaveError.failed(why)
      }
    } catch {
      return .failure(error as? EnclaveError ?? .failed("\(error)"))
    }
  }

  /// Records one more wrong passcode, and gives the record as it was.
  func charge(_ user: UserID) throws(EnclaveError) -> LockoutRecord {
    let clock = clock
    return try withKeychain(of: user) { keychain throws(KeychainError) in
      let before = try keychain.lockout()
      var record = before
      record.passcodeFailures = min(record.passcodeFailures + 1, 255)
      let delay = LockoutPolicy.passcodeDelay(afterFailures: record.passcodeFailures)
      try store(LockoutPolicy.delayed(record, by: delay, clock: clock), in: keychain)
      return before
    }
  }

  /// Takes a charge back; the misses of fingers may have changed meanwhile and stay.
  func restore(_ before: LockoutRecord, of user: UserID) throws(EnclaveError) {
    try withKeychain(of: user) { keychain throws(KeychainError) in
      var record = before
      record.misses = try keychain.lockout().misses
      try store(record, in: keychain)
    }
  }
}
