import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

private let everyCode: [WhorlError.Code] =
  [
    .authenticationFailed, .userCancel, .userFallback, .systemCancel, .appCancel, .passcodeNotSet, .passcodeNeeded,
    .passcodeDelayed, .biometryNotAvailable, .biometryNotEnrolled, .biometryLockout, .invalidContext, .notInteractive,
    .timedOut, .busy, .denied, .itemNotFound, .itemInvalidated, .duplicateItem, .param, .unsupported, .tooLarge,
    .storeUnavailable, .storeDamaged, .storeTooNew, .noSuchUser, .readerFailed, .failed, .noDaemon, .disconnected,
    .impostor, .badAnswer, .noAnswer, .cancelled, .secretMemory, .locked,
    .formerPasscodeNeeded, .applicationPasswordNeeded, .unknown("org.example.New"),
  ] + FprintErrorName.allCases.map { .fprint($0) }

@Suite(.timeLimit(.minutes(2))) struct SecretCommandTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func fixture(_ requirement: Requirement? = nil, secret: String = "s3cret") -> Fixture {
    let fixture = Fixture()
    if let requirement {
      fixture.service.stored = [
        .init(name: "mail", constraints: requirement.constraints, secret: Array(secret.utf8))
      ]
    }
    return fixture
  }

  @Test @GLibActor func `get gives the secret to the byte and names item and reader in the prompt`() async {
    let fixture = fixture(.any, secret: "a\u{0}b\n")
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(fixture.console.emitted == Array("a\u{0}b\n".utf8))
    #expect(fixture.console.told == ["Touch the reader (Fake Reader) to read the secret \"mail\"."])
    #expect(fixture.console.printed.isEmpty)
    #expect(fixture.service.calls.last == "close")
  }

  @Test @GLibActor func `get of a name that is not there never prompts`() async {
    let fixture = fixture()
    #expect(await fixture.run("get", "mail") == .notFound)
    #expect(fixture.service.calls == ["items"])
    #expect(fixture.console.told.isEmpty)
    #expect(fixture.complaint == "no secret is called \"mail\"; whorl list shows the names")
  }

  @Test @GLibActor func `a secret whose fingers changed is gone, and said to be`() async {
    let fixture = fixture(.current)
    fixture.service.stored[0].isGone = true
    #expect(await fixture.run("get", "mail") == .gone)
    #expect(fixture.complaint.contains("gone for good"))
    #expect(fixture.service.calls == ["items"])
    #expect(fixture.complaint.hasSuffix("whorl set --require current mail"))
  }

  @Test @GLibActor func `locked out, a secret that only a finger opens names the way back`() async {
    let fixture = fixture(.any)
    fixture.service.problems["secret"] = [WhorlError(.biometryLockout, "No finger counts; give a password once.")]
    #expect(await fixture.run("get", "mail") == .lockedOut)
    #expect(
      fixture.complaint
        == "\"mail\": fingers are locked out after too many misses; end that with your password: whorl verify")
  }

  @Test @GLibActor func `with neither finger nor password both remedies are named and nothing is asked`() async {
    let problems = [WhorlError(.passcodeNeeded, "no finger is enrolled; give it"), WhorlError(.passcodeNotSet, "x")]
    for problem in problems {
      let fixture = fixture(.presence)
      fixture.service.statusAnswer.passcode = "not-set"
      fixture.service.problems["secret"] = [problem]
      #expect(await fixture.run("get", "mail") == .failed)
      #expect(fixture.complaint.contains("whorl enroll"))
      #expect(fixture.complaint.contains("passwd"))
      #expect(fixture.console.asked.isEmpty)
    }
    let fixture = fixture(.presence)
    fixture.service.statusAnswer.passcode = "not-set"
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(!fixture.console.told[0].contains("Enter"))
  }

  @Test @GLibActor func `set for a finger that nobody has is refused, or warned of, before the secret is asked for`()
    async
  {
    let fixture = fixture()
    fixture.console.input = [1]
    fixture.service.statusAnswer.readers = [WhorlStatus.Reader()]
    fixture.service.statusAnswer.biometry = "available"
    fixture.service.statusAnswer.enrolled = ["left-thumb"]
    fixture.service.statusAnswer.unregistered = ["left-thumb"]
    #expect(await fixture.run("set", "mail", "--require", "current") == .noFingers)
    #expect(fixture.service.calls == ["items", "status"])
    #expect(fixture.console.told.isEmpty)
    #expect(await fixture.run("set", "mail", "--require", "any") == .ok)
    #expect(fixture.console.told.count == 1)
    fixture.service.statusAnswer.unregistered = []
    #expect(await fixture.run("set", "other", "--require", "current") == .ok)
  }

  @Test @GLibActor func `Enter goes on to the passcode, for secrets that take one`() async {
    let fixture = fixture(.presence)
    fixture.service.neverTouched = true
    fixture.service.passcode = "open sesame"
    fixture.console.pressesEnter = true
    fixture.console.answers = ["open sesame"]
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(fixture.console.emitted == Array("s3cret".utf8))
    #expect(fixture.console.told[0].contains("press Enter to use your password"))
    #expect(fixture.console.asked == ["Your password, to read the secret \"mail\": "])
    #expect(fixture.service.calls.contains("prefer"))
  }

  @Test @GLibActor func `during the pause after wrong passwords Enter is not offered`() async {
    let fixture = fixture(.presence)
    fixture.service.statusAnswer.passcodeDelay = 20
    fixture.console.pressesEnter = true
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(!fixture.console.told[0].contains("Enter"))
    #expect(!fixture.service.calls.contains("prefer"))
  }

  @Test @GLibActor func `Enter in a pause that began meanwhile does not lose the request for the finger`() async throws
  {
    let fixture = fixture(.presence)
    fixture.service.neverTouched = true
    fixture.service.onTouch = { $0.statusAnswer.passcodeDelay = 20 }
    fixture.console.pressesEnter = true
    let work = Task { await fixture.run("get", "mail") }
    while !fixture.console.told.contains(where: { $0.contains("none is looked at for 20 more seconds") }) {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(!fixture.service.calls.contains("prefer"))
    work.cancel()
    #expect(await work.value == .cancelled)
  }

  @Test @GLibActor func `who has the reader is said before the wait for it`() async {
    let fixture = fixture(.any)
    fixture.service.fingers = ["left-thumb"]
    fixture.service.statusAnswer.readers[0].state = "busy"
    fixture.service.statusAnswer.readers[0].stateDetail = "the verification of ada (kscreenlocker)"
    fixture.service.touch.insert(.queued, at: 0)
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(
      fixture.console.told == [
        "Waiting for the reader (Fake Reader), which is in use by the verification of ada (kscreenlocker).",
        "Touch the reader (Fake Reader) to read the secret \"mail\".",
      ])
    // With another reader that is free there is nothing to wait for.
    let other = self.fixture(.any)
    other.service.statusAnswer.readers = fixture.service.statusAnswer.readers
    var second = WhorlStatus.Reader()
    second.enrolled = ["left-thumb"]
    other.service.statusAnswer.readers.append(second)
    #expect(await other.run("get", "mail") == .ok)
    #expect(other.console.told.count == 1)
  }

  @Test @GLibActor func `Enter is not offered for secrets that only a finger opens`() async {
    let fixture = fixture(.any)
    fixture.console.pressesEnter = true
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(!fixture.console.told[0].contains("Enter"))
    #expect(!fixture.service.calls.contains("prefer"))
  }

  @Test(arguments: [(false, false), (true, false)])
  @GLibActor func `Enter is not offered without a terminal or in the background`(terminal: Bool, foreground: Bool) async
  {
    let fixture = fixture(.presence)
    fixture.console.hasTerminal = terminal
    fixture.console.isForeground = foreground
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(!fixture.console.told[0].contains("Enter"))
  }

  @Test @GLibActor func `a passcode without a terminal to ask on ends at once and says so`() async {
    let fixture = fixture(.passcode)
    fixture.console.hasTerminal = false
    #expect(await fixture.run("get", "mail") == .noTerminal)
    #expect(fixture.complaint.contains("no terminal to ask on; run whorl on one"))
    #expect(fixture.console.emitted == nil)
  }

  @Test @GLibActor func `a wrong passcode can be tried again, three times in all`() async {
    let fixture = fixture(.passcode)
    fixture.service.passcode = "right"
    fixture.console.answers = ["wrong", "right"]
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(fixture.console.told == ["That is not your password; try again."])

    let other = self.fixture(.passcode)
    other.service.passcode = "right"
    other.console.answers = ["a", "b", "c", "right"]
    #expect(await other.run("get", "mail") == .authenticationFailed)
    #expect(other.console.asked.count == 3)
    #expect(other.console.emitted == nil)
  }

  @Test(arguments: [([0, 1], ExitCode.lockedOut, "1 second"), ([0, 0, 30], .authenticationFailed, "30 seconds")])
  @GLibActor func `after wrong passcodes the delay is said, and none is asked for meanwhile`(
    delays: [Int], code: ExitCode, text: String
  ) async {
    let fixture = fixture(.passcode)
    fixture.service.passcode = "right"
    fixture.service.delays = delays
    fixture.console.answers = ["a", "b", "c", "right"]
    #expect(await fixture.run("get", "mail") == code)
    #expect(fixture.complaint.hasSuffix("try again in \(text)"))
    #expect(fixture.console.asked.count == delays.count)
  }

  @Test @GLibActor func `a passcode that is never enough does not go round for ever`() async {
    let fixture = fixture(.passcode)
    fixture.service.passcode = "right"
    fixture.service.problems["secret"] = Array(repeating: WhorlError(.passcodeNeeded, ""), count: 9)
    fixture.console.answers = Array(repeating: "right", count: 9)
    #expect(await fixture.run("get", "mail") == .noTerminal)
    #expect(fixture.console.asked.count == 1)
  }

  @Test @GLibActor func `no passcode at all, or the end of the input, cancels`() async {
    for answers in [[""], []] {
      let fixture = fixture(.passcode)
      fixture.console.answers = answers
      #expect(await fixture.run("get", "mail") == .cancelled)
      #expect(fixture.service.calls.last == "close")
    }
  }

  @Test @GLibActor func `cancelling while the finger is awaited ends the request and closes the context`() async {
    let fixture = fixture(.any)
    fixture.service.neverTouched = true
    let work = Task { await fixture.run("get", "mail") }
    while fixture.console.told.isEmpty { await Task.yield() }
    work.cancel()
    #expect(await work.value == .cancelled)
    #expect(fixture.service.calls.last == "close")
    #expect(fixture.complaint == "reading the secret \"mail\" was cancelled; to try again: whorl get mail")
  }

  @Test(arguments: [
    (["get", "a b"], "reading the secret \"a b\" was cancelled; to try again: whorl get 'a b'"),
    (["get", "--", "-x"], "reading the secret \"-x\" was cancelled; to try again: whorl get -- -x"),
  ])
  @GLibActor func `what was cancelled is named, and the words that try it again`(words: [String], expected: String)
    async
    throws
  {
    let invocation = try InvocationParser.parse(words)
    #expect(CancelTexts.failure(invocation, words, sudo: false) == CommandFailure(.cancelled, expected))
    #expect(
      CancelTexts.failure(invocation, words, sudo: true).message == expected.replacing(": whorl", with: ": sudo whorl"))
    // A name that steers a terminal does not do so here.
    let strange = ["set", "\u{1B}[2J", "--require", "any"]
    let message = CancelTexts.failure(try InvocationParser.parse(strange), strange, sudo: false).message
    #expect(message.hasSuffix("whorl set $'\\U0000001B[2J' --require any"), "\(message)")
    #expect(!message.contains("\u{1B}"))
    let long = ["get", String(repeating: "x", count: 400)]
    #expect(
      CancelTexts.failure(try InvocationParser.parse(long), long, sudo: false).message.hasSuffix(
        "run the same command again"))
  }

  @Test @GLibActor func `misses and retries are told in plain words, and the prompt comes once`() async {
    let fixture = fixture(.any)
    fixture.service.touch = [
      .queued, .waiting(reader: "Fake Reader", scanType: "swipe", fingers: []), .retry(reason: "too-fast"),
      .noMatch(triesLeft: 1),
      .waiting(reader: "Fake Reader", scanType: "swipe", fingers: []), .retry(reason: "never heard of"),
      .matched(finger: "left-thumb"),
    ]
    #expect(await fixture.run("get", "mail") == .ok)
    #expect(
      fixture.console.told == [
        "Waiting for the reader; another request is first.",
        "Swipe your finger over the reader (Fake Reader) to read the secret \"mail\".",
        "Too fast; swipe more slowly.", "That finger does not match; swipe the finger again (1 left).",
        "That did not work; swipe the finger again.",
      ])
  }

  @Test(arguments: everyCode)
  @GLibActor func `each problem has an exit code and one line with the name and something to do`(
    code: WhorlError.Code
  ) async {
    // These are answered by asking for the passcode; without a terminal they end too.
    let fixture = fixture(.any)
    fixture.console.hasTerminal = false
    fixture.service.problems["secret"] = [WhorlError(code, "")]
    let exit = await fixture.run("get", "mail")
    #expect(exit != .ok)
    #expect(exit == WhorlError(code, "").exitCode)
    #expect(fixture.console.complaints.count == 1)
    #expect(fixture.complaint.contains("\"mail\""))
    #expect(fixture.complaint.count > 20)
    #expect(fixture.console.emitted == nil)
  }

  @Test @GLibActor func `the exit codes that scripts rely on are distinct and fixed`() {
    let codes: [(WhorlError.Code, Int32)] = [
      (.failed, 1), (.itemNotFound, 3), (.authenticationFailed, 4), (.userCancel, 5), (.biometryLockout, 6),
      (.biometryNotAvailable, 7), (.biometryNotEnrolled, 8), (.noDaemon, 9), (.denied, 10), (.storeUnavailable, 11),
      (.notInteractive, 12), (.itemInvalidated, 13), (.busy, 14), (.timedOut, 15),
    ]
    for (code, number) in codes { #expect(WhorlError(code, "").exitCode.rawValue == number) }
    #expect(ExitCode.usage.rawValue == 2)
    #expect(ExitCode.ok.rawValue == 0)
  }

  @Test @GLibActor func `what the daemon says comes escaped, on one line`() async {
    let fixture = fixture(.any)
    fixture.service.problems["secret"] = [WhorlError(.failed, "bad\nthing\u{1B}[31m \u{9B}2J")]
    _ = await fixture.run("get", "mail")
    #expect(fixture.complaint == "\"mail\": bad thing [31m  2J")
  }

  @Test @GLibActor func `a name with control characters is escaped everywhere`() async {
    let name = "a\u{1B}]0;x\u{7}\nb"
    let fixture = Fixture()
    fixture.service.stored = [.init(name: name, constraints: ["biometry-any"], secret: [1])]
    fixture.service.touch = [.waiting(reader: "R\u{1B}c", scanType: "press", fingers: [])]
    #expect(await fixture.run("get", name) == .ok)
    #expect(await fixture.run("list") == .ok)
    #expect(await fixture.run("get", name + "?") == .notFound)
    for line in fixture.console.told + fixture.console.printed + fixture.console.complaints {
      #expect(!line.unicodeScalars.contains { $0.value < 32 && $0 != "\t" }, "\(line)")
    }
    #expect(fixture.console.told[0].contains("R\\u{1B}c"))
  }

  @Test @GLibActor func `set takes standard input to the byte, and presence by default`() async {
    let fixture = fixture()
    fixture.console.input = Array("s3\u{0}cret\n".utf8)
    #expect(await fixture.run("set", "mail") == .ok)
    #expect(fixture.service.stored.first?.secret == Array("s3\u{0}cret\n".utf8))
    #expect(fixture.service.stored.first?.constraints == ["user-presence"])
    #expect(fixture.console.asked.isEmpty)
  }

  @Test(arguments: Requirement.allCases)
  @GLibActor func `set stores under the requirement that was asked for`(requirement: Requirement) async {
    let fixture = fixture()
    fixture.console.input = [1]
    #expect(await fixture.run("set", "mail", "--require", requirement.rawValue) == .ok)
    #expect(fixture.service.stored.first?.constraints == requirement.constraints)
  }

  @Test @GLibActor func `set asks twice on a terminal, and stores nothing where the two differ`() async {
    let fixture = fixture()
    fixture.console.inputIsTerminal = true
    fixture.console.answers = ["one", "one"]
    #expect(await fixture.run("set", "mail") == .ok)
    #expect(fixture.console.asked == ["Secret for \"mail\": ", "The same again: "])

    let other = self.fixture()
    other.console.inputIsTerminal = true
    other.console.answers = ["one", "two"]
    #expect(await other.run("set", "mail") == .failed)
    #expect(other.service.stored.isEmpty)
  }

  @Test @GLibActor func `nothing on standard input never replaces a secret`() async {
    let fixture = fixture(.presence)
    #expect(await fixture.run("set", "mail") == .failed)
    #expect(fixture.service.stored.first?.secret == Array("s3cret".utf8))
  }

  @Test @GLibActor func `set on an existing name updates it, which may ask for the finger, and keeps its requirement`()
    async
  {
    let fixture = fixture(.any)
    fixture.console.input = Array("new".utf8)
    #expect(await fixture.run("set", "mail") == .ok)
    #expect(fixture.service.calls == ["items", "open", "status", "update", "close"])
    #expect(fixture.service.stored.first?.secret == Array("new".utf8))
    #expect(fixture.service.stored.first?.constraints == ["biometry-any"])
    #expect(fixture.console.told == ["Touch the reader (Fake Reader) to replace the secret \"mail\"."])
  }

  @Test @GLibActor func `set does not change what an existing secret requires`() async {
    let fixture = fixture(.any)
    fixture.console.input = Array("new".utf8)
    #expect(await fixture.run("set", "mail", "--require", "none") == .failed)
    #expect(fixture.complaint.contains("requires any, not none"))
    #expect(fixture.service.stored.first?.secret == Array("s3cret".utf8))
  }

  @Test(arguments: [[], ["--require", "current"]])
  @GLibActor func `a secret whose fingers changed is stored anew under what it required, and that is said`(
    options: [String]
  ) async {
    let fixture = fixture(.current)
    fixture.service.stored[0].isGone = true
    fixture.console.input = [9]
    let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
    #expect(await commands.run(["set", "mail"] + options) == .ok)
    #expect(fixture.service.stored.map(\.secret) == [[9]])
    #expect(fixture.service.stored.map(\.isGone) == [false])
    #expect(fixture.service.stored.map(\.constraints) == [["biometry-current-set"]])
    #expect(fixture.console.told.first?.contains("requires current as it did") == true)
  }

  @Test(arguments: ["presence", "any", "passcode", "none"])
  @GLibActor func `what a secret required that is gone is not changed either`(requirement: String) async {
    let fixture = fixture(.current)
    fixture.service.stored[0].isGone = true
    fixture.console.input = [9]
    #expect(await fixture.run("set", "mail", "--require", requirement) == .failed)
    #expect(fixture.complaint.contains("requires current, not \(requirement); remove it first with whorl rm"))
    #expect(fixture.service.stored.map(\.isGone) == [true])
    #expect(await fixture.run("rm", "mail") == .ok)
    #expect(await fixture.run("set", "mail", "--require", requirement) == .ok)
  }

  @Test @GLibActor func `a secret that is gone and required what this version does not know is not replaced`() async {
    let fixture = Fixture()
    fixture.service.stored = [.init(name: "mail", constraints: ["a", "b"], secret: [1], isGone: true)]
    fixture.console.input = [9]
    #expect(await fixture.run("set", "mail") == .failed)
    #expect(fixture.service.stored.map(\.isGone) == [true])
  }

  @Test @GLibActor func `nothing typed and nothing on standard input have one code`() async {
    let fixture = Fixture()
    fixture.console.inputIsTerminal = true
    fixture.console.answers = [""]
    #expect(await fixture.run("set", "mail") == .failed)
    fixture.console.inputIsTerminal = false
    #expect(await fixture.run("set", "mail") == .failed)
    #expect(fixture.service.stored.isEmpty)
  }

  @Test @GLibActor func `set that meets another program's add or remove goes the other way`() async {
    let fixture = fixture()
    fixture.console.input = Array("mine".utf8)
    fixture.service.beforeAdd = { $0.stored = [.init(name: "mail", constraints: [], secret: [0])] }
    #expect(await fixture.run("set", "mail") == .ok)
    #expect(fixture.service.calls == ["items", "add presence", "items", "open", "update", "close"])
    #expect(fixture.service.stored.first?.secret == Array("mine".utf8))

    let other = self.fixture(.any)
    other.console.input = [5]
    other.service.problems["update"] = Array(repeating: WhorlError(.itemNotFound, ""), count: 9)
    #expect(await other.run("set", "mail") == .failed)
    #expect(other.complaint.contains("another program"))
  }

  @Test @GLibActor func `list gives names and requirements, gone ones marked`() async {
    let fixture = Fixture()
    fixture.service.stored = [
      .init(name: "b\tb", constraints: ["user-presence"], secret: []),
      .init(name: "a", constraints: ["biometry-current-set"], secret: [], isGone: true),
      .init(name: "c", constraints: [], secret: []), .init(name: "d", constraints: ["x", "y\u{7}"], secret: []),
    ]
    #expect(await fixture.run("list") == .ok)
    #expect(fixture.console.printed == ["b\\tb\tpresence", "a\tcurrent gone", "c\tnone", "d\tx+y\\u{7}"])
  }

  @Test @GLibActor func `rm removes, and names what is not there`() async {
    let fixture = fixture(.any)
    #expect(await fixture.run("rm", "mail") == .ok)
    #expect(fixture.service.stored.isEmpty)
    #expect(await fixture.run("rm", "mail") == .notFound)
    #expect(fixture.complaint.contains("\"mail\""))
  }

  @Test(arguments: [
    ["get", "x"], ["set", "x"], ["list"], ["rm", "x"], ["enroll"], ["verify"], ["fingers"], ["delete", "--all"],
    ["status"],
  ])
  @GLibActor func `without the daemon every command ends with 9 and the remedy`(words: [String]) async {
    let fixture = Fixture()
    fixture.service.absence = WhorlError(.noDaemon, "Nothing on the bus is called org.whorl.")
    let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
    #expect(await commands.run(words) == .noDaemon)
    // Of status the report says it, once.
    let told = fixture.console.printed + fixture.console.complaints
    #expect(told.filter { $0.contains("sudo systemctl start whorld") }.count == 1)
    #expect(fixture.console.complaints.count == 1)
    #expect(fixture.console.asked.isEmpty)
  }

  @Test @GLibActor func `a word that is not UTF-8 is refused by its place`() async {
    let fixture = Fixture()
    #expect(await fixture.run("get", nil) == .usage)
    #expect(fixture.complaint.contains("argument 2 is not UTF-8"))
  }
}
