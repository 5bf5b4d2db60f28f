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
  /// Whether the user has a passcode. Where nobody can tell: true, so that the attempt itself brings the reason.
  func isSet(user: UserID) async -> Bool
}
