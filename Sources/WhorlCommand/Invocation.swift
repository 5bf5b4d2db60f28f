/// What a command line asks for.
enum Invocation: Sendable, Equatable {
  /// The same, printed as JSON.
  indirect case json(Invocation)
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
  /// No fingers: all that are enrolled.
  case adopt([FingerName])
  case readerList
  /// No id: the only one that it can mean.
  case readerTrust(id: String?)
  case readerDistrust(WhichReader)
  case key(KeyInvocation)
  case export(ExportOrder)
  case importFile(ImportOrder)
  /// `recovery`: with the recovery key instead of the password.
  case unlock(recovery: Bool)
  case lock
  /// `recovery`: with the recovery key, also where the password would do.
  case recover(recovery: Bool)
  case recoveryKey(RecoveryKeyDeed)
  case keychain(KeychainDeed)
  case keyring(KeyringDeed)
  /// `confirmed`: `--yes` was given, so that nothing is asked.
  case forget(ForgetTarget, confirmed: Bool)
  case renameUser(old: String, new: String)
  /// The program that asks for the passcode.
  case agent(AgentOrder)
  /// What became of requests for the caller's secrets.
  case log
  case pam(PAMInvocation)
}

/// The commands by the words that people type.
enum Verb: String, Sendable, CaseIterable {
  case status, enroll, verify, fingers, delete, adopt, reader, set, get, list, rm, key, export
  case importFile = "import"
  case unlock, lock, recover, keychain, keyring, agent, log
  case recoveryKey = "recovery-key"
  case forget
  case renameUser = "rename-user"
  case pam
}

/// Which reader `reader distrust` is about.
enum WhichReader: Sendable, Equatable {
  /// None was named.
  case unnamed
  /// The one of that id.
  case id(String)
  /// Each that is trusted.
  case all
}

/// What `keychain` does.
enum KeychainDeed: String, Sendable, CaseIterable {
  /// Looks at everything that is stored.
  case check
  /// Encrypts it anew under new keys.
  case rekey
}

/// What `keyring` does with the login keyring.
enum KeyringDeed: String, Sendable, CaseIterable {
  /// Has it opened by a finger, too.
  case enable
  /// Puts it back to the login password.
  case disable
  /// Says how it is.
  case status
  /// Opens it now.
  case unlock
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
