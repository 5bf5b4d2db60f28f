import Glibc
import TestKit
import Testing

/// The enclave and the clients of net.reactivated.Fprint share one reader.
@Suite(.timeLimit(.minutes(3))) struct ArbitrationTests {
  private func fprint(_ world: World, _ mode: String) throws -> RunningProgram {
    try RunningProgram(
      "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/fprint-verify.py"), mode],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"], input: "")
  }

  @Test func `A claim that only sits there does not keep a secret from its owner`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let locker = try fprint(world, "claim")
    try await locker.waitFor("claimed")
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)]).text == "a")
    #expect(locker.isRunning)
    let second = try await fprint(world, "claim").wait()
    #expect(second.text.contains("net.reactivated.Fprint.Error.AlreadyInUse"))
    // With its client the claim goes.
    locker.signal(SIGKILL)
    _ = try await locker.wait()
    let next = try fprint(world, "claim")
    try await next.waitFor("claimed")
  }

  @Test func `Who finds the reader in use is told by whom after a few seconds`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let locker = try fprint(world, "verify")
    try await locker.waitFor("started")
    let busy = try await world.whorl(["get", "mail"])
    #expect(busy.status == 14, "\(busy.errorText)")
    #expect(busy.errorText.contains("verification of root"))
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    #expect(try await locker.wait().text.contains("verify-match"))
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(3)]).text == "a")
  }
}
