import Bus
import TestKit
import Testing

/// Sessions as logind tells of them, and who has the reader.
@Suite(.timeLimit(.minutes(5))) struct SeatSwitchTests {
  /// A client in the session c1 that has claimed and waits for a finger.
  private func locker(_ world: World, _ logind: MockLogind) async throws -> FprintClient {
    let locker = try await FprintClient(world)
    try logind.place(locker.program, in: "c1")
    try await locker.ask("claim")
    try await locker.ask("verify")
    return locker
  }

  @Test func `A locker left in the background gives way to the seat, and needs no restart when its session is back`()
    async throws
  {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.addSession("c1", user: 0, active: true)
    try await logind.addSession("c2", user: 0, active: false)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)

    let locker = try await locker(world, logind)
    try await locker.waitFor("needed True", after: 0)

    // On the active seat it keeps others waiting, who are told whom for.
    let busy = try await world.whorl(["get", "mail"])
    #expect(busy.errorText.contains("the verification of root (python3)"), "\(busy.errorText)")

    var seen = locker.position
    try await logind.update("c1", ["Active": .boolean(false)])
    try await logind.update("c2", ["Active": .boolean(true)])
    let opened = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)])
    #expect(opened.text == "a", "\(opened.errorText)")
    #expect(!locker.program.text().contains("status"), "the locker goes on waiting")

    seen = locker.position
    try await logind.update("c2", ["Active": .boolean(false)])
    try await logind.update("c1", ["Active": .boolean(true)])
    try await locker.waitFor("needed True", after: seen)
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await locker.waitFor("status verify-match done", after: seen)
    try await locker.ask("stop")
  }

  @Test func `A locker whose session is in the background is answered, and armed when it comes to the front`()
    async throws
  {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.addSession("c1", user: 0, active: false)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let locker = try await locker(world, logind)
    #expect(!locker.program.text().contains("needed True"))
    try await logind.update("c1", ["Active": .boolean(true)])
    try await locker.waitFor("needed True", after: 0)
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await locker.waitFor("status verify-match done", after: 0)
  }

  @Test func `A request of another account that is at no seat gives way to who is there`() async throws {
    let world = try await World(accounts: ["paul": 1])
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.addSession("c1", user: 0, active: true)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    try await world.enroll(.whorl, user: 1)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a", user: 1).status == 0)
    let remote = try world.start(["get", "mail"], user: 1)
    _ = try await world.nextPrompt(remote, after: 0)
    let seated = try await FprintClient(world)
    try logind.place(seated.program, in: "c1")
    try await seated.ask("claim")
    try await seated.ask("verify")
    try await seated.waitFor("needed True", after: 0)
    let end = try await remote.wait()
    #expect(end.errorText.contains("somebody in the session at the seat"), "\(end.errorText)")
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    try await seated.waitFor("status verify-match done", after: 0)
  }

  @Test func `A reader that waits for a session is dark while that is not shown, though nobody else wants it`()
    async throws
  {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.addSession("c1", user: 0, active: true)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let locker = try await locker(world, logind)
    try await locker.waitFor("needed True", after: 0)
    var seen = locker.position
    try await logind.update("c1", ["Active": .boolean(false)])
    try await locker.waitFor("needed False", after: seen)
    seen = locker.position
    try await logind.update("c1", ["Active": .boolean(true)])
    try await locker.waitFor("needed True", after: seen)
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    try await locker.waitFor("status verify-match done", after: seen)
  }

  @Test func `A login over the network is not asked for a finger`() async throws {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.addSession("r1", user: 0, active: true)
    try await logind.update("r1", ["Remote": .boolean(true)])
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let remote = try RunningProgram(
      "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/misbehave.py"), "login"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"])
    try logind.place(remote, in: "r1")
    try remote.write("\n")
    try await remote.waitFor("BiometryNotAvailable")
  }

  @Test func `Nor is one among the services of somebody who is nowhere but at the other end of the network`()
    async throws
  {
    let world = try await World(accounts: ["paul": 1])
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.knowServices()
    try await logind.addSession("r1", user: 1, active: true)
    try await logind.update("r1", ["Remote": .boolean(true)])
    try await logind.addSession("c1", user: 1, active: true)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    /// sudo as `systemd-run --user` or a multiplexer starts it: root's, in no session.
    func login(amongServicesOf user: UInt32?, inSession session: String? = nil) throws -> RunningProgram {
      let program = try RunningProgram(
        "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/misbehave.py"), "login"],
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"])
      if let user { try logind.place(program, amongServicesOf: user) }
      if let session { try logind.place(program, in: session) }
      try program.write("\n")
      return program
    }
    // While he has a session here too, it may be meant for that.
    let probe = try await FprintProbe(world)
    let here = try login(amongServicesOf: 1)
    await probe.property("finger-needed", is: .boolean(true))
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    try await here.waitFor("in\n")
    // What a session that has ended left running is at the other end, too, where the others are.
    try await logind.update("c1", ["State": .string("closing")])
    let left = try login(amongServicesOf: nil, inSession: "c1")
    try await left.waitFor("BiometryNotAvailable")
    try await logind.end("c1")
    let remote = try login(amongServicesOf: 1)
    try await remote.waitFor("BiometryNotAvailable")
    // A service of the machine's, as a greeter is, is where the machine is.
    let greeter = try login(amongServicesOf: nil)
    await probe.property("finger-needed", is: .boolean(true))
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await greeter.waitFor("in\n")
  }

  @Test func `A claim from the background gives way to a program at the seat, and its end is no wrong finger`()
    async throws
  {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.addSession("c1", user: 0, active: false)
    try await logind.addSession("c2", user: 0, active: true)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let locker = try await locker(world, logind)
    let third = try await FprintClient(world)
    try logind.place(third.program, in: "c1")
    await #expect(throws: WorldError.self, "both are in the background") { try await third.ask("claim") }

    let greeter = try await FprintClient(world)
    try logind.place(greeter.program, in: "c2")
    try await greeter.ask("claim")
    try await locker.waitFor("status verify-unknown-error done", after: 0)
    await #expect(throws: WorldError.self) { try await locker.ask("claim") }
    try await greeter.ask("verify")
    try await greeter.waitFor("needed True", after: 0)
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    try await greeter.waitFor("status verify-match done", after: 0)
    try await greeter.ask("stop")
    try await greeter.ask("release")
    try await locker.ask("claim")
  }
}
