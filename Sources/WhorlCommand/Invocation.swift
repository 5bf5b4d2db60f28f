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
  /// No requirement: presence for a new secret, and what an existing one has.
  case set(name: String, requirement: Requirement?)
  case get(name: String)
  case list
  case remove(name: String)
  /// `confirmed`: `--yes` was given, so that nothing is asked.
  case forget(ForgetTarget, confirmed: Bool)
  case renameUser(old: String, new: String)
  /// The program that asks for the passcode.
  case agent(pinentry: String)
}

/// The commands by the words that people type.
enum Verb: String, Sendable, CaseIterable {
  case status, enroll, verify, fingers, delete, set, get, list, rm, forget, agent
  case renameUser = "rename-user"
}

/// Whose data `forget` removes.
enum ForgetTarget: Sendable, Equatable {
  /// The account of that name, whether there is one or not.
  case name(String)
  /// What belongs to that uid.
  case uid(UInt32)
}
