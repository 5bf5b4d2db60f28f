import GLibLoop

/// What a command sees of the machine, apart from the console and the daemon.
struct Surroundings: Sendable {
  var environment: [String: String]
  var effectiveUser: UInt32
  var accounts: any Accounts
  /// The folders with PAM's services, the most important first.
  var pamFolders: [String]
  /// Folders in which PAM modules may lie, in addition to absolute paths.
  var pamModuleFolders: [String]
}

/// The users of the machine.
protocol Accounts: Sendable {
  /// The name of that uid; nil for none.
  func name(of user: UInt32) -> String?
  /// The uid of that name; nil for none.
  func user(named name: String) -> UInt32?
}
