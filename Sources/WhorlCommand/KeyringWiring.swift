/// Which logins hand the login keyring's secret on, by PAM's files. Reads only.
struct KeyringWiring: Sendable, Equatable {
  /// Why a login does not.
  enum Obstacle: String, Sendable {
    /// It has no line of ours for it.
    case missing
    /// The line comes after the keyring's module, which has no secret yet.
    case late
    /// A finger ends the stack before the line.
    case unreached
  }

  /// A login that opens a keyring.
  struct Login: Sendable, Equatable {
    let service: String
    /// The keyring's module.
    let module: String
    /// Nil: it hands the secret on.
    let obstacle: Obstacle?
  }

  /// The line that is wanted before the keyring's module.
  static let line = "auth optional \(PAMWiring.module) login keyring"
  private static let keyringModules = ["pam_gnome_keyring.so", "pam_kwallet5.so", "pam_kwallet.so"]

  /// In the order of the alphabet.
  var logins: [Login] = []

  /// - Parameter folders: the folders with PAM's files, the most important first.
  static func read(folders: [String]) -> KeyringWiring {
    KeyringWiring(
      logins: PAMAuthLine.read(folders: folders).compactMap { service, lines in
        guard let last = lines.firstIndex(where: { keyringModules.contains($0.module) }) else { return nil }
        return Login(service: service, module: lines[last].module, obstacle: obstacle(lines, before: last))
      })
  }

  private static func obstacle(_ lines: [PAMAuthLine], before last: Int) -> Obstacle? {
    func isOurs(_ line: PAMAuthLine) -> Bool {
      line.module == PAMWiring.module && ["login", "keyring"].allSatisfy(line.arguments.contains)
    }
    guard let ours = lines.firstIndex(where: isOurs) else { return .missing }
    guard ours < last else { return .late }
    let passesBy = lines[..<ours].enumerated().contains { place, line in
      guard line.module == PAMWiring.module, !line.isInSubstack else { return false }
      return switch onSuccess(line.control) {
      case "done": true
      case let word: Int(word).map { place + $0 >= ours } ?? false
      }
    }
    return passesBy ? .unreached : nil
  }

  /// What a control does on success, as the bracketed form says it: `done`, or how many lines are passed over.
  private static func onSuccess(_ control: String) -> Substring {
    if control == "sufficient" { return "done" }
    let words = control.split { $0.isWhitespace || $0 == "[" || $0 == "]" }
    return words.first { $0.hasPrefix("success=") }?.dropFirst("success=".count) ?? ""
  }
}
