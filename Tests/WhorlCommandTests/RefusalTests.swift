import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

/// What a person is told where a finger does not count, somebody else decides, or a reader fails.
@Suite(.timeLimit(.minutes(2))) struct RefusalTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func done(_ word: String) -> FprintScanStatus { FprintScanStatus(word: word, done: true) }

  @GLibActor private func underSudo() -> Fixture {
    var fixture = Fixture()
    fixture.surroundings.effectiveUser = 0
    fixture.surroundings.environment = ["SUDO_UID": "1000"]
    fixture.service.fingers = ["left-thumb"]
    fixture.service.accounts[.name("paul")] = WhorlAccountStatus()
    return fixture
  }

  // MARK: Lockout

  @Test(arguments: ["verify", "enroll"])
  @GLibActor func `a lockout ends with the passcode though no finger is left`(_ verb: String) async {
    let fixture = Fixture()
    fixture.service.statusAnswer.isLockedOut = true
    fixture.service.statusAnswer.biometry = "not-enrolled"
    fixture.service.passcode = "open sesame"
    fixture.console.answers = ["open sesame"]
    fixture.service.scans = [[done("enroll-completed")], [done("verify-match")]]
    #expect(await fixture.run(verb) == (verb == "verify" ? .noFingers : .ok))
    #expect(fixture.service.calls.contains("passcode"))
    #expect(fixture.console.told.contains("Your fingers count again."))
  }

  @Test @GLibActor func `a lockout ends before polkit or a reader can refuse, for neither is needed`() async {
    for problem in [
      WhorlError(.fprint(.permissionDenied), "Not Authorized: x"), WhorlError(.fprint(.noSuchDevice), ""),
    ] {
      let fixture = Fixture()
      fixture.service.statusAnswer.isLockedOut = true
      fixture.service.passcode = "open sesame"
      fixture.console.answers = ["open sesame"]
      fixture.service.problems["readers"] = [problem]
      #expect(await fixture.run("verify") != .lockedOut)
      #expect(fixture.console.told.last == "Your fingers count again.")
    }
  }

  @Test(arguments: ["verify", "enroll"])
  @GLibActor func `for another account a lockout names its owner and the command, before anything else`(
    _ verb: String
  ) async {
    let fixture = underSudo()
    fixture.service.accounts[.name("paul")]?.isLockedOut = true
    #expect(await fixture.run(verb) == .lockedOut)
    #expect(fixture.complaint.contains("paul can end that with the login password: whorl verify (without sudo)"))
    #expect(!fixture.service.calls.contains { $0.hasPrefix("claim") })
    #expect(fixture.console.asked.isEmpty)
  }

  @Test(arguments: [("verify", "verify"), ("enroll", "enroll")])
  @GLibActor func `who is told nothing of another account learns of its lockout from the refusal, with the same code`(
    _ verb: String, call: String
  ) async {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.problems["account"] = [WhorlError(.denied, "")]
    fixture.service.problems[call] = [
      WhorlError(.fprint(.permissionDenied), "fingers do not count after 5 misses in a row; give your login password")
    ]
    #expect(await fixture.run(verb, "--user", "ada") == .lockedOut)
    #expect(fixture.complaint.contains("of ada") && fixture.complaint.contains("whorl verify"))
  }

  @Test @GLibActor func `a lockout without a password has one text and one code, whatever the command`() async {
    var codes: Set<ExitCode> = []
    for words in [["verify"], ["enroll"], ["get", "mail"], ["status"]] {
      let fixture = Fixture()
      fixture.service.statusAnswer.isLockedOut = true
      fixture.service.statusAnswer.deviceKey = "host"
      fixture.service.statusAnswer.enrolled = ["left-thumb"]
      fixture.service.statusAnswer.passcode = "not-set"
      fixture.service.stored = [.init(name: "mail", constraints: ["user-presence"], secret: [1])]
      fixture.service.problems["secret"] = [WhorlError(.passcodeNotSet, "x")]
      let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      codes.insert(await commands.run(words))
      #expect(fixture.complaint.contains("set one with passwd, then run whorl verify"), "\(words)")
    }
    #expect(codes == [.lockedOut])
  }

  @Test @GLibActor func `a miss says how many are left, and the last one that it was`() async {
    for fixture in [Fixture(), underSudo()] {
      fixture.service.fingers = ["left-thumb"]
      fixture.service.scans = [[done("verify-no-match")], [done("verify-no-match")]]
      fixture.service.statusAnswer.missesAllowed = 5
      fixture.service.statusAnswer.misses = 4
      fixture.service.accounts[.name("paul")]?.missesAllowed = 5
      fixture.service.accounts[.name("paul")]?.misses = 4
      #expect(await fixture.run("verify") == .authenticationFailed)
      #expect(fixture.complaint.contains("no match (1 more miss in a row and fingers are locked out)"))
    }
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.scans = [[done("verify-no-match")]]
    // The lockout comes with this very miss.
    fixture.service.onVerify = { $0.statusAnswer.isLockedOut = true }
    #expect(await fixture.run("verify") == .authenticationFailed)
    #expect(
      fixture.complaint.contains("no match; fingers are locked out") && fixture.complaint.contains("whorl verify"))
  }

  // MARK: polkit

  @Test @GLibActor func `a no of polkit's names polkit, the action and the remedy`() async {
    let fixture = Fixture()
    fixture.service.problems["fingers"] = [
      WhorlError(.fprint(.permissionDenied), "Not Authorized: net.reactivated.fprint.device.verify")
    ]
    #expect(await fixture.run("verify") == .notAllowed)
    #expect(fixture.complaint.contains("polkit does not allow it here (net.reactivated.fprint.device.verify)"))
    #expect(fixture.complaint.contains("sudo"))
  }

  @Test(arguments: [["verify", "-u", "ada"], ["enroll", "-u", "ada"], ["delete", "-a", "-u", "ada"]])
  @GLibActor func `for another account a no of polkit's asks for an administrator, and sudo stays about that account`(
    _ words: [String]
  ) async {
    let fixture = Fixture()
    fixture.service.problems["fingers"] = [
      WhorlError(.fprint(.permissionDenied), "Not Authorized: net.reactivated.fprint.device.setusername")
    ]
    let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
    #expect(await commands.run(words) == .notAllowed)
    #expect(fixture.complaint.contains("an administrator, whose password"))
    #expect(fixture.complaint.hasSuffix("run it with sudo and --user ada"))
    #expect(!fixture.complaint.contains("your password") && !fixture.complaint.contains("stays about you"))
  }

  @Test @GLibActor func `without polkit the package is named, and sudo is not, for root is refused too`() async {
    for uid: UInt32 in [0, 1000] {
      var fixture = Fixture()
      fixture.surroundings.effectiveUser = uid
      fixture.service.polkitIsThere = false
      fixture.service.problems["claim"] = [WhorlError(.fprint(.permissionDenied), "Not Authorized: x")]
      #expect(await fixture.run("enroll") == .notAllowed)
      #expect(fixture.complaint.contains("polkitd") && !fixture.complaint.contains("sudo"))
    }
  }

  @Test @GLibActor func `a wait for polkit's dialog is not silent`() async {
    let fixture = Fixture()
    fixture.service.stages = 1
    fixture.service.scans = [[done("enroll-completed")], [done("verify-match")]]
    fixture.service.onClaim = { $0.authorizing?() }
    #expect(await fixture.run("enroll") == .ok)
    #expect(fixture.console.told.contains { $0.contains("polkit asks for a password") })
  }

  // MARK: Secrets of others

  @Test(arguments: [["enroll", "left-thumb"], ["delete", "left-thumb"]])
  @GLibActor func `for another account root is told how many secrets end, and asked`(_ words: [String]) async {
    let fixture = underSudo()
    fixture.console.inputIsTerminal = true
    fixture.service.accounts[.name("paul")]?.boundSecrets = 2
    let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
    #expect(await commands.run(words) == .cancelled)
    #expect(
      fixture.console.questions
        == ["This destroys 2 secrets of paul, which require the current fingers. Go on?"])
    #expect(!fixture.service.calls.contains { $0.hasPrefix("claim") })

    fixture.service.accounts[.name("paul")]?.boundSecrets = 0
    fixture.service.scans = [[done("enroll-completed")], [done("verify-match")]]
    #expect(await commands.run(words) == .ok)
    #expect(fixture.console.questions.count == 1, "where there is none nobody is asked")
  }

  @Test @GLibActor func `who is told nothing of another account is warned in general`() async {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    #expect(await fixture.run("delete", "left-thumb", "--user", "ada") == .ok)
    #expect(
      fixture.console.told.first
        == "This destroys the secrets of ada that require the current fingers, if there are any.")
  }

  @Test @GLibActor func `under sudo, status and secrets say that they are root's`() async {
    let fixture = underSudo()
    _ = await fixture.run("status")
    #expect(fixture.console.printed.first == "account      root, for the command runs under sudo")
    #expect(fixture.console.printed.dropFirst().first == "             -> that of paul, without sudo: whorl status")
    for words in [["get", "mail"], ["list"], ["set", "mail"], ["rm", "other"]] {
      let fixture = underSudo()
      fixture.console.input = [1]
      let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      _ = await commands.run(words)
      #expect(fixture.console.told.filter { $0.contains("root's secrets") }.count == 1, "\(words)")
      #expect(fixture.console.told.first?.contains("those of paul leave out sudo") == true)
    }
    #expect(await fixture.run("get", "mail") == .notFound)
    #expect(fixture.console.complaints.last?.contains("no secret of root is called") == true)

    var own = Fixture()
    own.surroundings.environment = ["SUDO_UID": "1001"]
    _ = await own.run("status")
    #expect(own.console.printed.first?.hasPrefix("daemon") == true, "the variable means nothing to others")
  }

  @Test @GLibActor func `under sudo a hint names root, whose secrets they are`() async {
    let fixture = underSudo()
    fixture.service.fingers = []
    #expect(await fixture.run("status") == .noFingers)
    #expect(fixture.console.printed.contains("             -> enrol one: whorl enroll -u root"))
    #expect(fixture.complaint.hasSuffix("whorl enroll -u root"))
    fixture.service.stored = [.init(name: "whorl enroll", constraints: ["biometry-any"], secret: [1])]
    fixture.service.problems["secret"] = [
      WhorlError(.biometryNotEnrolled, "no finger is enrolled that may open secrets; enrol one with: whorl enroll"),
      WhorlError(.biometryLockout, ""),
    ]
    #expect(await fixture.run("get", "whorl enroll") == .noFingers)
    #expect(
      fixture.console.complaints.last
        == "\"whorl enroll\": no finger is enrolled that may open secrets; enrol one with: whorl enroll -u root")
    #expect(await fixture.run("get", "whorl enroll") == .lockedOut)
    #expect(fixture.console.complaints.last?.hasSuffix("whorl verify -u root") == true)
    fixture.service.statusAnswer.biometry = "not-enrolled"
    fixture.service.statusAnswer.enrolled = []
    fixture.console.input = [1]
    #expect(await fixture.run("set", "mail", "-r", "any") == .ok)
    #expect(fixture.console.told.last?.hasSuffix("whorl enroll -u root") == true)
    // Fingers are those of who called sudo.
    #expect(await fixture.run("verify") == .noFingers)
    #expect(fixture.console.complaints.last?.hasSuffix("whorl enroll --user paul") == true)
  }

  // MARK: Stores

  @Test @GLibActor func `a store of another account has one code and one text, and no touch is asked for`() async {
    let problem = "what is stored for uid 1000 is of the account \"old\", which had this uid before; an administrator"
    for fixture in [Fixture(), underSudo()] {
      fixture.service.fingers = ["left-thumb"]
      fixture.service.statusAnswer.storeError = problem
      fixture.service.statusAnswer.formerName = "old"
      fixture.service.accounts[.name("paul")]?.storeError = problem
      fixture.service.accounts[.name("paul")]?.formerName = "old"
      fixture.service.problems["verify"] = [WhorlError(.fprint(.permissionDenied), problem)]
      for words in [["enroll"], ["verify"]] {
        let commands = Commands(
          console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
        #expect(await commands.run(words) == .storeUnavailable, "\(words)")
        #expect(fixture.console.complaints.last?.hasSuffix(Hints.former("old", now: "paul")) == true)
      }
      #expect(!fixture.service.calls.contains { $0.hasPrefix("enroll") })
    }
    let fixture = Fixture()
    fixture.service.statusAnswer.storeError = problem
    fixture.service.statusAnswer.formerName = "old"
    fixture.service.problems["items"] = Array(repeating: WhorlError(.storeUnavailable, problem), count: 3)
    for words in [["get", "mail"], ["set", "mail"], ["list"]] {
      let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      #expect(await commands.run(words) == .storeUnavailable)
      #expect(fixture.console.complaints.last?.hasSuffix(Hints.former("old", now: "paul")) == true)
    }
    #expect(await fixture.run("status") == .storeUnavailable)
    #expect(fixture.console.printed.filter { $0.hasSuffix(Hints.former("old", now: "paul")) }.count == 1)
    #expect(!fixture.console.printed.contains { $0.contains("whorl enroll") || $0.contains("which had this uid") })
  }

  @Test @GLibActor func `a finger that was enrolled without the password is named, and what lets it open secrets`()
    async
  {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.statusAnswer.enrolled = ["left-thumb"]
    fixture.service.statusAnswer.unregistered = ["left-thumb"]
    fixture.service.statusAnswer.biometry = "not-enrolled"
    #expect(await fixture.run("status") == .noFingers)
    #expect(fixture.console.printed.contains { $0.hasSuffix("-> let them, with your password: whorl adopt") })
    #expect(fixture.console.complaints.last?.hasSuffix("whorl adopt") == true)
    fixture.service.stored = [.init(name: "mail", constraints: ["biometry-any"], secret: [1])]
    fixture.service.problems["secret"] = [WhorlError(.biometryNotEnrolled, "none; enrol one with: whorl enroll")]
    #expect(await fixture.run("get", "mail") == .noFingers)
    #expect(fixture.console.complaints.last?.contains("left-thumb is, for logins") == true)
    #expect(fixture.console.complaints.last?.hasSuffix("whorl adopt") == true)
    #expect(await fixture.run("set", "other", "-r", "current") == .noFingers)
    #expect(fixture.console.complaints.last?.contains("whorl adopt") == true)
  }

  // MARK: Readers

  @Test @GLibActor func `a reader that cannot be opened for what it is has its own code`() async {
    let fixture = Fixture()
    fixture.service.statusAnswer.readers[0].state = "blocked"
    fixture.service.problems["claim"] = [WhorlError(.fprint(.internalError), "Open failed with error: permission")]
    #expect(await fixture.run("enroll") == .noReader)
    #expect(fixture.complaint.contains("is blocked"))
  }

  @Test(arguments: [
    (
      "too-hot", "The chip has 70 degrees; try again when it has cooled down.",
      "too hot (the chip has 70 degrees); try again when"
    ),
    ("failed", "The driver did not understand; try again.", "failed (the driver did not understand); try again"),
    ("blocked", "", "is blocked"), ("ok", "", "dropped out"),
  ])
  @GLibActor func `a reader that dropped out is said to be what it is`(
    state: String, detail: String, text: String
  ) async {
    for words in [["enroll"], ["verify"]] {
      let fixture = Fixture()
      fixture.service.fingers = ["left-thumb"]
      fixture.service.statusAnswer.readers[0].state = state
      fixture.service.statusAnswer.readers[0].stateDetail = detail
      fixture.service.scans = [[done("\(words[0])-disconnected")]]
      let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      #expect(await commands.run(words) == .noReader)
      #expect(fixture.complaint.contains(text) && !fixture.complaint.contains("plug"))
    }
  }

  @Test @GLibActor func `a reader that is gone has a remedy for one that is built in, too`() async {
    let fixture = Fixture()
    fixture.service.fingers = ["left-thumb"]
    fixture.service.statusAnswer.readers = []
    fixture.service.scans = [[done("verify-disconnected")]]
    #expect(await fixture.run("verify") == .noReader)
    #expect(fixture.complaint.contains("is gone") && fixture.complaint.contains("built in"))
  }

  @Test @GLibActor func `who has the reader is named where whorld knows it`() async {
    let fixture = Fixture()
    fixture.service.statusAnswer.readers[0].state = "busy"
    fixture.service.statusAnswer.readers[0].stateDetail = "the verification of ada (kscreenlocker)"
    fixture.service.problems["claim"] = [WhorlError(.fprint(.alreadyInUse), "Device was already claimed")]
    #expect(await fixture.run("enroll") == .busy)
    #expect(fixture.complaint.contains("in use by the verification of ada (kscreenlocker); try again"))
  }

  @Test @GLibActor func `a reader that is swiped over is not touched`() async {
    for word in ["general", "center-finger", "remove-finger", "verify-retry-scan", "too-short", "too-fast"] {
      #expect(RetryTexts.hint(for: word, "swipe")?.contains("touch") == false)
      #expect(RetryTexts.hint(for: word, "press") != nil)
    }
  }

  @Test @GLibActor func `fprintd in whorld's place is named, with what to do`() async {
    for words in [["verify"], ["status"]] {
      let fixture = Fixture()
      fixture.service.absence = WhorlError(.otherDaemon, "")
      let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      #expect(await commands.run(words) == .noDaemon)
      // Of status the report says it, once.
      let told = fixture.console.printed + fixture.console.complaints
      #expect(told.filter { $0.contains("systemctl disable --now fprintd") }.count == 1)
    }
  }

  // MARK: Accounts

  @Test(arguments: ["verify", "fingers"])
  @GLibActor func `after a renaming the remedy is rename-user, and not another enrolment`(_ verb: String) async {
    for fixture in [Fixture(), underSudo()] {
      fixture.service.fingers = []
      fixture.service.statusAnswer.formerName = "pa ul"
      fixture.service.accounts[.name("paul")]?.formerName = "pa ul"
      // With one text and one code, whatever the command and whoever asks.
      #expect(await fixture.run(verb) == .storeUnavailable)
      #expect(fixture.complaint.hasSuffix(Hints.former("pa ul", now: "paul")))
      #expect(fixture.complaint.contains("sudo whorl rename-user 'pa ul' paul"))
      #expect(!fixture.complaint.contains("whorl enroll"))
    }
  }

  @Test @GLibActor func `nothing left to hand over is not told as handed over`() async {
    let fixture = Fixture()
    #expect(await fixture.run("rename-user", "paul", "paula") == .notFound)
    #expect(fixture.console.printed.isEmpty && fixture.complaint.contains("nothing is kept"))
  }

  @Test @GLibActor func `root is not asked about an account that is not there`() async {
    var fixture = Fixture()
    fixture.surroundings.effectiveUser = 0
    fixture.console.inputIsTerminal = true
    fixture.console.confirms = true
    #expect(await fixture.run("forget", "nobody") == .notFound)
    #expect(fixture.console.questions.isEmpty)
    fixture.service.accounts[.uid(7)] = WhorlAccountStatus()
    fixture.service.forgotten.prints = 1
    #expect(await fixture.run("forget", "--uid", "7") == .ok)
    #expect(fixture.console.questions.count == 1)
  }
}
