import PAMStacks

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

  static func read(_ places: PAMPlaces) -> KeyringWiring {
    let files = PAMFiles(places)
    return KeyringWiring(
      logins: files.services.compactMap { service in
        let stack = PAMStack(service: service, in: files)
        guard !stack.isOthers, let last = stack.steps.firstIndex(where: { keyringModules.contains($0.module) }) else {
          return nil
        }
        return Login(service: service, module: stack.steps[last].module, obstacle: obstacle(stack.steps, before: last))
      })
  }

  private static func obstacle(_ steps: [PAMStep], before last: Int) -> Obstacle? {
    let ours = steps.firstIndex { step in
      step.module == PAMWiring.module && ["login", "keyring"].allSatisfy(step.arguments.contains)
    }
    guard let ours else { return .missing }
    guard ours < last else { return .late }
    // In a substack the end is that of the substack.
    let ends = steps[..<ours].contains { $0.asksForFinger && $0.level == 0 && $0.control[.success] == .done }
    return ends ? .unreached : nil
  }
}
