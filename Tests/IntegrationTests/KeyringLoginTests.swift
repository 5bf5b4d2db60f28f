import Bus
import Foundation
import Glibc
import TestKit
import Testing

/// The whole way: `whorl keyring enable`, then logins through pam_whorl.so and the real pam_gnome_keyring.so, which starts the
/// real gnome-keyring-daemon.
@Suite(.serialized, .timeLimit(.minutes(4))) struct KeyringLoginTests {
  /// A world whose root has a passcode, a finger that opens secrets, and a login keyring that `keyring enable` gave a secret.
  private func world() async throws -> (World, GnomeKeyring) {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let desktop = try await GnomeKeyring(password: World.passcode)
    let enabling = try await onTerminal(
      world, desktop, "enable", "Your password, to let your finger open the login keyring: ")
    #expect(enabling.status == 0, "\(enabling.text)")
    try await desktop.stop()
    return (world, desktop)
  }

  /// Runs `whorl keyring` in the desktop's session on a terminal and gives the password at this question.
  private func onTerminal(
    _ world: World, _ desktop: GnomeKeyring, _ deed: String, _ question: String
  ) async throws -> RunningProgram.Result {
    let program = try world.startOnTerminal(["keyring", deed], adding: desktop.environment)
    try await program.waitFor(question)
    try program.write(World.passcode + "\n")
    return try await program.wait()
  }

  /// Logs in, up to an open session, and starts the desktop where that went well.
  private func logIn(
    _ world: World, _ desktop: GnomeKeyring, password: String? = nil, pressing finger: FingerImage
  ) async throws -> RunningProgram.Result {
    let module = SourceTree.path("build/pam_whorl.so")
    try world.folder.write(
      "#!/bin/sh\n[ \"$(tr -d '\\000')\" = '\(World.passcode)' ]\n", to: "judge", mode: 0o755)
    try world.folder.makeFolder("pam.d", mode: 0o755)
    try world.folder.write(
      """
      auth [success=2 default=ignore] \(module) timeout=20 max-tries=1
      auth [success=1 default=ignore] pam_exec.so expose_authtok quiet \(world.folder("judge"))
      auth requisite pam_deny.so
      auth required pam_permit.so
      auth optional \(module) login keyring
      auth optional pam_gnome_keyring.so
      account required pam_permit.so
      session required pam_permit.so
      session optional pam_gnome_keyring.so auto_start

      """, to: "pam.d/whorl-test")
    // What pam_systemd and the like give a session.
    let session = ["HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map {
      "-E\($0)=\(desktop.environment[$0] ?? "")"
    }
    let result = try await PamWrapperLock.hold {
      let program = try RunningProgram(
        "/usr/bin/stdbuf",
        ["-oL", "/usr/bin/pamtester"] + session + ["whorl-test", "root", "authenticate", "open_session"],
        environment: [
          "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "LD_PRELOAD": "libpam_wrapper.so",
          "PAM_WRAPPER": "1", "PAM_WRAPPER_SERVICE_DIR": world.folder("pam.d"),
        ], input: password.map { $0 + "\n" } ?? "")
      try await world.answer(program, with: [finger], in: .output)
      return try await program.wait()
    }
    if result.status == 0 { try await desktop.startAfterLogin() }
    return result
  }

  private func status(_ world: World, _ desktop: GnomeKeyring) async throws -> String {
    try await world.start(["keyring", "status", "--json"], adding: desktop.environment).wait().text
  }

  @Test func `A login by finger opens the keyring, and so does one by password`() async throws {
    let (world, desktop) = try await world()
    let finger = try await logIn(world, desktop, pressing: SyntheticFinger.leftLoop.press(2))
    #expect(finger.status == 0, "\(finger.text) \(finger.errorText)")
    #expect(try await status(world, desktop).contains("\"enabled\":\"armed\",\"keyring\":\"open\""))
    try await desktop.logOut()

    let typed = try await logIn(
      world, desktop, password: World.passcode, pressing: SyntheticFinger.whorl.press(2))
    #expect(typed.status == 0, "\(typed.text) \(typed.errorText)")
    #expect(try await status(world, desktop).contains("\"keyring\":\"open\""))

    let disabling = try await onTerminal(
      world, desktop, "disable", "Your password, to give the login keyring your password again: ")
    #expect(disabling.status == 0, "\(disabling.text)")
    #expect(try await status(world, desktop).contains("\"enabled\":\"no\""))
    try await desktop.logOut()

    let after = try await logIn(world, desktop, pressing: SyntheticFinger.leftLoop.press(3))
    #expect(after.status == 0)
    #expect(try await status(world, desktop).contains("\"keyring\":\"locked\""), "the finger gives nothing any more")
    try await desktop.logOut()
    let password = try await logIn(
      world, desktop, password: World.passcode, pressing: SyntheticFinger.whorl.press(3))
    #expect(password.status == 0)
    #expect(try await status(world, desktop).contains("\"keyring\":\"open\""), "the password does again")
    try await desktop.logOut()
  }

  @Test func `A wrong finger opens nothing; unlock opens it without a window`() async throws {
    let (world, desktop) = try await world()
    let wrong = try await logIn(world, desktop, password: "wrong", pressing: SyntheticFinger.whorl.press(2))
    #expect(wrong.status != 0)
    // A session that no login opened, as after an autologin: its keyring stays locked.
    try await desktop.startAfterLogin()
    #expect(try await status(world, desktop).contains("\"keyring\":\"locked\""))
    let touch = try world.start(["keyring", "unlock"], adding: desktop.environment)
    try await world.answer(touch, with: [SyntheticFinger.whorl.press(4), SyntheticFinger.leftLoop.press(4)])
    let end = try await touch.wait()
    #expect(end.status == 0, "\(end.errorText)")
    #expect(try await status(world, desktop).contains("\"keyring\":\"open\""))
    try await desktop.logOut()
  }

  @Test func `What is pending is given to no login`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let desktop = try await GnomeKeyring(password: World.passcode)
    // Kept, and never proved: the keyring has its own password still.
    let client = try await Client(world)
    let file = try Client.sealed("a secret that is not the keyring's")
    defer { close(file) }
    _ = try await client.call(
      "Keychain1", "Add",
      [
        .options([
          "service": .string("org.whorl.keyring"), "account": .string("login"), "comment": .string("pending"),
        ]),
        .options([
          "protection": .string("always-this-device-only"), "constraints": .strings(["user-presence"]),
        ]), .handle(0),
      ], descriptors: [file])
    try await desktop.stop()
    let typed = try await logIn(
      world, desktop, password: World.passcode, pressing: SyntheticFinger.whorl.press(2))
    #expect(typed.status == 0)
    #expect(try await status(world, desktop).contains("\"enabled\":\"pending\",\"keyring\":\"open\""))
    let enabling = try await onTerminal(
      world, desktop, "enable", "Your password, to let your finger open the login keyring: ")
    #expect(enabling.status == 0, "\(enabling.text)")
    #expect(try await status(world, desktop).contains("\"enabled\":\"armed\",\"keyring\":\"open\""))
    try await desktop.logOut()
  }
}
