/// What a command line asks for.
enum Invocation: Sendable, Equatable {
  case help(of: Verb?)
  case version
  case status
  case enroll(FingerName, user: String?)
  case verify(FingerName?, user: String?)
  case fingers(user: String?)
  /// No finger: all of them. `confirmed`: `--all` was given, so that nothing is asked.
  case delete(FingerName?, user: String?, confirmed: Bool)
  /// No requirement: presence for a new secret, and what an existing one has. So with when it is accessible: always.
  case set(name: String, requirement: Requirement?, accessible: Accessibility?)
  case get(name: String)
  case list
  case remove(name: String)
  case key(KeyInvocation)
  /// `recovery`: with the recovery key instead of the password.
  case unlock(recovery: Bool)
  case lock
  /// `recovery`: with the recovery key, also where the password would do.
  case recover(recovery: Bool)
  case recoveryKey(RecoveryKeyDeed)
  case keychain(KeychainDeed)
  /// `confirmed`: `--yes` was given, so that nothing is asked.
  case forget(ForgetTarget, confirmed: Bool)
  case renameUser(old: String, new: String)
  /// The program that asks for the passcode.
  case agent(pinentry: String)
  /// What became of requests for the caller's secrets.
  case log(json: Bool)
}

/// The commands by the words that people type.
enum Verb: String, Sendable, CaseIterable {
  case status, enroll, verify, fingers, delete, set, get, list, rm, unlock, lock, recover, keychain, key, forget, agent,
    log
  case recoveryKey = "recovery-key"
  case renameUser = "rename-user"
}

/// What `keychain` does.
enum KeychainDeed: String, Sendable, CaseIterable {
  /// Looks at everything that is stored.
  case check
  /// Encrypts it anew under new keys.
  case rekey
}

/// What `recovery-key` does.
enum RecoveryKeyDeed: Sendable, Equatable {
  /// Makes one where there is none.
  case make
  /// Makes one in the place of the one there is.
  case replace
  /// Takes it back.
  case revoke
}

/// Whose data `forget` removes.
enum ForgetTarget: Sendable, Equatable {
  /// The account of that name, whether there is one or not.
  case name(String)
  /// What belongs to that uid.
  case uid(UInt32)
}
