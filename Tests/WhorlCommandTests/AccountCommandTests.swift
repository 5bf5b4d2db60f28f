import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

/// `whorl forget` and `whorl rename-user`.
@Suite struct AccountCommandTests {
  init() { GLibLoop.startThread() }

  @GLibActor
  private func fixture() -> Fixture {
    let fixture = Fixture()
    fixture.service.forgotten.items = 3
    fixture.service.forgotten.prints = 2
    fixture.service.forgotten.keychains = 1
    return fixture
  }

  @Test @GLibActor func `forget asks on a terminal, and a no removes nothing`() async {
    let fixture = fixture()
    fixture.console.hasTerminal = true
    fixture.console.inputIsTerminal = true
    fixture.console.confirms = false
    #expect(await fixture.run("forget", "paul") == .cancelled)
    #expect(fixture.service.calls.isEmpty)
    fixture.console.confirms = true
    #expect(await fixture.run("forget", "paul") == .ok)
    #expect(fixture.service.calls == ["forget paul"])
    #expect(fixture.console.printed == ["Removed of \"paul\": 2 fingers, 3 secrets."])
  }

  @Test @GLibActor func `without a terminal forget needs --yes`() async {
    let fixture = fixture()
    fixture.console.hasTerminal = false
    #expect(await fixture.run("forget", "paul") == .usage)
    #expect(fixture.service.calls.isEmpty)
    #expect(fixture.complaint.contains("--yes"))
    #expect(await fixture.run("forget", "--yes", "paul") == .ok)
    #expect(fixture.service.calls == ["forget paul"])
  }

  @Test(arguments: ["CORP\\paul", "paul@corp", "-paul", "1000", "Paul Smith", "日本", "a\u{1B}[2J"])
  @GLibActor func `any name is handed over as it is, digits too, and shown without steering the terminal`(
    _ name: String
  ) async {
    let fixture = fixture()
    #expect(await fixture.run("forget", "-y", "--", name) == .ok)
    #expect(fixture.service.calls == ["forget \(name)"])
    #expect(!fixture.console.printed.joined().unicodeScalars.contains { $0.value < 32 })
  }

  @Test @GLibActor func `a uid is given by an option of its own`() async {
    let fixture = fixture()
    #expect(await fixture.run("forget", "-y", "--uid", "1000") == .ok)
    #expect(fixture.service.calls == ["forget uid 1000"])
    for words in [
      ["forget", "-y", "--uid", "x"], ["forget", "-y", "--uid", "-1"], ["forget", "-y", "--uid", "4294967295"],
      ["forget", "-y", "--uid", "1", "paul"], ["forget", "-y"], ["forget", "-y", ""], ["forget", "-y", "a", "b"],
    ] {
      let commands = Commands(
        console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      #expect(await commands.run(words) == .usage, "\(words)")
    }
    #expect(fixture.service.calls.count == 1)
  }

  @Test @GLibActor func `what remains is named and makes it a failure`() async {
    let fixture = fixture()
    fixture.service.forgotten.remains = ["a print on the chip of Goodix: the reader is in use"]
    fixture.service.forgotten.absentReaders = ["goodixmoc/0"]
    fixture.service.forgotten.chipPrints = 1
    fixture.service.forgotten.unreadKeychains = 1
    #expect(await fixture.run("forget", "-y", "paul") == .failed)
    let printed = fixture.console.printed.joined(separator: "\n")
    #expect(printed.contains("1 of them on a reader's chip"))
    #expect(printed.contains("a store that cannot be read"))
    #expect(printed.contains("goodixmoc/0"))
    #expect(fixture.console.told.contains { $0.contains("the reader is in use") })
    #expect(fixture.complaint.contains("not all was removed"))
  }

  @Test @GLibActor func `nothing to remove is told as that`() async {
    let fixture = Fixture()
    fixture.service.forgotten.keychains = 1
    #expect(await fixture.run("forget", "-y", "--uid", "1") == .notFound)
    #expect(fixture.console.printed.isEmpty && fixture.complaint.contains("no finger and no secret"))
  }

  @Test @GLibActor func `digits are a name, and who meant a uid is told so`() async {
    let fixture = Fixture()
    fixture.service.problems["forget"] = [WhorlError(.noSuchUser, "Nothing is kept for an account of that name.")]
    #expect(await fixture.run("forget", "-y", "1000") == .notFound)
    #expect(fixture.complaint.hasSuffix("for the uid: whorl forget --uid 1000"))
  }

  @Test @GLibActor func `refusals have their codes`() async {
    let fixture = fixture()
    fixture.service.problems["forget"] = [
      WhorlError(.denied, "Only an administrator may do that."), WhorlError(.noSuchUser, "Nothing is stored."),
    ]
    #expect(await fixture.run("forget", "-y", "paul") == .notAllowed)
    #expect(await fixture.run("forget", "-y", "paul") == .notFound)
  }

  @Test @GLibActor func `rename-user hands over and says what`() async {
    let fixture = fixture()
    fixture.service.renamed.prints = true
    fixture.service.renamed.keychain = true
    #expect(await fixture.run("rename-user", "paul", "paula") == .ok)
    #expect(fixture.service.calls == ["rename paul paula"])
    #expect(fixture.console.printed == ["Handed over from \"paul\" to \"paula\": fingers and secrets."])
    #expect(await fixture.run("rename-user", "paul") == .usage)
    #expect(await fixture.run("rename-user", "a", "b", "c") == .usage)
    fixture.service.problems["rename"] = [WhorlError(.denied, "Only root.")]
    #expect(await fixture.run("rename-user", "a", "b") == .notAllowed)
  }

  // MARK: Enrolment

  @Test(arguments: ["enroll-duplicate", "enroll-data-full", "enroll-failed"])
  @GLibActor func `a refused enrolment ends with the daemon's own line where it has one`(_ word: String) async {
    let fixture = Fixture()
    let why =
      "this finger is enrolled already as right-index-finger; delete it first (whorl delete right-index-finger)"
    fixture.service.scans = [[.init(word: word, done: true)], [.init(word: word, done: true)]]
    // A capital at the start of the daemon's sentence goes, since it follows a colon.
    fixture.service.explanation = "T" + why.dropFirst()
    #expect(await fixture.run("enroll", "left-thumb") == .failed)
    #expect(fixture.complaint.hasSuffix(why))
    fixture.service.explanation = ""
    #expect(await fixture.run("enroll", "left-thumb") == .failed)
    #expect(fixture.console.complaints.count == 2)
    #expect(fixture.service.calls.filter { $0 == "explain" }.count == 2)
  }

  @Test @GLibActor func `an enrolment that ended otherwise is not explained`() async {
    let fixture = Fixture()
    fixture.service.scans = [[.init(word: "enroll-disconnected", done: true)]]
    fixture.service.explanation = "old"
    #expect(await fixture.run("enroll") == .noReader)
    #expect(!fixture.service.calls.contains("explain"))
  }
}
