import PAMStacks
import GLibLoop
import LoginKeyring
import WhorlClient

/// `whorl keyring status`: what is known without a touch. Whether the secret opens the keyring is not tried.
extension Commands {
  func keyringStatus() async throws(CommandFailure) {
    let item = try await keyringItem()
    var state: LoginKeyring.State?
    var problem: LoginKeyringError?
    do throws(LoginKeyringError) {
      state = try await LoginKeyring.find(environment: surroundings.environment).state()
    } catch { problem = error }
    if Task.isCancelled { throw .cancelled }
    let wiring = KeyringWiring.read(PAMPlaces(root: surroundings.pamRoot))
    if isJSON {
      let object = JSONText.object([
        .init("enabled", .text(item?.stage.rawValue ?? "no")),
        .init("keyring", state.map { .text($0.rawValue) } ?? .null),
        .init("keyringError", problem.map { .text($0.description) } ?? .null),
        .init("logins", .list(wiring.logins.map(Self.object))),
      ])
      return try await console.print(object.line)
    }
    switch item?.stage {
    case nil:
      try await report("enabled", "no: a finger does not open the login keyring", "to let it: whorl keyring enable")
    case .pending:
      try await report(
        "enabled", "pending: that was interrupted, and logins hand nothing on",
        "finish it with whorl keyring enable, or take it back with whorl keyring disable")
    case .armed:
      try await report("enabled", "armed: a finger, or your password, at the login opens the login keyring", nil)
    }
    switch state {
    case .open: try await report("keyring", "open", nil)
    case .locked:
      let how = item == nil ? "open it with its password in the desktop's password manager" : "whorl keyring unlock"
      try await report("keyring", "locked", how)
    case .absent: try await report("keyring", "there is none; the next login with your password makes one", nil)
    case nil:
      let (what, remedy) = Escaping.parts(problem?.line ?? "")
      try await report("keyring", what, remedy)
    }
    for line in loginLines(wiring) { try await console.print(line) }
  }

  /// The logins that open a keyring, and what to do with those that do not hand the secret on.
  func loginLines(_ wiring: KeyringWiring? = nil) -> [String] {
    let wiring = wiring ?? KeyringWiring.read(PAMPlaces(root: surroundings.pamRoot))
    guard !wiring.logins.isEmpty else {
      return Self.lines(
        "logins", "none opens a keyring: no stack in /etc/pam.d has pam_gnome_keyring.so",
        "install it (Debian package libpam-gnome-keyring), and before its line write: \(KeyringWiring.line)")
    }
    var label = "logins"
    return wiring.logins.flatMap { login -> [String] in
      defer { label = "" }
      let name = Escaping.shown(login.service, limit: 64)
      let module = login.module
      let file = "/etc/pam.d/\(name)"
      return switch login.obstacle {
      case nil: Self.lines(label, "\(name) hands the secret on to \(module)", nil)
      case .missing:
        Self.lines(
          label, "\(name) does not hand the secret on",
          "in \(file), before \(module), write: \(KeyringWiring.line) "
            + "(on Debian: sudo pam-auth-update --enable whorl-login)")
      case .late:
        Self.lines(
          label, "\(name) hands the secret on too late", "in \(file), move the line before that of \(module)")
      case .unreached:
        Self.lines(
          label, "\(name) hands the secret on after a password alone, for a finger ends the stack before",
          "in \(file), have a finger skip to: \(KeyringWiring.line) (man pam_whorl)")
      }
    }
  }

  /// What `whorl status` says of the login keyring: nothing where no finger is to open it, or whorld does not say.
  func enabledKeyringLines() async -> [String] {
    guard let item = (try? await service.keyringItem()) ?? nil else { return [] }
    guard item.stage == .armed else {
      return Self.lines("keyring", "a finger does not open it yet, for that was interrupted", "whorl keyring enable")
    }
    guard KeyringWiring.read(PAMPlaces(root: surroundings.pamRoot)).logins.contains(where: { $0.obstacle == nil })
    else {
      return Self.lines("keyring", "ready, but no login hands its secret on", "see why: whorl keyring status")
    }
    let state = try? await LoginKeyring.find(environment: surroundings.environment).state()
    return state == .locked
      ? Self.lines("keyring", "a login by finger opens it, but it is locked now", "open it: whorl keyring unlock")
      : Self.lines("keyring", "a login by finger opens it", nil)
  }

  private static func object(_ login: KeyringWiring.Login) -> JSONText {
    .object([
      .init("service", .text(login.service)), .init("module", .text(login.module)),
      .init("handsOn", .flag(login.obstacle == nil)),
      .init("obstacle", login.obstacle.map { .text($0.rawValue) } ?? .null),
    ])
  }

  private func report(_ label: String, _ text: String, _ todo: String?) async throws(CommandFailure) {
    for line in Self.lines(label, text, todo) { try await console.print(line) }
  }

  /// Laid out as `whorl status` does.
  private static func lines(_ label: String, _ text: String, _ todo: String?) -> [String] {
    let width = 13
    let indent = String(repeating: " ", count: width)
    return [label + String(repeating: " ", count: width - label.count) + text]
      + (todo.map { ["\(indent)-> \($0)"] } ?? [])
  }
}

extension LoginKeyring {
  /// The keyring of the session that these variables are of.
  static func find(environment: [String: String]) async throws(LoginKeyringError) -> LoginKeyring {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
      return try await find(address: address)
    }
    guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else {
      throw .noBus("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
    }
    return try await find(address: "unix:path=\(folder)/bus")
  }
}

extension LoginKeyringError {
  /// What happened and what to do next, in one line for people.
  var line: String {
    switch self {
    case .noBus: "\(Escaping.clause(description)); run whorl in your desktop session, as yourself"
    case .notRunning:
      "\(description); log in on the desktop, or start it: gnome-keyring-daemon --start --components=secrets"
    case .otherService: "\(description), which takes no password from Whorl; see LOGIN KEYRING in whorl(1)"
    case .noKeyring: "\(description) yet; log in with your password once, which makes one"
    case .denied: "\(description); try again"
    case .failed: "\(Escaping.clause(description)); try again, or look at journalctl --user"
    }
  }
}
