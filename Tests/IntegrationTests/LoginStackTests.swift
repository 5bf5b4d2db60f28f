import Bus
import Foundation
import Glibc
import TestKit
import Testing

/// The lines of a login stack after the finger and the password: pam_whorl.so with `login`, and in the password stack.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LoginStackTests {
  private static let secret = "what-opens-the-keyring_0123456789ABCDEFGHIJ"

  /// A world whose root has a passcode, an enrolled finger that opens secrets, and the keyring's secret.
  private func world() async throws -> (World, RunningProgram) {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let client = try await Client(world)
    let file = try Client.sealed(Self.secret)
    defer { close(file) }
    _ = try await client.call(
      "Keychain1", "Add",
      [
        .options([
          "service": .string("org.whorl.keyring"), "account": .string("login"), "comment": .string("armed"),
        ]),
        .options([
          "protection": .string("always-this-device-only"), "constraints": .strings(["user-presence"]),
        ]), .handle(0),
      ], descriptors: [file])
    return (world, daemon)
  }

  /// Runs a stack that tells the modules after ours what PAM_AUTHTOK is: by pam_exec, into a file.
  private func run(
    _ world: World, _ options: String = "login keyring", password: String? = nil,
    pressing fingers: [FingerImage] = []
  ) async throws -> (result: RunningProgram.Result, token: String?) {
    let module = SourceTree.path("build/pam_whorl.so")
    // Asks for the password and leaves it to the modules after it, as pam_unix does.
    let judge = "pam_exec.so expose_authtok quiet \(world.folder("judge"))"
    try world.folder.write(
      "#!/bin/sh\n[ \"$(tr -d '\\000')\" = '\(World.passcode)' ]\n", to: "judge", mode: 0o755)
    let told = world.folder("told")
    try? FileManager.default.removeItem(atPath: told)
    try world.folder.write("#!/bin/sh\ntr -d '\\000' > \(told)\n", to: "tell", mode: 0o755)
    try world.folder.makeFolder("pam.d", mode: 0o755)
    try world.folder.write(
      """
      auth [success=2 default=ignore] \(module) timeout=20 max-tries=1
      auth [success=1 default=ignore] \(judge)
      auth requisite pam_deny.so
      auth required pam_permit.so
      auth optional \(module) \(options)
      auth optional pam_exec.so expose_authtok quiet \(world.folder("tell"))
      account required pam_permit.so

      """, to: "pam.d/whorl-test")
    let result = try await PamWrapperLock.hold {
      let program = try RunningProgram(
        "/usr/bin/stdbuf", ["-oL", "/usr/bin/pamtester", "whorl-test", "root", "authenticate"],
        environment: [
          "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "LD_PRELOAD": "libpam_wrapper.so",
          "PAM_WRAPPER": "1", "PAM_WRAPPER_SERVICE_DIR": world.folder("pam.d"),
        ], input: password.map { $0 + "\n" } ?? "")
      try await world.answer(program, with: fingers, in: .output)
      return try await program.wait()
    }
    return (result, try? String(contentsOfFile: told, encoding: .utf8))
  }

  private func keybag(_ world: World) async throws -> String {
    try await world.whorl(["status", "--json"]).text.replacing(" ", with: "")
  }

  @Test func `After a finger the modules behind ours are given what opens the keyring`() async throws {
    let (world, daemon) = try await world()
    let finger = try await run(world, pressing: [SyntheticFinger.leftLoop.press(1)])
    #expect(finger.result.status == 0, "\(finger.result.text) \(finger.result.errorText)")
    #expect(finger.token == Self.secret)
    #expect(daemon.isRunning)
  }

  @Test func `Without "keyring" they are given nothing after a finger`() async throws {
    let (world, _) = try await world()
    let finger = try await run(world, "login", pressing: [SyntheticFinger.leftLoop.press(1)])
    #expect(finger.result.status == 0)
    #expect(finger.token == "" || finger.token == nil, "\(finger.token ?? "nothing")")
  }

  @Test func `A wrong finger and a wrong password get neither in nor anything`() async throws {
    let (world, _) = try await world()
    let end = try await run(world, password: "wrong", pressing: [SyntheticFinger.whorl.press(1)])
    #expect(end.result.status != 0)
    #expect(end.token == nil)
    #expect(!(end.result.text + end.result.errorText).contains(Self.secret))
  }

  @Test func `After the password they are given it too, and the keychain is unlocked`() async throws {
    let (world, first) = try await world()
    // Another start: the keychain is locked.
    first.signal(SIGTERM)
    _ = try await first.wait()
    try await world.startDaemon()
    #expect(try await keybag(world).contains("\"keybag\":\"locked\""))
    let end = try await run(world, password: World.passcode, pressing: [SyntheticFinger.whorl.press(1)])
    #expect(end.result.status == 0, "\(end.result.text) \(end.result.errorText)")
    #expect(end.token == Self.secret)
    #expect(try await keybag(world).contains("\"keybag\":\"unlocked\""))
  }

  @Test func `The password of a login ends a lockout`() async throws {
    let (world, _) = try await world()
    // Through another door: one service that misses so often would have to wait.
    for number in 1...5 { _ = try await world.whorl(["verify"], pressing: [SyntheticFinger.whorl.press(number)]) }
    #expect(try await keybag(world).contains("\"lockedOut\":true"))
    let end = try await run(world, "login", password: World.passcode)
    #expect(end.result.status == 0, "\(end.result.text) \(end.result.errorText)")
    #expect(end.token == World.passcode, "and the password stays what it is")
    #expect(try await keybag(world).contains("\"lockedOut\":false"))
  }

  @Test func `A user's own program is not given it, whatever it says`() async throws {
    let world = try await World()
    try await world.startDaemon()
    let transaction = "[byte 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]"
    for option in ["'keyring': <true>", "'transaction': <\(transaction)>"] {
      let call = try await RunningProgram.run(
        "/usr/bin/setpriv",
        [
          "--reuid=daemon", "--clear-groups", "/usr/bin/gdbus", "call", "--address", world.bus.address, "--dest",
          "org.whorl", "--object-path", "/org/whorl", "--method", "org.whorl.Authentication1.CompleteLogin", "daemon",
          "login", "@ah []", "{\(option)}",
        ], environment: ["PATH": "/usr/bin:/bin"])
      #expect(call.status != 0)
      #expect(call.errorText.contains("org.whorl.Error.Denied"), "\(call.errorText)")
    }
  }
}
