import Bus
import Glibc
import SecretMemory
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct LockoutTests {
  /// A reader that takes commands, claimed by a probe that has enrolled the finger "mine" as left-thumb.
  private func enrolledScene() async throws -> (World, FprintProbe) {
    let world = try await World(.device)
    try await world.startDaemon()
    let probe = try await FprintProbe(world)
    _ = try await probe.call("Claim", "")
    try await probe.enroll("left-thumb", scanning: "mine", on: world)
    return (world, probe)
  }

  /// Five misses: three through a secret, two through a check.
  private func missFiveTimes(_ world: World) async throws {
    let wrong = (1...3).map { SyntheticFinger.whorl.press($0) }
    #expect(try await world.whorl(["get", "mail"], pressing: wrong).status == 4)
    let last = try await world.whorl(["get", "mail"], pressing: Array(wrong.prefix(2)))
    #expect(last.status == 6 || last.status == 4, "\(last.end) \(last.errorText)")
  }

  @Test func `Five misses in a row lock fingers out, across a restart, until the passcode is given`() async throws {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    try await missFiveTimes(world)

    let locked = try await world.whorl(["get", "mail"])
    #expect(locked.status == 6, "\(locked.errorText)")
    daemon.signal(SIGTERM)
    #expect(try await daemon.wait().status == 0)
    try await world.startDaemon()
    #expect(try await world.whorl(["get", "mail"]).status == 6, "a restart changes nothing")

    let client = try await Client(world)
    await #expect(throws: (any Error).self) { try await client.givePasscode("wrong passcode") }
    #expect(try await world.whorl(["get", "mail"]).status == 6, "a wrong passcode ends nothing")
    try await client.givePasscode(World.passcode)
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)]).text == "a")
  }

  @Test func `Misses through every interface count together`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    #expect(
      try await world.whorl(["get", "mail"], pressing: (1...3).map { SyntheticFinger.whorl.press($0) }).status == 4)
    // fprintd's interface, as its own tool uses it.
    for number in 4...5 {
      let verify = try RunningProgram(
        "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/fprint-verify.py")],
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"], input: "")
      try await verify.waitFor("started")
      try await world.reader.press(SyntheticFinger.whorl.press(number))
      #expect(try await verify.wait().text.contains("verify-no-match"))
    }
    #expect(try await world.whorl(["get", "mail"]).status == 6)
    let refused = try await RunningProgram.run(
      "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/fprint-verify.py")],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"])
    #expect(refused.text.contains("net.reactivated.Fprint.Error.PermissionDenied"), "\(refused.text)")
  }

  @Test func `Who is locked out cannot try fingers by way of an enrolment either`() async throws {
    let (world, probe) = try await enrolledScene()
    for _ in 1...5 { #expect(try await probe.verify(scanning: "another", on: world) == "verify-no-match") }
    #expect(try await probe.error("VerifyStart", "any") == "PermissionDenied")
    #expect(try await probe.error("EnrollStart", "right-thumb") == "PermissionDenied")
  }

  @Test func `A match ends the row of misses`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    for round in 1...3 {
      let fingers = [SyntheticFinger.whorl.press(round), SyntheticFinger.leftLoop.press(round + 1)]
      #expect(try await world.whorl(["get", "mail"], pressing: fingers).text == "a")
      #expect(
        try await world.whorl(
          ["get", "mail"], pressing: [SyntheticFinger.whorl.press(round), SyntheticFinger.leftLoop.press(round + 2)]
        ).text == "a")
    }
  }

  @Test func `A chip that does not know the finger counts as a miss, for a secret too`() async throws {
    let (world, probe) = try await enrolledScene()
    _ = try await probe.call("Release")
    try await world.adopt()
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let request = try world.start(["get", "mail"])
    var seen = 0
    for _ in 1...3 {
      seen = try await world.nextPrompt(request, after: seen)
      try await world.device.command("ERROR 7")
    }
    #expect(try await request.wait().status == 4)
    #expect(try await world.whorl(["status"]).text.contains("3 of 5 misses"))
  }

  @Test func `A finger that is deleted while a login waits for it opens that no more`() async throws {
    let (world, probe) = try await enrolledScene()
    _ = try await probe.call("Release")
    await probe.property("finger-needed", is: .boolean(false))
    let client = try await Client(world)
    let login = Task {
      try await client.call("Authentication1", "Authenticate", [.string("root"), .string("test"), .options([:])])
    }
    await probe.property("finger-needed", is: .boolean(true))
    _ = try await probe.call("DeleteEnrolledFingers", "")
    try await world.device.scan("mine")
    await #expect(throws: (any Error).self) { try await login.value }
  }
}
