import Foundation
import Glibc
import ReaderLink
import TestKit
import Testing

/// A bridge that dies, stops or talks nonsense costs one clean error; the next request works, nothing stored is lost.
@Suite(.timeLimit(.minutes(3))) struct BridgeFailureTests {
  enum Fault: String, CaseIterable, CustomTestStringConvertible {
    case killed, stopped, garbage
    var testDescription: String { rawValue }
  }

  /// A world whose bridge can be made to fail in each of these ways.
  private struct Setting {
    let world: World
    let daemon: RunningProgram
    let programs: TemporaryFolder

    init() async throws {
      world = try await World()
      // whorld finds its bridge beside itself, so a copy of it beside a stand-in gets the stand-in.
      programs = try TemporaryFolder(open: true)
      for name in ["whorld", "whorl-passcode"] {
        try ProgramFile.copy(BuiltPrograms.path(name), to: programs(name))
      }
      try ProgramFile.copy(
        SourceTree.path("Tests/IntegrationTests/Scripts/garbling-bridge.py"), to: programs("whorl-reader"))
      try programs.write(BuiltPrograms.path("whorl-reader"), to: "real")
      daemon = try await world.startDaemon(programs("whorld"))
    }

    func cause(_ fault: Fault) throws {
      switch fault {
      case .killed: kill(try world.bridge(of: daemon), SIGKILL)
      case .stopped: kill(try world.bridge(of: daemon), SIGSTOP)
      case .garbage: try programs.write("", to: "garble")
      }
    }
  }

  @Test(arguments: Fault.allCases)
  func `A bridge that fails in the middle of an enrolment`(_ fault: Fault) async throws {
    let setting = try await Setting()
    let world = setting.world
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "bound", "--require", "current"], to: "kept").status == 0)

    let enrolment = try world.start(["enroll", "left-thumb"])
    try await world.answer(enrolment, with: [SyntheticFinger.whorl.press(1), SyntheticFinger.whorl.press(2)])
    try await enrolment.waitFor("stage 2 of 6", in: .errors)
    try setting.cause(fault)
    // Garbage comes with the next thing that the bridge says; a touch makes it say something.
    if fault == .garbage { try await world.reader.press(SyntheticFinger.whorl.press(3)) }
    let result = try await enrolment.wait()
    #expect(result.status == 1, "one clean error: \(result.errorText)")
    #expect(setting.daemon.isRunning)

    #expect(try await world.whorl(["fingers"]).text.contains("left-thumb") == false, "nothing half enrolled")
    let kept = try await world.whorl(["get", "bound"], pressing: [SyntheticFinger.leftLoop.press(3)])
    #expect(kept.text == "kept", "the next request works and nothing stored is lost: \(kept.errorText)")
    try await world.enroll(.whorl, as: "left-thumb")
  }

  @Test(arguments: Fault.allCases)
  func `A bridge that fails while a secret waits for its finger`(_ fault: Fault) async throws {
    let setting = try await Setting()
    let world = setting.world
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "kept").status == 0)

    let request = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(request, after: 0)
    try setting.cause(fault)
    if fault == .garbage { try await world.reader.press(SyntheticFinger.leftLoop.press(2)) }
    let result = try await request.wait()
    #expect(result.status != 0 && result.output.isEmpty, "one clean error: \(result.end) \(result.errorText)")
    #expect(result.errorText.contains("fail") || result.errorText.contains("stopped"), "\(result.errorText)")

    let next = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(3)])
    #expect(next.text == "kept", "\(next.errorText)")
    #expect(setting.daemon.isRunning)
  }

  @Test func `A client killed while it enrols leaves the reader free`() async throws {
    let world = try await World()
    try await world.startDaemon()
    let enrolment = try world.start(["enroll"])
    try await world.answer(enrolment, with: [SyntheticFinger.whorl.press(1)])
    try await enrolment.waitFor("stage 1 of 6", in: .errors)
    enrolment.signal(SIGKILL)
    _ = try await enrolment.wait()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(3)]).status == 0)
  }

  @Test func `A client killed while it waits for a finger leaves the reader free`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let request = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(request, after: 0)
    request.signal(SIGKILL)
    _ = try await request.wait()
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(3)]).text == "a")
  }

  @Test func `Ctrl-C ends an enrolment with its own code and keeps nothing`() async throws {
    let world = try await World()
    try await world.startDaemon()
    let enrolment = try world.start(["enroll"])
    try await world.answer(enrolment, with: [SyntheticFinger.whorl.press(1)])
    try await enrolment.waitFor("stage 1 of 6", in: .errors)
    enrolment.signal(SIGINT)
    #expect(try await enrolment.wait().status == 5)
    #expect(try await world.whorl(["fingers"]).status == 8)
    try await world.enroll(.leftLoop)
  }

  @Test func `Touches that could not be read are asked for again and count for nothing`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let request = try world.start(["get", "mail"])
    var seen = try await world.nextPrompt(request, after: 0)
    for _ in 1...6 {
      try await world.reader.retry(.centerFinger)
      let text = try await request.waitFor("\n", in: .errors, skipping: seen)
      seen = text.utf8.count
    }
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    let result = try await request.wait()
    #expect(result.text == "a", "\(result.errorText)")
    #expect(result.errorText.lowercased().contains("middle") || result.errorText.lowercased().contains("cent"))
  }

  @Test func `Two clients that ask at once are served one after the other, a touch each`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    for name in ["one", "two"] {
      #expect(try await world.whorl(["set", name, "--require", "any"], to: "secret \(name)").status == 0)
    }
    let first = try world.start(["get", "one"])
    _ = try await world.nextPrompt(first, after: 0)
    let second = try world.start(["get", "two"])
    try await second.waitFor("Waiting for the reader", in: .errors)
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    let one = try await first.wait()
    #expect(one.text == "secret one", "\(one.errorText)")
    #expect(second.isRunning && second.text().isEmpty, "one touch serves one request")
    try await second.waitFor("Swipe", in: .errors)
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    let two = try await second.wait()
    #expect(two.text == "secret two", "\(two.errorText)")
  }
}
