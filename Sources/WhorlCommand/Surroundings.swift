import GLibLoop

/// What a command sees of the machine, apart from the console and the daemon.
struct Surroundings: Sendable {
  var environment: [String: String]
  var effectiveUser: UInt32
  var accounts: any Accounts
  /// Below what PAM's files and modules are: `/`.
  var pamRoot: String
}

/// The users of the machine.
protocol Accounts: Sendable {
  /// The name of that uid; nil for none.
  func name(of user: UInt32) -> String?
  /// The uid of that name; nil for none.
  func user(named name: String) -> UInt32?
}
