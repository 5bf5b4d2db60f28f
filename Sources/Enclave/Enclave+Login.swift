public import Keychain
public import SecretMemory

/// What a login's step after the password brought.
public struct LoginCompletion: ~Copyable, Sendable {
  /// Whether the user's keys are unlocked now.
  public let isUnlocked: Bool
  /// Whether the enclave itself has seen a touch or the passcode of the user in this login.
  public let isProven: Bool
  /// What opens the login keyring; nil where it was not asked for, is not armed, or nothing was proven.
  public var keyringSecret: SecretBytes?
}

/// The item that holds what opens the login keyring (`whorl keyring`).
public enum LoginKeyring {
  /// Its service.
  public static let service = "org.whorl.keyring"
  /// Its account.
  public static let account = "login"
  /// Its comment once the secret was seen to open the keyring; before that logins are not given it.
  public static let armed = "armed"

  /// Whether it is what `whorl keyring` makes: 43 characters of base64url. Every program of the user's can store an item of
  /// that name, and what is in it is handed to root's modules as the password.
  static func isSecret(_ secret: borrowing SecretBytes) -> Bool {
    secret.withUnsafeBytes { bytes in
      bytes.count == 43
        && bytes.allSatisfy { byte in
          switch byte {
          case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
          default: false
          }
        }
    }
  }
}

/// What follows a login: the PAM module's later lines.
extension Enclave {
  func rememberTouch(_ touch: Touch, of user: UserID, in transaction: LoginTransaction) {
    // A finger that opens no secret lets its user in all the same.
    guard (try? requireForSecrets(touch, of: user)) != nil else { return }
    logins.insert(transaction, of: user, at: clock.uptime())
  }

  /// Whether a password that a login takes would change anything: a lockout ends, keys unlock, a keyring opens.
  public func wantsLoginPasscode(of user: UserID, forKeyring: Bool) -> Bool {
    if forKeyring, (try? armedKeyring(of: user)) != nil { return true }
    guard !unrecorded.contains(user) else { return true }
    let isSettled = try? withKeychain(of: user) { keychain throws(KeychainError) in
      let state = try keychain.keybagState()
      let record = try keychain.lockout()
      return state == .unlocked && record == LockoutRecord(bootID: clock.bootID())
    }
    return isSettled != true
  }

  /// Takes the password that a login was let in by, or remembers its touch: unlocks the user's keys, ends the lockout,
  /// and gives what opens the login keyring. Nobody's word is taken for the password: it is looked at as
  /// `providePasscode` does, and counts.
  /// - Parameters:
  ///   - owner: the connection of the login program, and whose login it is; the caller's right to name that user is the
  ///     daemon's to check.
  ///   - transaction: that of the `authenticate` before; serves once, also where a passcode is given with it.
  ///   - wantsKeyring: whether the secret of the login keyring is wanted.
  ///   - counts: whether a wrong passcode counts; not where nobody learns what came of it: a login may have been let in by
  ///     another password than the account's own, time and again.
  /// - Throws: as `providePasscode` for a passcode. A touch that is not remembered is no error: nothing is proven then.
  public func completeLogin(
    _ owner: ContextOwner, transaction: LoginTransaction?, passcode: consuming SecretBytes?, wantsKeyring: Bool,
    counts: Bool = true
  ) async throws(EnclaveError) -> LoginCompletion {
    let user = owner.user
    var proof: AuthenticationContext.Means?
    if let transaction, logins.take(transaction, of: user, at: clock.uptime()) { proof = .biometry }
    if let passcode {
      try await verifyPasscode(of: user, passcode, counts: counts)
      proof = .passcode
    }
    // No await from here on: what was shown is used at once.
    let isUnlocked = try withKeychain(of: user) { keychain throws(KeychainError) in
      try keychain.keybagState() == .unlocked
    }
    let secret: SecretBytes? = if wantsKeyring, let proof { try keyringSecret(owner, proof) } else { nil }
    return LoginCompletion(isUnlocked: isUnlocked, isProven: proof != nil, keyringSecret: secret)
  }

  /// Takes a new login password right after it was set, so that it unlocks the keys from now on.
  /// - Parameter former: the one before, where the program knows it: needed while the keys are locked.
  /// - Throws: as `providePasscode` for the new one; `.formerPasscodeNeeded` where the keys are locked and the former one
  ///   was not given, or is not that which the keychain knows.
  public func passcodeChanged(
    of user: UserID, to passcode: consuming SecretBytes, former: consuming SecretBytes?
  ) async throws(EnclaveError) {
    try await verifyPasscode(of: user, passcode)
    guard pendingPasscodes[user] != nil else { return }
    guard let former else { throw .formerPasscodeNeeded }
    do {
      try await takeFormerPasscode(of: user, former)
    } catch .authenticationFailed {
      throw .formerPasscodeNeeded
    }
  }

  private func armedKeyring(of user: UserID) throws(EnclaveError) -> ItemSummary? {
    let query = ItemQuery(
      itemClass: .genericPassword, service: LoginKeyring.service, account: LoginKeyring.account, accessGroup: "")
    let page = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.page(query, count: 1) }
    guard let item = page.items.first, item.attributes.comment == LoginKeyring.armed else { return nil }
    return item
  }

  private func keyringSecret(
    _ owner: ContextOwner, _ proof: AuthenticationContext.Means
  ) throws(EnclaveError) -> SecretBytes? {
    guard let item = try armedKeyring(of: owner.user) else { return nil }
    do throws(EnclaveError) {
      if let error = item.state.error { throw .keychain(error) }
      // Whoever stored it may have asked for more than one thing.
      switch (try need(of: item, user: owner.user), proof) {
      case (nil, _), (.presence, _), (.biometry, .biometry), (.passcode, .passcode): break
      default: throw .denied("the secret of the login keyring wants more than was shown; see: whorl keyring status")
      }
      guard try needToUnlock(item.accessControl.protection, of: owner.user) == nil else {
        throw .keychain(.locked(item.accessControl.protection))
      }
      let secret = try withKeychain(of: owner.user) { keychain throws(KeychainError) in
        try keychain.secret(of: item.id, under: item.accessControl)
      }
      guard LoginKeyring.isSecret(secret) else {
        throw .denied("the secret of the login keyring is none that Whorl has made; make one: whorl keyring enable")
      }
      note(owner, ItemPurpose.secret.deed, item, nil)
      return secret
    } catch {
      note(owner, ItemPurpose.secret.deed, item, error)
      // The login goes on without it.
      return nil
    }
  }
}
