/// Whose fingers a command is about.
struct TargetUser: Sendable, Equatable {
  /// The user's name, for the bus; never a number. Empty where the caller has no entry in the user database.
  let name: String
  /// Whether that is whoever runs the command.
  let isCaller: Bool
  /// The name to show.
  var shown: String { name.isEmpty ? "you" : Escaping.shown(name, limit: 64) }

  /// The variables in which sudo, pkexec and doas say who called them.
  private static let callers = ["SUDO_UID", "PKEXEC_UID"]

  /// The user of `--user`; else, for root under sudo, pkexec or doas, whoever called that; else the caller.
  ///
  /// - Throws: `.notFound` where there is no such user, naming it.
  static func find(option: String?, in surroundings: Surroundings) throws(CommandFailure) -> TargetUser {
    let accounts = surroundings.accounts
    let own = accounts.name(of: surroundings.effectiveUser)
    if let option {
      guard let (name, user) = resolve(option, accounts) else {
        // As everywhere digits are a name; who means a uid is told whose it is.
        let named = UInt32(option).flatMap(accounts.name).map { "uid \(option) is --user \(Escaping.operand($0))" }
        throw CommandFailure(
          .notFound, "no user is called \(Escaping.quoted(option)); \(named ?? "give --user a login name")")
      }
      // By uid: the name may be typed in another spelling than the directory's own.
      return TargetUser(name: name, isCaller: user == surroundings.effectiveUser)
    }
    // Only root was called by somebody else; for others the variables are left over or made up.
    if surroundings.effectiveUser == 0 {
      for variable in callers {
        guard let value = surroundings.environment[variable] else { continue }
        guard let user = UInt32(value), let name = accounts.name(of: user) else {
          throw CommandFailure(
            .notFound,
            "\(variable) is \(Escaping.quoted(value)), which is no user here; say whose finger with --user NAME")
        }
        return TargetUser(name: name, isCaller: user == 0)
      }
      if let value = surroundings.environment["DOAS_USER"] {
        guard let user = accounts.user(named: value) else {
          throw CommandFailure(
            .notFound,
            "DOAS_USER is \(Escaping.quoted(value)), which is no user here; say whose finger with --user NAME")
        }
        return TargetUser(name: accounts.name(of: user) ?? value, isCaller: user == 0)
      }
    }
    return TargetUser(name: own ?? "", isCaller: true)
  }

  /// A login name in the directory's own spelling.
  private static func resolve(_ text: String, _ accounts: any Accounts) -> (name: String, user: UInt32)? {
    accounts.user(named: text).map { (accounts.name(of: $0) ?? text, $0) }
  }
}
