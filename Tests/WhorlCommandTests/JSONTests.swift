import Foundation
import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

/// What `--json` prints is JSON, as another program's parser reads it.
@Suite(.timeLimit(.minutes(2))) struct JSONTests {
  init() { GLibLoop.startThread() }

  private func parse(_ lines: [String]) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(lines.joined(separator: "\n").utf8), options: .fragmentsAllowed)
  }

  @GLibActor private func run(_ fixture: Fixture, _ words: [String]) async -> ExitCode {
    await Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service).run(words)
  }

  @Test @GLibActor func `a list is an array, element by element, however many parts it comes in`() async throws {
    let fixture = Fixture()
    let names = ["mail", "a \"quoted\" \\ name", "\u{1b}[2J\n\u{202e}", "ä\u{1f600}", "five"]
    fixture.service.stored = names.map { .init(name: $0, constraints: ["biometry-any"], secret: [1]) }
    fixture.service.stored[4].isGone = true
    fixture.service.stored[4].protection = "when-unlocked"
    #expect(await run(fixture, ["list", "--json"]) == .ok)
    let list = try #require(try parse(fixture.console.printed) as? [[String: Any]])
    #expect(list.map { $0["name"] as? String } == names)
    #expect(list[0]["requires"] as? String == "any")
    #expect(list[4]["gone"] as? Bool == true)
    #expect(list[4]["accessible"] as? String == "when-unlocked")
    // Nothing of it moves a terminal.
    for line in fixture.console.printed {
      #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
      #expect(!line.contains("\u{202e}"))
    }
  }

  @Test @GLibActor func `nothing is an empty array, and exit codes stay`() async throws {
    let fixture = Fixture()
    #expect(await run(fixture, ["list", "--json"]) == .ok)
    #expect(fixture.console.printed == ["[]"])
    let fingers = Fixture()
    #expect(await run(fingers, ["fingers", "--json"]) == .noFingers)
    #expect(fingers.console.printed == ["[]"])
    #expect(fingers.console.complaints.count == 1)
  }

  @Test @GLibActor func `status and fingers and the check are objects with what the text says`() async throws {
    let fixture = Fixture()
    fixture.service.fingers = ["right-thumb"]
    fixture.service.statusAnswer.keybag = "locked"
    fixture.service.statusAnswer.agent = "service"
    fixture.service.statusAnswer.agentProcess = 12
    fixture.service.statusAnswer.homeKeeper = "fscrypt"
    _ = await run(fixture, ["status", "--json"])
    let status = try #require(try parse(fixture.console.printed) as? [String: Any])
    #expect(status["keybag"] as? String == "locked")
    #expect(status["agent"] as? String == "service" && status["agentProcess"] as? Int == 12)
    #expect(status["agentProgram"] is NSNull)
    #expect((status["readers"] as? [[String: Any]])?.first?["name"] as? String == "Fake Reader")
    #expect(status["storeError"] is NSNull)
    #expect(status["home"] as? String == "fscrypt")
    #expect(status["homeLocked"] as? Bool == false)

    let list = Fixture()
    list.service.fingers = ["right-thumb"]
    #expect(await run(list, ["fingers", "--json"]) == .ok)
    let fingers = try #require(try parse(list.console.printed) as? [[String: Any]])
    #expect(fingers.map { $0["finger"] as? String } == ["right-thumb"])

    let check = Fixture()
    check.service.report.items = 2
    check.service.report.problems = ["item 1: \"bad\""]
    check.service.report.problemCount = 1
    #expect(await run(check, ["keychain", "check", "--json"]) == .storeUnavailable)
    let report = try #require(try parse(check.console.printed) as? [String: Any])
    #expect(report["items"] as? Int == 2)
    #expect(report["problems"] as? [String] == ["item 1: \"bad\""])
  }

  @Test(arguments: [
    ["get", "x", "--json"], ["set", "x", "--json"], ["reader", "trust", "--json"], ["keychain", "rekey", "--json"],
    ["key", "delete", "x", "--json"], ["unlock", "--json"],
  ])
  @GLibActor func `where nothing is printed it is refused`(words: [String]) async {
    let fixture = Fixture()
    #expect(await run(fixture, words) == .usage)
    #expect(fixture.service.calls.isEmpty)
  }
}
