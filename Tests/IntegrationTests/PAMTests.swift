import Foundation
import Glibc
import TestKit
import Testing

/// The real pam_whorl.so in a stack of its own, through pamtester, against the real daemon.
@Suite(.serialized, .timeLimit(.minutes(3))) struct PAMTests {
  private func pamtester(
    _ world: World, stack: String = "auth required MODULE timeout=20 max-tries=1\naccount required pam_permit.so\n",
    user: String = "root", pressing fingers: [FingerImage] = []
  ) async throws -> RunningProgram.Result {
    let module = SourceTree.path("build/pam_whorl.so")
    try world.folder.makeFolder("pam.d", mode: 0o755)
    try world.folder.write(stack.replacingOccurrences(of: "MODULE", with: module), to: "pam.d/whorl-test")
    return try await PamWrapperLock.hold {
      let program = try RunningProgram(
        "/usr/bin/stdbuf", ["-oL", "/usr/bin/pamtester", "whorl-test", user, "authenticate"],
        environment: [
          "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "LD_PRELOAD": "libpam_wrapper.so",
          "PAM_WRAPPER": "1", "PAM_WRAPPER_SERVICE_DIR": world.folder("pam.d"),
        ], input: "")
      try await world.answer(program, with: fingers, in: .output)
      return try await program.wait()
    }
  }

  @Test func `The right finger passes and a wrong one does not`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await pamtester(world, pressing: [SyntheticFinger.whorl.press(1)]).status != 0)
    let right = try await pamtester(world, pressing: [SyntheticFinger.leftLoop.press(2)])
    #expect(right.status == 0, "\(right.text) \(right.errorText)")
  }

  @Test func `Where no finger can be asked for, the stack goes on at once`() async throws {
    let world = try await World()
    let stack = "auth sufficient MODULE\nauth required pam_deny.so\naccount required pam_permit.so\n"
    #expect(try await pamtester(world, stack: stack).status != 0, "no daemon")
    let daemon = try await world.startDaemon()
    let nobody = try await pamtester(world, stack: stack)
    #expect(nobody.status != 0)
    #expect(!nobody.text.lowercased().contains("swipe"), "no prompt without a finger: \(nobody.text)")
    try await world.enroll(.leftLoop)
    // Through the other door: one service that misses so often would have to wait.
    for number in 1...5 {
      _ = try await world.whorl(["verify"], pressing: [SyntheticFinger.whorl.press(number)])
    }
    let locked = try await pamtester(world, stack: stack)
    #expect(locked.status != 0)
    #expect(!locked.text.lowercased().contains("swipe"), "no prompt while locked out: \(locked.text)")
    #expect(daemon.isRunning)
  }

  @Test func `A print found on the disk opens a login, as with fprintd`() async throws {
    let enrolledElsewhere = try await World()
    try await enrolledElsewhere.startDaemon()
    try await enrolledElsewhere.enroll(.leftLoop)
    let world = try await World()
    for folder in ["root", "root/virtual_image", "root/virtual_image/0"] {
      try world.folder.makeFolder("state/\(folder)")
    }
    try Bytes.write(
      try Bytes.read(enrolledElsewhere.state + "/root/virtual_image/0/7"),
      to: world.state + "/root/virtual_image/0/7")
    try await world.startDaemon()
    #expect(try await pamtester(world, pressing: [SyntheticFinger.leftLoop.press(2)]).status == 0)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    #expect(try await world.whorl(["get", "mail"]).status == 8, "but no secret")
  }

  @Test func `Killed in the middle, the daemon costs a login program no more than a moment`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let module = SourceTree.path("build/pam_whorl.so")
    try world.folder.makeFolder("pam.d", mode: 0o755)
    try world.folder.write("auth required \(module)\naccount required pam_permit.so\n", to: "pam.d/whorl-test")
    let end = try await PamWrapperLock.hold {
      let program = try RunningProgram(
        "/usr/bin/stdbuf", ["-oL", "/usr/bin/pamtester", "whorl-test", "root", "authenticate"],
        environment: [
          "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "LD_PRELOAD": "libpam_wrapper.so",
          "PAM_WRAPPER": "1", "PAM_WRAPPER_SERVICE_DIR": world.folder("pam.d"),
        ], input: "")
      _ = try await world.nextPrompt(program, after: 0, in: .output)
      daemon.signal(SIGKILL)
      return try await program.wait()
    }
    #expect(end.status != 0 && end.status != nil, "an error, not a crash: \(end.end)")
  }
}
