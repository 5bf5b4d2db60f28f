import Bus
import GLibLoop
import Glibc
import TestKit
import Testing

/// How an agent begins and ends, and which of several is asked.
@Suite(.timeLimit(.minutes(3))) struct AgentLifeTests {
  private func world(accounts: KeyValuePairs<String, UInt32>? = nil) async throws -> World {
    let world = try await World(accounts: accounts)
    try world.setPasscode()
    return world
  }

  private func store(_ world: World) async throws {
    #expect(try await world.whorl(["set", "mail", "--require", "passcode"], to: "s3cret").status == 0)
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `A signal ends it well, and takes away what it shows`(signal: Int32) async throws {
    let world = try await world()
    try await world.startDaemon()
    try await store(world)
    let agent = try await DesktopAgent(world, notifications: "markup")
    let asking = try world.start(["get", "mail"])
    let notice = try #require(try await agent.notifications?.shows())
    try await agent.pinentry.logs("open")
    agent.program.signal(signal)
    let end = try await agent.program.wait()
    #expect(end.status == 0, "\(end.errorText)")
    #expect(try await asking.wait().status == 12)
    try await agent.notifications?.closes(notice.id)
    try await agent.pinentry.logs("ended")
  }

  @Test func `It goes with the session's bus, and with the system's bus as a failure`() async throws {
    let world = try await world()
    try await world.startDaemon()
    let session = try await PrivateBus()
    let pinentry = try FakePinentry()
    let agent = try world.start(
      ["agent", "--pinentry", pinentry.path], adding: ["DBUS_SESSION_BUS_ADDRESS": session.address])
    try await agent.waitFor("ready", in: .errors)
    try await session.stop()
    #expect(try await agent.wait().status == 0)

    let other = try world.start(["agent", "--pinentry", pinentry.path])
    try await other.waitFor("ready", in: .errors)
    try await world.bus.stop()
    let end = try await other.wait()
    #expect(end.status == 9)
    // What is missing, before that it is ready for the rest.
    let lines = end.errorText.split(separator: "\n")
    #expect(lines.first?.contains("There is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)") == true, "\(lines)")
    #expect(lines.dropFirst().first == "The agent is ready.")
  }

  @Test func `One that could do nothing is never ready`() async throws {
    let world = try await world()
    try await world.startDaemon()
    for address in [nil, "unix:path=/nonexistent/bus"] {
      let agent = try world.start(
        ["agent", "--pinentry", "/nonexistent/pinentry"],
        adding: address.map { ["DBUS_SESSION_BUS_ADDRESS": $0] } ?? [:])
      let end = try await agent.wait()
      #expect(end.status == 1)
      #expect(end.errorText.contains("desktop session, or install a pinentry"), "\(end.errorText)")
      #expect(!end.errorText.contains("ready"))
    }
  }

  @Test func `Without whorld it says so; a whorld that comes back finds it again`() async throws {
    let world = try await world()
    let alone = try await DesktopAgent(world, isReady: false)
    #expect(try await alone.program.wait().status == 9)

    let daemon = try await world.startDaemon()
    try await store(world)
    let agent = try await DesktopAgent(world, answers: ["pin \(World.passcode)"], notifications: "hang")
    daemon.signal(SIGKILL)
    _ = try await daemon.wait()
    try await world.startDaemon()
    let client = try await Client(world)
    // Until it has registered again nobody can be asked.
    var secret: String?
    while secret == nil {
      do { secret = try await client.secret("mail") } catch let error as BusError {
        guard error.remoteName == "org.whorl.Error.NotInteractive" else { throw error }
      }
    }
    #expect(secret == "s3cret")
    #expect(agent.pinentry.timesAsked == 1)
    #expect(agent.program.isRunning)
  }

  @Test @GLibActor func `The bus's policy lets whorld ask an agent, and nobody else`() async throws {
    let world = try await World(polkit: nil, accounts: ["paul": 1, "ada": 2], underPolicy: true)
    try world.setPasscode(of: ["paul"])
    try await world.startDaemon()
    #expect(try await world.whorl(["set", "mail", "--require", "passcode"], to: "a", user: 1).status == 0)
    let agent = try await DesktopAgent(world, answers: ["pin \(World.passcode)"], user: 1)
    let result = try await world.whorl(["get", "mail"], user: 1)
    #expect(result.text == "a", "\(result.errorText)")
    #expect(agent.pinentry.timesAsked == 1)
    // As any program of any user could: the bus itself says no.
    for user: UInt32 in [1, 2] {
      let call = try await RunningProgram.run(
        "/usr/bin/gdbus",
        [
          "call", "--address", world.bus.address, "--dest", ":1.3", "--object-path", "/org/whorl/Agent", "--method",
          "org.whorl.Agent1.Hide", "1",
        ],
        user: user)
      #expect(call.status != 0)
      #expect(call.errorText.contains("AccessDenied"), "\(call.errorText)")
    }
  }

  @Test func `A pinentry that is not there is told to whoever looks after the agent`() async throws {
    let world = try await world()
    try await world.startDaemon()
    try await store(world)
    let agent = try world.start(
      ["agent", "--pinentry", "/nonexistent/pinentry"], adding: ["DBUS_SESSION_BUS_ADDRESS": world.bus.address])
    try await agent.waitFor("/nonexistent/pinentry cannot be run", in: .errors)
    try await agent.waitFor("ready", in: .errors)
    let result = try await world.whorl(["get", "mail"])
    #expect(result.status == 12)
    #expect(result.errorText.contains("your agent could not ask"), "\(result.errorText)")
    try await agent.waitFor("cannot ask for a password: it does not start", in: .errors)
  }

  @Test func `The agent of the caller's session is asked, then one that its seat shows, never one in the background`()
    async throws
  {
    let world = try await world()
    let logind = try await MockLogind(world)
    try await logind.addSession("front", user: 0, active: true)
    try await logind.addSession("back", user: 0, active: false)
    try await logind.knowPrograms()
    try await world.startDaemon()
    try await store(world)
    let passcode = "pin \(World.passcode)"
    let back = try await DesktopAgent(world, answers: [passcode]) { try logind.place($0, in: "back") }
    // A program in no session: nobody sits in front of the only agent.
    let lost = try await world.whorl(["get", "mail"])
    #expect(lost.status == 12, "\(lost.errorText)")
    let front = try await DesktopAgent(world, answers: [passcode, passcode]) { try logind.place($0, in: "front") }
    #expect(try await world.whorl(["get", "mail"]).text == "s3cret")
    #expect(back.pinentry.timesAsked == 0 && front.pinentry.timesAsked == 1)
    // One in the session behind is asked there.
    let program = try world.start(["get", "mail"])
    try logind.place(program, in: "back")
    #expect(try await program.wait().text == "s3cret")
    #expect(back.pinentry.timesAsked + front.pinentry.timesAsked == 2)
    // A second one in a session that has one, and one in a session that has none.
    let second = try await DesktopAgent(world, isReady: false) { try logind.place($0, in: "front") }
    #expect(try await second.program.wait().status == 14)
  }

  @Test func `The user's service is not pushed aside by an agent that came later, in whatever session`() async throws {
    let world = try await world()
    let logind = try await MockLogind(world)
    try await logind.addSession("front", user: 0, active: true)
    try await logind.knowPrograms()
    try await world.startDaemon()
    try await store(world)
    let passcode = "pin \(World.passcode)"
    func get() async throws -> RunningProgram.Result {
      let program = try world.start(["get", "mail"])
      try logind.place(program, in: "front")
      return try await program.wait()
    }
    let service = try await DesktopAgent(world, answers: [passcode])
    let later = try await DesktopAgent(world, answers: [passcode, passcode]) { try logind.place($0, in: "front") }
    #expect(try await get().text == "s3cret")
    #expect(service.pinentry.timesAsked == 1 && later.pinentry.timesAsked == 0)
    // When it has ended, the other one is asked; and one that comes after that does not push it aside either.
    service.program.signal(SIGTERM)
    _ = try await service.program.wait()
    #expect(try await get().text == "s3cret")
    let next = try await DesktopAgent(world, answers: [passcode])
    #expect(try await get().text == "s3cret")
    #expect(later.pinentry.timesAsked == 2 && next.pinentry.timesAsked == 0)
  }
}
