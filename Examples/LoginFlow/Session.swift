import BiometricsVault
import Foundation
import LocalAuthentication

/// What the person does, over the vault.
@MainActor
final class Session {
  /// What is kept: never the password.
  struct Credentials: Codable, Equatable {
    let name: String
    let token: String
  }

  static let commands = "login NAME, whoami, finger on, finger off, lock, unlock, passcode, switch NAME, logout, quit"

  private let console: Console
  private let server: Server
  private let vault = BiometricsVault<Credentials>(key: "login-flow")

  init(console: Console, server: Server) {
    self.console = console
    self.server = server
  }

  /// Does what a line says, and says what came of it.
  func run(_ command: String, _ argument: String) async {
    do {
      switch (command, argument) {
      case ("login", let name) where !name.isEmpty: try await logIn(name)
      case ("whoami", _): try whoAmI()
      // Whoever has to touch the reader is told so by Whorl's agent, on the desktop or on this terminal.
      case ("finger", "on"): try await vault.upgradeKeychainWithBiometrics()
      case ("finger", "off"): try vault.downgradeBiometricsToKeychain()
      case ("lock", _): try vault.lock()
      case ("unlock", _):
        let credentials = try await vault.unlockWithBiometrics()
        console.say("Welcome back, \(credentials.name).")
      case ("passcode", _):
        try await vault.reauthenticateOwner()
        console.say("Fingers count again.")
      case ("switch", let name) where !name.isEmpty:
        // The password first: whoever fails it keeps what he has.
        let credentials = try await authenticate(name)
        vault.resetEverything()
        try vault.enableKeychainVault(saving: credentials)
      case ("logout", _): vault.resetEverything()
      default: return console.say("Commands: \(Self.commands)")
      }
      show()
    } catch LAError.biometryLockout {
      console.say("Too many fingers that were not yours: give your password once with: passcode")
    } catch LAError.userCancel {
      console.say("Cancelled; nothing has changed.")
    } catch {
      console.say("Not done: \(error.localizedDescription)")
    }
  }

  /// Says in what state the vault is.
  func show() {
    if let loss = vault.loss { console.say("\(loss.localizedDescription)") }
    switch vault.state {
    case .unavailable: console.say("No finger can be used here, so nothing is kept; on Linux whorl status says why.")
    case .ready: console.say("Nobody is logged in.")
    case .keychainSecured(let credentials): console.say("\(credentials.name) is logged in, without a finger.")
    case .biometricsSecured: console.say("Logged in, behind a finger.")
    case .locked: console.say("Locked.")
    }
  }

  private func logIn(_ name: String) async throws {
    // Whether it can be kept is known before the password is asked for.
    guard vault.state != .unavailable else { return }
    guard vault.state.isReady else {
      console.say("Log out first, or use: switch NAME")
      return
    }
    let credentials = try await authenticate(name)
    try vault.enableKeychainVault(saving: credentials)
  }

  private func authenticate(_ name: String) async throws -> Credentials {
    let password = await console.ask("Password of \(name):") ?? ""
    return Credentials(name: name, token: try server.token(for: name, password: password))
  }

  private func whoAmI() throws {
    let credentials = try vault.credentials()
    console.say("You are \(server.owner(of: credentials.token) ?? "nobody any more").")
  }
}
