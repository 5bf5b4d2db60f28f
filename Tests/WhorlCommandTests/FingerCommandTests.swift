import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

@Suite(.timeLimit(.minutes(2))) struct FingerCommandTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func done(_ word: String) -> FprintScanStatus { FprintScanStatus(word: word, done: true) }
  @GLibActor private func step(_ word: String) -> FprintScanStatus { FprintScanStatus(word: word, done: false) }
  @GLibActor private var goodScan: [FprintScanStatus] {
    [step("enroll-stage-passed"), step("enroll-stage-passed"), step("enroll-stage-passed"), done("enroll-completed")]
  }

  @Test @GLibActor func `enroll tells each stage, confirms with one more touch, and releases`() async {
    let fixture = Fixture()
    fixture.service.scans = [goodScan, [done("verify-match")]]
    #expect(await fixture.run("enroll") == .ok)
    #expect(
      fixture.console.told == [
        "Enrolling the right index finger of paul on Fake Reader.",
        "Touch the reader, 3 times, a little differently each time.",
        "stage 1 of 3; lift the finger and touch again", "stage 2 of 3; lift the finger and touch again",
        "stage 3 of 3",
        "Touch the reader once more to check it.", "The right index finger of paul is enrolled.",
        "It opens logins, but no secret before your password was given for it: whorl adopt",
      ])
    #expect(
      fixture.service.calls == [
        "readers", "status", "status", "fingers paul", "items", "keys", "status", "open", "status", "close",
        "claim paul", "enroll right-index-finger",
        "verify right-index-finger",
        "release",
      ])
  }

  @Test @GLibActor func `a print that does not match its own finger is deleted again, and said to be`() async {
    let fixture = Fixture()
    fixture.service.scans = [goodScan, [done("verify-no-match")]]
    #expect(await fixture.run("enroll", "left-thumb") == .authenticationFailed)
    #expect(fixture.service.calls.suffix(2) == ["delete left-thumb", "release"])
    #expect(fixture.service.fingers.isEmpty)
    #expect(fixture.complaint.contains("the new print was deleted"))
  }

  @Test @GLibActor func `who enrols a finger anew is told before the first touch and at the end what it can cost`()
    async
  {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.scans = [goodScan, [done("verify-no-match")]]
    #expect(await fixture.run("enroll", "left-thumb") == .authenticationFailed)
    let warning = fixture.console.told.firstIndex { $0.contains("replaces the old one") }
    let touch = fixture.console.told.firstIndex { $0.contains("Touch") }
    #expect((warning ?? .max) < (touch ?? 0))
    #expect(fixture.complaint.contains("is now not enrolled any more"))
  }

  @Test @GLibActor func `no password is asked for while none is looked at, or where there is none`() async {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.statusAnswer.isLockedOut = true
    fixture.service.statusAnswer.passcodeDelay = 30
    #expect(await fixture.run("verify") == .lockedOut)
    #expect(fixture.complaint.contains("30 seconds"))

    let other = Fixture()
    other.service.fingers = ["left-thumb"]
    other.service.statusAnswer.isLockedOut = true
    other.service.statusAnswer.passcode = "not-set"
    #expect(await other.run("verify") == .lockedOut)
    #expect(other.complaint.contains("passwd") && other.complaint.contains("locked out"))
    for one in [fixture, other] { #expect(one.console.asked.isEmpty && one.console.told.isEmpty) }
  }

  @Test @GLibActor func `a daemon's sentence that names a remedy gets no second one`() async {
    let fixture = Fixture()
    fixture.service.problems["claim"] = [WhorlError(.fprint(.internalError), "The reader fell asleep; touch it.")]
    #expect(await fixture.run("enroll") == .failed)
    #expect(fixture.complaint == "reader Fake Reader: the reader fell asleep; touch it")
  }

  @Test @GLibActor func `a confirmation that fails in another way deletes the print too, and says where that failed`()
    async
  {
    let fixture = Fixture()
    fixture.service.scans = [goodScan]
    fixture.service.problems["verify"] = [WhorlError(.disconnected, "")]
    fixture.service.problems["delete"] = [WhorlError(.disconnected, "gone")]
    #expect(await fixture.run("enroll") == .noDaemon)
    #expect(fixture.complaint.contains("could not be deleted"))
    #expect(fixture.complaint.contains("whorl delete right-index-finger"))
  }

  @Test(arguments: [
    ("enroll-failed", ExitCode.failed, "did not fit together"), ("enroll-data-full", .failed, "memory is full"),
    ("enroll-duplicate", .failed, "enrolled already"), ("enroll-disconnected", .noReader, "dropped out"),
    ("enroll-unknown-error", .failed, "stopped or failed"), ("enroll-\u{1B}[2J", .failed, "enroll-\\u{1B}[2J"),
  ])
  @GLibActor func `each way that an enrolment fails has its text, and nothing is confirmed`(
    word: String, code: ExitCode, text: String
  ) async {
    let fixture = Fixture()
    fixture.service.scans = [[step("enroll-stage-passed"), done(word)], [done("verify-match")]]
    #expect(await fixture.run("enroll") == code)
    #expect(fixture.complaint.contains(text))
    #expect(fixture.service.calls.last == "release")
    #expect(!fixture.service.calls.contains { $0.hasPrefix("verify") })
  }

  @Test(arguments: [
    ("enroll-retry-scan", "That did not work; lift the finger and touch again."),
    ("enroll-swipe-too-short", "Too short; swipe the whole finger over the reader."),
    ("enroll-finger-not-centered", "Off the middle; touch the middle of the reader."),
    ("enroll-remove-and-retry", "Lift the finger, then touch again."),
    ("enroll-swipe-too-fast", "Too fast; swipe more slowly."),
    ("enroll-new-word", "The reader says \"enroll-new-word\"."),
  ])
  @GLibActor func `each retry has its hint and goes on`(word: String, text: String) async {
    let fixture = Fixture()
    fixture.service.scans = [[step(word)] + goodScan, [done("verify-match")]]
    #expect(await fixture.run("enroll") == .ok)
    #expect(fixture.console.told.contains(text))
  }

  @Test @GLibActor func `made-up status streams end, whatever they hold`() async {
    let words = [
      "", "enroll-stage-passed", "enroll-completed", "verify-match", "enroll-failed", "\u{0}", "verify-no-match",
      "enroll-retry-scan", String(repeating: "x", count: 10_000), "enroll-disconnected",
    ]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let fixture = Fixture()
      fixture.service.stages = Bool.random() ? 3 : nil
      fixture.service.scans = (0..<2).map { _ in
        (0..<Int.random(in: 0...12, using: &random)).map { _ in
          FprintScanStatus(word: words.randomElement() ?? "", done: Bool.random())
        }
      }
      let code = await fixture.run("enroll")
      #expect(fixture.service.calls.last == "release")
      #expect((code == .ok) == fixture.console.complaints.isEmpty)
      for line in fixture.console.told { #expect(line.utf8.count < 2000 && !line.contains("\n")) }
    }
  }

  @Test @GLibActor func `more stages than announced never count past the end`() async {
    let fixture = Fixture()
    fixture.service.scans = [
      Array(repeating: step("enroll-stage-passed"), count: 6) + [done("enroll-completed")], [done("verify-match")],
    ]
    #expect(await fixture.run("enroll") == .ok)
    #expect(!fixture.console.told.contains { $0.contains("4 of 3") })
  }

  @Test @GLibActor func `without a reader, or with a busy one, nobody is asked for a touch`() async {
    let none = Fixture()
    none.service.readerList = []
    #expect(await none.run("enroll") == .noReader)
    #expect(none.console.told.isEmpty)

    let busy = Fixture()
    busy.service.problems["claim"] = [WhorlError(.fprint(.alreadyInUse), "")]
    #expect(await busy.run("enroll") == .busy)
    #expect(busy.console.told.isEmpty)
    #expect(busy.complaint.contains("in use by another program"))

    let denied = Fixture()
    denied.service.problems["claim"] = [WhorlError(.fprint(.permissionDenied), "")]
    #expect(await denied.run("enroll") == .notAllowed)
    #expect(denied.console.told.isEmpty)
  }

  @Test(arguments: [("SUDO_UID", "1000"), ("PKEXEC_UID", "1000"), ("DOAS_USER", "paul")])
  @GLibActor func `under sudo the finger is that of whoever called it, and the name is said before the first touch`(
    variable: String, value: String
  ) async {
    var fixture = Fixture()
    fixture.surroundings.effectiveUser = 0
    fixture.surroundings.environment = [variable: value]
    fixture.service.scans = [goodScan, [done("verify-match")]]
    #expect(await fixture.run("enroll") == .ok)
    #expect(fixture.service.calls.contains("claim paul"))
    #expect(fixture.console.told.first?.contains("of paul") == true)
  }

  @Test @GLibActor func `--user counts more than sudo, digits are a name, and made-up users are refused`() async {
    var fixture = Fixture()
    fixture.surroundings.effectiveUser = 0
    fixture.surroundings.environment = ["SUDO_UID": "1000"]
    fixture.service.fingers = ["left-thumb"]
    #expect(await fixture.run("fingers", "--user", "ada") == .ok)
    #expect(fixture.service.calls.last == "fingers ada")
    #expect(await fixture.run("fingers", "--user", "1001") == .notFound)
    #expect(fixture.complaint == "no user is called \"1001\"; uid 1001 is --user ada")
    #expect(await fixture.run("fingers", "--user", "nobody-here") == .notFound)
    #expect(fixture.console.complaints.last?.contains("\"nobody-here\"") == true)
    fixture.surroundings.environment = ["SUDO_UID": "77777"]
    #expect(await fixture.run("enroll") == .notFound)
    fixture.surroundings.environment = ["SUDO_UID": "-1\u{1B}"]
    #expect(await fixture.run("enroll") == .notFound)
  }

  @Test @GLibActor func `variables of sudo mean nothing to a caller who is not root`() async {
    var fixture = Fixture()
    fixture.surroundings.environment = ["SUDO_UID": "1001"]
    fixture.service.fingers = ["left-thumb"]
    fixture.service.scans = [[done("verify-match")]]
    #expect(await fixture.run("verify") == .ok)
    #expect(fixture.service.calls.contains("claim paul"))
  }

  @Test @GLibActor func `secrets bound to the current fingers are named before a finger is enrolled or deleted`() async
  {
    let fixture = Fixture()
    fixture.console.inputIsTerminal = true
    fixture.service.stored = [.init(name: "vault", constraints: ["biometry-current-set"], secret: [1])]
    #expect(await fixture.run("enroll") == .cancelled)
    #expect(fixture.console.questions.first?.contains("\"vault\"") == true)
    #expect(!fixture.service.calls.contains("claim paul"))

    fixture.service.fingers = ["left-thumb"]
    #expect(await fixture.run("delete", "left-thumb") == .cancelled)
    #expect(fixture.service.fingers == ["left-thumb"])

    fixture.console.inputIsTerminal = false
    fixture.service.scans = [goodScan, [done("verify-match")]]
    #expect(await fixture.run("enroll") == .ok)
    #expect(fixture.console.told.first?.contains("\"vault\"") == true)
    #expect(fixture.console.questions.count == 2)
  }

  @Test @GLibActor func `verify tells a match from a miss by its exit code`() async {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.scans = [
      [step("verify-retry-scan"), done("verify-match")], [done("verify-no-match")], [done("verify-disconnected")], [],
    ]
    #expect(await fixture.run("verify") == .ok)
    #expect(fixture.service.calls.contains("verify any"))
    #expect(await fixture.run("verify", "left-thumb") == .authenticationFailed)
    #expect(await fixture.run("verify") == .noReader)
    #expect(await fixture.run("verify") == .failed)
    #expect(fixture.service.calls.filter { $0 == "release" }.count == 4)
  }

  @Test @GLibActor func `a lockout is ended with the passcode before a finger is asked for`() async {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.statusAnswer.isLockedOut = true
    fixture.service.passcode = "open sesame"
    fixture.console.answers = ["open sesame"]
    fixture.service.scans = [[done("verify-match")]]
    #expect(await fixture.run("verify") == .ok)
    #expect(fixture.console.asked == ["Your password, to use your fingers again: "])
    #expect(fixture.console.told.first?.contains("locked out") == true)

    for words in ["verify", "enroll"] {
      let other = Fixture()
      other.service.fingers = ["left-thumb"]
      other.service.statusAnswer.isLockedOut = true
      other.console.hasTerminal = false
      #expect(await other.run(words) == .lockedOut)
      #expect(other.console.told.isEmpty)
      #expect(!other.service.calls.contains { $0.hasPrefix("claim") })
    }
  }

  @Test @GLibActor func `verify of a finger that is not enrolled asks for no touch`() async {
    let fixture = Fixture()
    #expect(await fixture.run("verify") == .noFingers)
    fixture.service.fingers = ["left-thumb"]
    #expect(await fixture.run("verify", "right-thumb") == .notFound)
    #expect(fixture.console.told.isEmpty)
  }

  @Test @GLibActor func `fingers lists one on a line, and none has its own exit code`() async {
    let fixture = Fixture()
    #expect(await fixture.run("fingers") == .noFingers)
    #expect(fixture.complaint == "no finger of paul is enrolled; enrol one with: whorl enroll")
    fixture.service.fingers = ["left-thumb", "right-index-finger"]
    #expect(await fixture.run("fingers") == .ok)
    #expect(fixture.console.printed == ["left-thumb", "right-index-finger"])
    // polkit has no say in what is one's own.
    #expect(!fixture.service.calls.contains { $0.hasPrefix("fingers") })
    fixture.service.readerList = []
    fixture.service.statusAnswer.readers = []
    #expect(await fixture.run("fingers") == .noReader)
  }

  @Test @GLibActor func `fingers on several readers come with the reader's name`() async {
    let fixture = Fixture()
    var second = WhorlStatus.Reader()
    second.name = "Second"
    second.enrolled = ["right-thumb"]
    fixture.service.fingers = ["left-thumb"]
    fixture.service.statusAnswer.readers.append(second)
    #expect(await fixture.run("fingers") == .ok)
    #expect(fixture.console.printed == ["left-thumb\tFake Reader", "right-thumb\tSecond"])
  }

  @Test @GLibActor func `delete of all asks on a terminal, and needs --all without one`() async {
    let fixture = Fixture()
    fixture.console.inputIsTerminal = true
    fixture.service.fingers = ["left-thumb", "right-thumb"]
    #expect(await fixture.run("delete") == .cancelled)
    #expect(fixture.console.questions == ["Delete all fingers of paul (left thumb, right thumb)?"])
    #expect(fixture.service.fingers.count == 2)

    fixture.console.confirms = true
    #expect(await fixture.run("delete") == .ok)
    #expect(fixture.service.fingers.isEmpty)

    fixture.service.fingers = ["left-thumb"]
    fixture.console.hasTerminal = false
    #expect(await fixture.run("delete") == .usage)
    #expect(await fixture.run("delete", "--all") == .ok)
    #expect(fixture.service.fingers.isEmpty)
    #expect(await fixture.run("delete", "--all") == .noFingers)
  }

  @Test @GLibActor func `delete of one leaves the others`() async {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb", "right-thumb"]
    #expect(await fixture.run("delete", "right-thumb") == .ok)
    #expect(fixture.service.fingers == ["left-thumb"])
    #expect(await fixture.run("delete", "right-thumb") == .notFound)
    #expect(fixture.complaint.contains("enrolled: left-thumb"))
  }
}
