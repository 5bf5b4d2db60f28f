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

  /// Brings a user's keychain back with the recovery key, under the machine's device key, or a new one where that cannot
  /// be had. It is unlocked then.
  ///
  /// The key proves itself on the keychain before anything is changed; 160 random bits need no count of attempts.
  /// - Throws: `.authenticationFailed`; `.parameter` where nothing has to be brought back; `.keychain`.
  public func recover(user: UserID, recoveryKey typed: consuming SecretBytes) throws(EnclaveError) {
    try requireLoss(of: user)
    guard let key = try Self.keychain({ () throws(KeychainError) in try RecoveryKey(typed: typed) }) else {
      throw .authenticationFailed("that is no recovery key: a character is wrong or missing; look again")
    }
    let directory = shelf.directory(of: user)
    guard
      let rescued = try Self.keychain({ () throws(KeychainError) in
        try UserKeychain.rescue(inDirectory: directory, user: user, by: key)
      })
    else {
      throw .authenticationFailed("that is not the recovery key of this keychain; it may have been replaced or revoked")
    }
    do { try shelf.adopt(rescued, of: user) } catch { throw .keychain(error) }
  }

  /// Brings a user's keychain back with the passcode, where its device key was sealed to a TPM.
  ///
  /// Attempts cannot be counted while the keychain is out of reach: PAM's own delay and the work of each bound them, one
  /// at a time.
  /// - Throws: `.authenticationFailed`, `.passcodeNotSet`; `.parameter` where nothing has to be brought back, or only the
  ///   recovery key can; `.busy`; `.keychain`.
  public func recover(user: UserID, passcode: consuming SecretBytes) async throws(EnclaveError) {
    try Self.check(passcode)
    guard let slots = try requireLoss(of: user).passcode else {
      throw .parameter("the login password alone cannot bring these secrets back; use the recovery key")
    }
    guard passcodeChecks.insert(user).inserted else {
      throw .busy("a password of user \(user) is being checked already; try again when that has ended")
    }
    defer { passcodeChecks.remove(user) }
    let attempt = HeldSecret(passcode)
    let locking = lockings[user]
    switch await passcodes.verify(user: user, passcode: try attempt.clone()) {
    case .right: break
    case .wrong: throw .authenticationFailed("the password is wrong; try again")
    case .notSet: throw .passcodeNotSet
    case .unavailable(let why): throw .failed(why)
    }
    do {
      let rescue = try await stretching.stretch(attempt, slots.rescue)
      let unlocking = try await stretching.stretch(attempt, slots.unlocking)
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
