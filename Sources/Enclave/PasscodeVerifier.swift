public import Keychain
public import SecretMemory

/// What became of one attempt at a passcode.
public enum PasscodeVerdict: Sendable, Hashable {
  /// It is the user's passcode.
  case right
  /// It is not; counts.
  case wrong
  /// The user has none (no password, a locked account).
  case notSet
  /// Nobody could tell; says why, in one line for people. Does not count.
  case unavailable(String)
}

/// Checks the passcode of a user: on Linux the login password, through PAM in a child process.
public protocol PasscodeVerifier: Sendable {
  /// Checks one attempt. The enclave calls it for one attempt per user at a time, after it has recorded the attempt as
  /// a wrong one, and never from a task that a caller can cancel.
  func verify(user: UserID, passcode: consuming SecretBytes) async -> PasscodeVerdict
  /// Whether the user has a passcode.
  func state(of user: UserID) async -> PasscodeState
}

/// Whether an account has a passcode.
public enum PasscodeState: Sendable, Hashable {
  /// It has.
  case set
  /// Its password was removed: the entry was read, and it is empty. Items that were to end with the password end.
  case removed
  /// No password opens the account: it is locked, or there is none to type. Nothing ends with that.
  case locked
  /// Nobody can tell; an attempt at it brings the reason.
  case unknown

  /// Whether one can be asked for.
  public var isWorthAsking: Bool { self == .set || self == .unknown }
}
