import TestKit
import Testing

/// logind says when the machine sleeps; the readers are put away before it and found again after it.
@Suite(.timeLimit(.minutes(3))) struct SleepTests {
  private func logind(_ world: World) async throws -> RunningProgram {
    let program = try RunningProgram(
      "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind"],
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "TMPDIR": world.bus.temporaryFolder, "PATH": "/usr/bin:/bin",
      ], input: "")
    try await world.bus.waitForName("org.freedesktop.login1")
    return program
  }

  private func prepareForSleep(_ world: World, _ sleeps: Bool) async throws {
    let result = try await RunningProgram.run(
      "/usr/bin/gdbus",
      [
        "call", "--address", world.bus.address, "-d", "org.freedesktop.login1", "-o", "/org/freedesktop/login1", "-m",
        "org.freedesktop.DBus.Mock.EmitSignal", "org.freedesktop.login1.Manager", "PrepareForSleep", "b",
        "[<\(sleeps)>]",
      ])
    #expect(result.status == 0, "\(result.errorText)")
  }

  @Test(arguments: [true, false])
  func `A sleep ends what runs, with the bridge, and the finger works again after it`(_ isEarly: Bool) async throws {
    let world = try await World()
    var mock: RunningProgram?
    if isEarly { mock = try await logind(world) }
    let daemon = try await world.startDaemon()
    // logind that comes up later is noticed too.
    if !isEarly { mock = try await logind(world) }
    try await daemon.waitFor("Got delay inhibitor for sleep", in: .errors)
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)

    let request = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(request, after: 0)
    try await prepareForSleep(world, true)
    let ended = try await request.wait()
    #expect(ended.status == 5, "cancelled by the system: \(ended.errorText)")
    try await daemon.waitFor("Released delay inhibitor for sleep", in: .errors)
    #expect(throws: WorldError.self, "no bridge sleeps") { try world.bridge(of: daemon) }

    let seen = daemon.text(.errors).utf8.count
    try await prepareForSleep(world, false)
    try await daemon.waitFor("Got delay inhibitor for sleep", in: .errors, skipping: seen)
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)]).text == "a")
    withExtendedLifetime(mock) {}
  }
}
