import Bus
import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

/// Agents that do not what they should, programs that pretend, and texts that try to get out of their place.
@Suite(.timeLimit(.minutes(3))) struct OddAgentTests {
  private func world() async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    #expect(try await world.whorl(["set", "mail", "--require", "passcode"], to: "s3cret").status == 0)
    return world
  }

  /// What an agent answers with instead of a sealed memory file.
  enum Oddity: String, CaseIterable {
    case text, pipe, readOnly, unsealed, huge, handleThatIsNotThere, strangeError, garbledError
  }

  private nonisolated static func answer(_ oddity: Oddity) throws -> BusAnswer {
    switch oddity {
    case .text: return BusAnswer([.string(World.passcode)])
    case .pipe:
      var ends: [Int32] = [-1, -1]
      #expect(pipe(&ends) == 0)
      close(ends[1])
      return BusAnswer([.handle(0)], descriptors: [ends[0]])
    case .readOnly:
      return BusAnswer([.handle(0)], descriptors: [open("/etc/hostname", O_RDONLY)])
    case .unsealed:
      let folder = try TemporaryFolder()
      return BusAnswer([.handle(0)], descriptors: [open(try folder.write(World.passcode, to: "file"), O_RDWR)])
    case .huge: return BusAnswer([.handle(0)], descriptors: [try Client.sealed(String(repeating: "x", count: 100_000))])
    case .handleThatIsNotThere: return BusAnswer([.handle(7)])
    case .strangeError: throw BusMethodError(name: "com.example.Strange", message: "no\u{1B}[31m\n")
    case .garbledError: throw BusMethodError(name: "org.whorl.Error.PasscodeNeeded", message: "")
    }
  }

  @Test(arguments: Oddity.allCases) @GLibActor
  func `Nonsense for an answer is no passcode, and the next agent is asked`(oddity: Oddity) async throws {
    let world = try await world()
    let agent = try await OddAgent(world, output: oddity == .text ? "s" : "h") { _ in try Self.answer(oddity) }
    let client = try await Client(world)
    let refusal = try await client.refusal("mail")
    #expect(refusal == "NotInteractive", "\(oddity)")
    #expect(agent.heard.filter { $0 == "RequestPasscode" }.count == 1)
    try await agent.hears("Hide")
    let status = try await client.call("Authentication1", "GetStatus").arguments[0].asOptions
    #expect(status?["passcode-delay"]?.unwrapped == .uint32(0))
    _ = try await agent.whorld("UnregisterAgent")
    let good = try await DesktopAgent(world, answers: ["pin \(World.passcode)"])
    #expect(try await client.secret("mail") == "s3cret")
    #expect(good.pinentry.timesAsked == 1)
  }

  @Test @GLibActor func `The password in a finger's place is for what was shown, takes it, and waits for a finger`()
    async throws
  {
    let world = try await world()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "finger", "--require", "any"], to: "s3cret").status == 0)
    #expect(try await world.whorl(["set", "either", "--require", "presence"], to: "s3cret").status == 0)
    let agent = try await OddAgent(world) { _ in throw BusMethodError(name: "org.whorl.Error.UserCancel", message: "") }
    let client = try await Client(world)
    func fallBack(_ number: UInt64, from bus: BusConnection) async -> String? {
      do {
        _ = try await bus.call(
          destination: "org.whorl", path: "/org/whorl", interface: "org.whorl.Authentication1", method: "FallBack",
          arguments: [.uint64(number)])
        return nil
      } catch {
        return error.remoteName
      }
    }
    for number in [UInt64(0), 1, .max] { #expect(await fallBack(number, from: agent.bus) == "org.whorl.Error.Denied") }
    // Nothing but a finger: the request goes on.
    let first = Task { try await client.refusal("finger") }
    try await agent.hears("Show")
    let number = try #require(agent.request.asUInt64)
    #expect(agent.details.last?["fallback"] == nil)
    #expect(await fallBack(number, from: agent.bus) == "org.whorl.Error.Denied")
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    #expect(try await first.value == nil)
    // Either will do; another program, of the same user too, cannot say so.
    let second = Task { try await client.refusal("either") }
    try await agent.hears("Show", times: 2)
    let other = try #require(agent.request.asUInt64)
    #expect(agent.details.last?["fallback"]?.unwrapped == .string("passcode"))
    #expect(await fallBack(other, from: client.bus) == "org.whorl.Error.Denied")
    #expect(!agent.heard.contains("RequestPasscode"))
    #expect(await fallBack(other, from: agent.bus) == nil)
    #expect(try await second.value == "UserCancel")
    #expect(agent.heard.contains("RequestPasscode"))
    #expect(await fallBack(other, from: agent.bus) == "org.whorl.Error.Denied")
  }

  @Test @GLibActor func `Agents of single processes, all that there can be, leave the session's agent its place`()
    async throws
  {
    let world = try await world()
    var connections: [BusConnection] = []
    func register(_ options: [String: BusValue]) async throws -> String? {
      let bus = try await BusConnection.open(address: world.bus.address)
      connections.append(bus)
      do {
        _ = try await bus.call(
          destination: "org.whorl", path: "/org/whorl", interface: "org.whorl.Authentication1",
          method: "RegisterAgent", arguments: [.options(options)])
        return nil
      } catch {
        return error.remoteName
      }
    }
    for process in UInt32(1)...8 { #expect(try await register(["process": .uint32(process)]) == nil) }
    #expect(try await register(["process": .uint32(9)]) == "org.whorl.Error.Busy")
    #expect(try await register([:]) == nil)
    #expect(try await register([:]) == "org.whorl.Error.Busy")
  }

  @Test @GLibActor func `An agent that never answers costs a call its time, and others nothing`() async throws {
    let world = try await world()
    #expect(try await world.whorl(["set", "open", "--require", "none"], to: "free").status == 0)
    let agent = try await OddAgent(world) { _ in
      try await glibSleep(milliseconds: 3_600_000)
      return BusAnswer()
    }
    let client = try await Client(world)
    let waiting = Task { try await client.refusal("mail", ["timeout": .uint32(2)]) }
    try await agent.hears("RequestPasscode")
    #expect(try await client.secret("open") == "free")
    #expect(try await waiting.value == "TimedOut")
    try await agent.hears("Hide")
    // Asked again, it has its time again.
    #expect(try await client.refusal("mail", ["timeout": .uint32(1)]) == "TimedOut")
  }

  @Test @GLibActor func `Only what was shown to an agent can be cancelled, and only by it`() async throws {
    let world = try await world()
    let agent = try await OddAgent(world) { _ in
      try await glibSleep(milliseconds: 3_600_000)
      return BusAnswer()
    }
    let client = try await Client(world)
    let waiting = Task { try await client.refusal("mail") }
    try await agent.hears("RequestPasscode")
    try await agent.hears("Show")
    for number: UInt64 in 0...5 {
      let error = try await client.error("Authentication1", "CancelRequest", [.uint64(number)])
      #expect(error == "org.whorl.Error.Denied", "a program that is no agent")
    }
    await #expect(throws: BusError.self) { _ = try await agent.whorld("CancelRequest", [.uint64(99)]) }
    _ = try await agent.whorld("CancelRequest", [.uint64(1)])
    #expect(try await waiting.value == "UserCancel")
    await #expect(throws: BusError.self) { _ = try await agent.whorld("CancelRequest", [.uint64(1)]) }
  }

  @Test @GLibActor func `An agent serves whorld alone`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world, answers: ["pin \(World.passcode)"], notifications: "plain")
    let client = try await Client(world)
    let names =
      try await client.bus.call(
        destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        method: "ListNames"
      ).arguments[0].asStrings ?? []
    var refusals: [String] = []
    for name in names where name.hasPrefix(":") {
      guard try await client.bus.credentials(of: name).pid == UInt32(agent.program.pid) else { continue }
      for method in ["RequestPasscode", "Show"] {
        do {
          _ = try await client.bus.call(
            destination: name, path: "/org/whorl/Agent", interface: "org.whorl.Agent1", method: method,
            arguments: [.uint64(1), .options(["wants": .string("passcode")])])
          Issue.record("\(method) was answered")
        } catch {
          refusals.append(error.remoteName ?? "")
        }
      }
    }
    #expect(refusals.contains("org.freedesktop.DBus.Error.AccessDenied"), "\(refusals)")
    #expect(agent.pinentry.timesAsked == 0)
    #expect(agent.notifications?.notices.isEmpty == true)
  }

  @Test @GLibActor func `Names and reasons stay where they belong`() async throws {
    let world = try await world()
    // The dialog stays open until the notice was seen: one that is overtaken by the end is never shown.
    let agent = try await DesktopAgent(world, notifications: "markup")
    let client = try await Client(world)
    let evil =
      "x\"\nGETPIN\r\nD oops\n%0AGETPIN\u{1B}[2J\u{202E}<img src='file:///etc/passwd'>&"
      + String(repeating: "y", count: 3000)
    let file = try Client.sealed("hidden")
    defer { close(file) }
    _ = try await client.call(
      "Keychain1", "Add",
      [
        .options(["service": .string("whorl"), "account": .string("evil"), "label": .string(evil)]),
        .options(["constraints": .strings(["device-passcode"])]), .handle(0),
      ], descriptors: [file])
    let refusal = Task { @GLibActor in try await client.refusal("evil", ["reason": .string(evil)]) }
    let notice = try await #require(agent.notifications).shows()
    try await agent.pinentry.logs("open")
    try agent.pinentry.answer(["cancel"])
    try agent.pinentry.goOn()
    #expect(try await refusal.value == "UserCancel")
    let log = agent.pinentry.log.filter { $0 != "open" && $0 != "ended" }
    #expect(log.map { $0.prefix { $0 != " " } } == ["SETTITLE", "SETDESC", "SETPROMPT", "GETPIN"])
    let description = log.first { $0.hasPrefix("SETDESC") } ?? ""
    #expect(description.utf8.count <= 1000)
    #expect(description.hasPrefix("SETDESC Whorl asks for your login password.%0AA program that calls itself "))
    #expect(description.unicodeScalars.allSatisfy { $0.value >= 32 && $0 != "\u{202E}" })
    // Three line ends, which are ours.
    #expect(description.split(separator: "%0A").count <= 5, "\(description)")
    #expect(description.contains("%250AGETPIN"))
    #expect(!notice.body.contains("<") && notice.body.contains("&lt;img"))
    #expect(notice.body.replacing("\\n", with: "").unicodeScalars.allSatisfy { $0.value >= 32 && $0 != "\u{202E}" })
    #expect(notice.body.count < 600)
  }

  @Test @GLibActor func `An agent learns what there is to know, and nothing of the secret`() async throws {
    let world = try await world()
    let agent = try await OddAgent(world) { _ in throw BusMethodError(name: "org.whorl.Error.UserCancel", message: "") }
    let client = try await Client(world)
    #expect(try await client.refusal("mail", ["reason": .string("  to\tsend  mail\n")]) == "UserCancel")
    let details = try #require(agent.details.last { $0["tries-left"] != nil }).mapValues(\.unwrapped)
    #expect(details["wants"] == .string("passcode"))
    #expect(details["deed"] == .string("read"))
    #expect(details["item"] == .string("mail"))
    #expect(details["reason"] == .string("to send mail"))
    #expect(details["pid"] == .uint32(UInt32(getpid())))
    #expect(details["why"] == .string("this needs your login password"))
    #expect(details["tries-left"] == .uint32(2))
  }
}
