import Foundation
import GLibLoop
import TestKit
import Testing

/// A program that knows nothing but its terminal: `whorl agent --terminal` asks there in its place.
@Suite(.timeLimit(.minutes(2))) struct TerminalAgentTests {
  /// A world whose root has a passcode and secrets behind these requirements, named after them.
  private func world(_ requirements: String..., enrolling finger: SyntheticFinger? = nil) async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    if let finger { try await world.enroll(finger) }
    for requirement in requirements {
      let stored = try await world.whorl(["set", requirement, "--require", requirement], to: "s3cret")
      #expect(stored.status == 0, "\(stored.errorText)")
    }
    return world
  }

  /// The reader below a shell, as in a session: the shell says how it ended.
  @GLibActor
  private func reader(_ world: World, _ arguments: String, shell: String = "$READER; echo ended $?") throws
    -> PtyProgram
  {
    var environment = world.environment.filter { !$0.key.hasPrefix("FP_") && $0.key != "STATE_DIRECTORY" }
    environment["WHORL_AGENT_PROGRAM"] = try BuiltPrograms.path("whorl")
    environment["READER"] = try BuiltPrograms.path("keychain-reader") + " " + arguments
    environment["TERM"] = "dumb"
    return try PtyProgram("/bin/bash", ["--norc", "-c", shell], environment: environment)
  }

  /// The process that the reader said it is.
  @GLibActor
  private func process(of terminal: PtyProgram) async throws -> Int32 {
    try await terminal.shows("reader ")
    try await terminal.shows("\r\n")
    let line = terminal.screen.split(whereSeparator: \.isNewline).last { $0.hasPrefix("reader ") }
    return try #require(line.flatMap { Int32($0.dropFirst(7)) })
  }

  /// Agents that serve that process.
  private func agents(of process: Int32) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { pid in
      let words = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/cmdline"))) ?? Data()
      return String(decoding: words, as: UTF8.self).contains("--process\0\(process)\0")
    }
  }

  @Test @GLibActor func `A finger is asked for with all that the person has to know`() async throws {
    let world = try await world("any", enrolling: .leftLoop)
    let terminal = try reader(world, "any")
    let pid = try await process(of: terminal)
    try await terminal.shows(
      "Whorl: A program that calls itself \"keychain-reader\" (process \(pid)) wants to read \"any\".\r\n"
        + "It says: \"show you [31many\"\r\nTouch the fingerprint reader; Ctrl-C: refuse.\r\n")
    try await terminal.stopsEchoing()
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await terminal.shows("secret of any: s3cret\r\nno child left\r\nended 0")
    #expect(terminal.echoes)
    #expect(try agents(of: pid).isEmpty)
    #expect(try await terminal.end() == 0)
  }

  @Test @GLibActor
  func `The passcode is asked for without an echo, again after a wrong one, and never seen by the program`()
    async throws
  {
    let world = try await world("passcode")
    let terminal = try reader(world, "passcode")
    try await terminal.shows("wants to read \"passcode\".\r\n")
    try await terminal.shows("Your login password: ")
    try await terminal.stopsEchoing()
    terminal.type("wrong\n")
    try await terminal.shows("2 tries are left.\r\nYour login password: ")
    try await terminal.stopsEchoing()
    terminal.type("also wrong\n")
    try await terminal.shows("This is the last try.\r\nYour login password: ")
    terminal.type(World.passcode + "\n")
    try await terminal.shows("secret of passcode: s3cret\r\nno child left\r\nended 0")
    #expect(try await terminal.end() == 0)
    #expect(terminal.echoes)
    #expect(!terminal.screen.contains(World.passcode) && !terminal.screen.contains("wrong\r"))
    // Who asks for what is said once.
    #expect(terminal.screen.components(separatedBy: "wants to read").count == 2)
  }

  @Test @GLibActor func `Enter goes on from the finger to the passcode, where that will do`() async throws {
    let world = try await world("presence", "any", enrolling: .leftLoop)
    let terminal = try reader(world, "presence any")
    try await terminal.shows("Enter: give your login password instead")
    try await terminal.stopsEchoing()
    terminal.type("\n")
    try await terminal.shows("You chose to give your login password instead of a finger.\r\nYour login password: ")
    try await terminal.stopsEchoing()
    terminal.type(World.passcode + "\n")
    try await terminal.shows("secret of presence: s3cret\r\n")
    try await terminal.shows("Touch the fingerprint reader; Ctrl-C: refuse.")
    try await terminal.stopsEchoing()
    terminal.type("\n")
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await terminal.shows("secret of any: s3cret\r\nno child left\r\nended 0")
  }

  @Test @GLibActor func `Ctrl-C refuses the request, and leaves the program alone`() async throws {
    let world = try await world("any", "passcode", enrolling: .leftLoop)
    let terminal = try reader(world, "any passcode any")
    try await terminal.shows("Touch the fingerprint reader")
    try await terminal.stopsEchoing()
    terminal.type("\u{3}")
    try await terminal.shows("no secret of any: userCancel\r\n")
    try await terminal.shows("Your login password: ")
    try await terminal.stopsEchoing()
    terminal.type("half a pass\u{3}")
    try await terminal.shows("no secret of passcode: userCancel\r\n")
    try await terminal.shows("Touch the fingerprint reader")
    try await terminal.stopsEchoing()
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await terminal.shows("secret of any: s3cret\r\nno child left\r\nended 0")
    #expect(terminal.echoes)
  }

  @Test(arguments: ["any", "passcode"]) @GLibActor
  func `A program that is killed leaves no agent, and the terminal as it was`(requirement: String) async throws {
    let world = try await world(requirement, enrolling: .leftLoop)
    let terminal = try reader(world, requirement, shell: "$READER; echo ended $?; read word; echo read $word")
    let pid = try await process(of: terminal)
    try await terminal.stopsEchoing()
    let agents = try agents(of: pid)
    #expect(agents.count == 1)
    kill(pid, SIGKILL)
    try await terminal.shows("ended 137")
    while try !terminal.echoes || !self.agents(of: pid).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    terminal.type("on\n")
    try await terminal.shows("read on")
  }

  @Test @GLibActor func `Where a desktop's agent is there the terminal stays silent`() async throws {
    let world = try await world("passcode")
    let agent = try await DesktopAgent(world, answers: ["pin \(World.passcode)"])
    let terminal = try reader(world, "passcode")
    try await terminal.shows("secret of passcode: s3cret\r\nno child left\r\nended 0")
    #expect(agent.pinentry.timesAsked == 1)
    #expect(!terminal.screen.contains("Whorl"))
    // Nor is there a place for another by hand.
    let environment = ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address]
    let second = try PtyProgram(
      try BuiltPrograms.path("whorl"), ["agent", "--terminal", "--process", "1"], environment: environment)
    #expect(try await second.end() == 14)
    #expect(second.screen.contains("process \(agent.program.pid)"))
  }

  @Test @GLibActor func `A program in the background does not touch the terminal`() async throws {
    let world = try await world("passcode")
    let terminal = try reader(world, "passcode", shell: "set -m; $READER & wait $!; echo ended $?")
    try await terminal.shows("no secret of passcode: notInteractive\r\nno child left\r\n")
    try await terminal.shows("ended 0")
    #expect(!terminal.screen.contains("Whorl"))
  }

  @Test @GLibActor func `Requests of one process share an agent, which asks for one thing after another`() async throws
  {
    let world = try await world("any", "passcode", enrolling: .leftLoop)
    let terminal = try reader(world, "--together any passcode")
    let pid = try await process(of: terminal)
    try await terminal.shows("Your login password: ")
    try await terminal.stopsEchoing()
    #expect(try agents(of: pid).count == 1)
    terminal.type(World.passcode + "\n")
    try await terminal.shows("secret of passcode: s3cret")
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    try await terminal.shows("secret of any: s3cret")
    try await terminal.shows("no child left\r\nended 0")
  }

  @Test @GLibActor
  func `A new secret arrives whole once its change was let happen, and what asks for nothing starts nothing`()
    async throws
  {
    let world = try await world("passcode", "none")
    let terminal = try reader(world, "--change passcode none")
    for deed in ["change", "read"] {
      try await terminal.shows("wants to \(deed) \"passcode\"")
      try await terminal.shows("Your login password: ")
      try await terminal.stopsEchoing()
      terminal.type(World.passcode + "\n")
    }
    try await terminal.shows("secret of passcode: changed\r\nsecret of none: changed\r\nno child left\r\nended 0")
    // Nobody was refused anything: the log has what the person let happen.
    let log = try await world.whorl(["log"])
    #expect(!log.text.contains("NotInteractive"), "\(log.text)")
  }

  @Test @GLibActor func `An agent that is killed in the middle of its question leaves no terminal without an echo`()
    async throws
  {
    let world = try await world("passcode")
    let terminal = try reader(world, "passcode")
    let pid = try await process(of: terminal)
    try await terminal.shows("Your login password: ")
    try await terminal.stopsEchoing()
    let agent = try #require(try agents(of: pid).first)
    kill(agent, SIGKILL)
    try await terminal.shows("no secret of passcode: notInteractive\r\nno child left\r\nended 0")
    #expect(terminal.echoes)
  }

  @Test @GLibActor func `Two terminals of a session do not answer for each other`() async throws {
    let world = try await world("passcode")
    let one = try reader(world, "passcode")
    try await one.shows("Your login password: ")
    let other = try reader(world, "passcode")
    // One question at a time is put to a user.
    one.type("\u{3}")
    try await one.shows("no secret of passcode: userCancel")
    try await other.shows("Your login password: ")
    try await other.stopsEchoing()
    other.type(World.passcode + "\n")
    try await other.shows("secret of passcode: s3cret")
    #expect(!one.screen.contains("s3cret"))
  }

  @Test @GLibActor func `After Ctrl-Z the question comes again`() async throws {
    let world = try await world("passcode")
    let terminal = try reader(
      world, "passcode", shell: "set -m; $READER; echo stopped; stty -a | grep -o ' echo '; fg; echo ended $?")
    try await terminal.shows("Your login password: ")
    try await terminal.stopsEchoing()
    terminal.type("\u{1A}")
    try await terminal.shows("stopped\r\n echo ")
    try await terminal.shows("Your login password: ")
    try await terminal.stopsEchoing()
    terminal.type(World.passcode + "\n")
    try await terminal.shows("secret of passcode: s3cret\r\nno child left\r\nended 0")
  }
}
