import Foundation
import GLibLoop
import TestKit
import Testing
import WhorlClient

@testable import WhorlCommand

/// What `whorl log` says.
@Suite struct LogCommandTests {
  init() { GLibLoop.startThread() }

  @Test @GLibActor func `the log is in words, and as JSON in the bus's names`() async {
    func entry(_ outcome: String, _ deed: String, _ constraints: [String]) -> WhorlLogEntry {
      var entry = WhorlLogEntry()
      (entry.outcome, entry.deed, entry.constraints, entry.program) = (outcome, deed, constraints, "p")
      return entry
    }
    let fixture = Fixture()
    fixture.service.logAnswer = [
      entry("New\u{1B}Error", "read", ["new-thing", "other"]), entry("released", "read", ["user-presence"]),
      entry("PasscodeNeeded", "export", []), entry("AuthenticationFailed", "read", ["biometry-any"]),
    ]
    #expect(await fixture.run("log") == .ok)
    let fields = fixture.console.printed.map { $0.split(separator: "\t").dropFirst().map(String.init) }
    #expect(
      fields == [
        ["not recognised", "read", "-", "any", "p"], ["password asked for", "export", "-", "none", "p"],
        ["released", "read", "-", "presence", "p"], ["New\\u{1B}Error", "read", "-", "new-thing+other", "p"],
      ])
    let other = Fixture()
    other.service.logAnswer = fixture.service.logAnswer
    #expect(await other.run("log", "--json") == .ok)
    #expect(other.console.printed.joined().contains("\"PasscodeNeeded\""))
  }

  @Test func `every error that the page names has words`() throws {
    let page = try String(contentsOfFile: SourceTree.path("ARCHITECTURE.md"), encoding: .utf8)
    let list = try #require(page.split(separator: "`").first { $0.hasPrefix("AuthenticationFailed UserCancel") })
    let names = list.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(names.count > 30)
    for name in names { #expect(LogWords.outcome(name).first?.isLowercase == true, "\(name)") }
  }
}
