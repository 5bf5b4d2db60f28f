/// The exit codes of `whorl`; whorl(1) lists them, and scripts rely on the numbers.
enum ExitCode: Int32, Sendable, CaseIterable {
  /// Done; for `status`: everything that secrets need is there.
  case ok = 0
  /// Anything that has no code of its own.
  case failed = 1
  /// The command line is wrong; nothing was done.
  case usage = 2
  /// No such secret, no such finger, no such user.
  case notFound = 3
  /// The finger or the passcode was not the right one.
  case authenticationFailed = 4
  /// Cancelled by the person, a signal or the system.
  case cancelled = 5
  /// Too many misses: the passcode, or some waiting, is needed first.
  case lockedOut = 6
  /// No reader that can be used.
  case noReader = 7
  /// No finger is enrolled.
  case noFingers = 8
  /// whorld is not there.
  case noDaemon = 9
  /// Policy says no.
  case notAllowed = 10
  /// The store or its device key cannot be used.
  case storeUnavailable = 11
  /// A passcode or an answer is needed and there is no terminal to ask on.
  case noTerminal = 12
  /// The secret was bound to fingers that have changed since, and is gone.
  case gone = 13
  /// Another program has the reader.
  case busy = 14
  /// Nobody touched the reader in time.
  case timedOut = 15
  /// The secret is locked until the password is given, or the session unlocked.
  case locked = 16
}
