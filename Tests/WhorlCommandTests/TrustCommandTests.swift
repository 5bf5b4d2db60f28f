import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

/// Which fingers and readers may open secrets.
@Suite(.timeLimit(.minutes(2))) struct TrustCommandTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func done(_ word: String) -> FprintScanStatus { FprintScanStatus(word: word, done: true) }

  /// One finger that opens logins alone.
  @GLibActor private func fixture() -> Fixture {
    let fixture = Fixture()
    fixture.service.passcode = "pw"
    fixture.service.fingers = ["left-thumb"]
    fixture.service.statusAnswer.enrolled = ["left-thumb", "right-thumb"]
    fixture.service.statusAnswer.unregistered = ["left-thumb"]
    fixture.service.scans = [[done("enroll-completed")], [done("verify-match")]]
    return fixture
  }

  @GLibActor private func reader(_ id: String, _ name: String, trusted: Bool, present: Bool = true) -> WhorlReader {
    var reader = WhorlReader()
    reader.id = id
    reader.name = name
    reader.isTrusted = trusted
    reader.path = present ? "/r/\(id)" : nil
    reader.attachment = trusted ? "fixed" : "removable"
    return reader
  }

  // MARK: - enroll

  @Test @GLibActor func `a finger enrolled with the password opens secrets`() async {
    let fixture = fixture()
    fixture.console.answers = ["pw"]
    #expect(await fixture.run("enroll", "right-index-finger") == .ok)
    #expect(
      fixture.console.asked == ["Your password, to let this finger open your secrets (Enter alone: for logins only): "])
    #expect(fixture.service.calls.contains("adopt right-index-finger /r/0"))
    #expect(fixture.console.told.last == "The right index finger of paul is enrolled.")
    // Under the claim, after the finger was checked.
    #expect(
      fixture.service.calls.suffix(4) == [
        "verify right-index-finger", "adopt right-index-finger /r/0", "release", "close",
      ])
  }

  @Test @GLibActor func `without the password a finger opens logins, and what would change that is told`() async {
    for (answers, hasTerminal, passcode) in [([""], true, "set"), ([], false, "set"), ([], true, "not-set")] {
      let fixture = fixture()
      fixture.console.answers = answers
      fixture.console.hasTerminal = hasTerminal
      fixture.service.statusAnswer.passcode = passcode
      #expect(await fixture.run("enroll", "right-index-finger") == .ok)
      #expect(!fixture.service.calls.contains { $0.hasPrefix("adopt") })
      #expect(fixture.console.told.last?.contains("no secret before your password was given") == true)
      #expect(fixture.console.told.last?.contains("whorl adopt") == true)
      #expect(fixture.console.told.last?.contains("passwd") == (passcode == "not-set"))
    }
  }

  @Test @GLibActor func `a wrong password ends an enrolment before the first touch`() async {
    let fixture = fixture()
    fixture.console.answers = ["no", "no", "no"]
    #expect(await fixture.run("enroll", "right-index-finger") == .authenticationFailed)
    #expect(!fixture.service.calls.contains { $0.hasPrefix("claim") || $0.hasPrefix("enroll") })
    #expect(fixture.service.calls.last == "close")
  }

  @Test @GLibActor func `Ctrl-C at the password is no enrolment for logins`() async {
    let fixture = fixture()
    fixture.console.declines = true
    #expect(await fixture.run("enroll", "right-index-finger") == .cancelled)
    #expect(!fixture.service.calls.contains { $0.hasPrefix("enroll") })
  }

  @Test @GLibActor func `where the registration fails the finger is said to be enrolled for logins`() async {
    let fixture = fixture()
    fixture.console.answers = ["pw"]
    fixture.service.problems["adopt"] = [WhorlError(.storeUnavailable, "The disk is full; make room.")]
    #expect(await fixture.run("enroll", "right-index-finger") == .storeUnavailable)
    #expect(fixture.complaint.contains("enrolled for logins, but not for secrets (the disk is full)"))
    #expect(fixture.complaint.contains("whorl adopt right-index-finger"))
  }

  @Test @GLibActor func `an enrolment on a reader that is not trusted says how to trust it`() async {
    let fixture = fixture()
    fixture.console.answers = ["pw"]
    var adoption = WhorlAdoption()
    adoption.fingers = ["right-index-finger"]
    adoption.untrustedReaders = ["Look-alike"]
    fixture.service.adoption = adoption
    #expect(await fixture.run("enroll", "right-index-finger") == .ok)
    #expect(fixture.console.told.last?.contains("Look-alike") == true)
    #expect(fixture.console.told.last?.contains("whorl reader trust") == true)
  }

  @Test @GLibActor func `another account's finger is its owner's to register`() async {
    var fixture = fixture()
    fixture.surroundings = Surroundings(
      environment: ["SUDO_UID": "1000"], effectiveUser: 0, accounts: FakeAccounts(), pamRoot: "/nonexistent")
    #expect(await fixture.run("enroll", "right-index-finger") == .ok)
    #expect(fixture.console.asked.isEmpty)
    #expect(fixture.console.told.last?.contains("paul has to give the login password: whorl adopt") == true)
  }

  // MARK: - adopt

  @Test @GLibActor func `adopt names the fingers, takes the password and registers those alone`() async {
    let fixture = fixture()
    fixture.console.answers = ["pw"]
    #expect(await fixture.run("adopt") == .ok)
    #expect(fixture.console.told.first == "To open secrets from now on: left thumb.")
    #expect(fixture.service.calls.contains("adopt left-thumb"))
    #expect(fixture.console.printed == ["May open secrets now: left thumb."])
    #expect(fixture.service.calls.last == "close")
  }

  @Test @GLibActor func `adopt warns of the secrets that end with it`() async {
    let fixture = fixture()
    fixture.console.answers = ["pw"]
    fixture.service.stored = [FakeService.Stored(name: "mail", constraints: ["biometry-current-set"], secret: [])]
    #expect(await fixture.run("adopt", "left-thumb") == .ok)
    #expect(fixture.console.told.contains { $0.contains("\"mail\"") })
  }

  @Test @GLibActor func `adopt with a wrong password, a strange finger or without a terminal changes nothing`() async {
    let wrong = fixture()
    wrong.console.answers = ["no", "no", "no"]
    #expect(await wrong.run("adopt") == .authenticationFailed)

    let strange = fixture()
    #expect(await strange.run("adopt", "left-little-finger") == .notFound)

    let script = fixture()
    script.console.hasTerminal = false
    #expect(await script.run("adopt") == .noTerminal)

    let none = fixture()
    none.service.statusAnswer.enrolled = []
    none.service.statusAnswer.unregistered = []
    #expect(await none.run("adopt") == .noFingers)
    for fixture in [wrong, strange, script, none] {
      #expect(!fixture.service.calls.contains { $0.hasPrefix("adopt") })
      #expect(fixture.console.printed.isEmpty)
    }
  }

  @Test @GLibActor func `a finger that opens secrets already is not asked a password for`() async {
    let fixture = fixture()
    #expect(await fixture.run("adopt", "right-thumb") == .ok)
    #expect(fixture.console.asked.isEmpty)
    #expect(fixture.console.told == ["Right thumb may open secrets already; nothing was changed."])
  }

  // MARK: - reader

  @Test @GLibActor func `reader list shows what is there and what is trusted`() async {
    let fixture = fixture()
    fixture.service.known = [
      reader("0a", "Built in", trusted: true), reader("0b", "Stick\u{1b}", trusted: false),
      reader("0c", "Lost", trusted: true, present: false), reader("", "Nowhere", trusted: false),
    ]
    #expect(await fixture.run("reader", "list") == .ok)
    #expect(
      fixture.console.printed == [
        "0a\tBuilt in\ttrusted\tbuilt in", "0b\tStick\\u{1B}\tuntrusted\tplugged in", "0c\tLost\ttrusted\tnot here",
        "-\tNowhere\tuntrusted\tplugged in",
      ])
    let none = Fixture()
    #expect(await none.run("reader", "list") == .noReader)
  }

  @Test @GLibActor func `reader trust takes the only one that is not, and the password`() async {
    let fixture = fixture()
    fixture.console.answers = ["pw"]
    fixture.service.known = [reader("0a", "Built in", trusted: true), reader("0b", "Stick", trusted: false)]
    #expect(await fixture.run("reader", "trust") == .ok)
    #expect(fixture.service.calls.contains("trust 0b"))
    #expect(fixture.console.told.first?.contains("Stick, plugged in") == true)
    #expect(fixture.console.printed == ["Trusted: Stick (0b)."])
  }

  @Test @GLibActor func `reader trust does not guess`() async {
    let several = fixture()
    several.service.known = [reader("0a", "A", trusted: false), reader("0b", "B", trusted: false)]
    #expect(await several.run("reader", "trust") == .usage)
    #expect(several.complaint.contains("0a (A), 0b (B)"))

    let strange = fixture()
    strange.service.known = [reader("0a", "A", trusted: false)]
    #expect(await strange.run("reader", "trust", "0c") == .notFound)

    let gone = fixture()
    gone.service.known = [reader("0a", "A", trusted: true, present: false)]
    #expect(await gone.run("reader", "trust", "0a") == .notFound)

    let script = fixture()
    script.console.hasTerminal = false
    script.service.known = [reader("0a", "A", trusted: false)]
    #expect(await script.run("reader", "trust") == .noTerminal)

    let wrong = fixture()
    wrong.console.answers = ["no", "no", "no"]
    wrong.service.known = [reader("0a", "A", trusted: false)]
    #expect(await wrong.run("reader", "trust") == .authenticationFailed)
    for fixture in [several, strange, gone, script, wrong] {
      #expect(!fixture.service.calls.contains { $0.hasPrefix("trust") })
    }
  }

  @Test @GLibActor func `reader distrust takes one or all, without a password`() async {
    let fixture = fixture()
    fixture.service.known = [reader("0a", "A", trusted: true), reader("0b", "B", trusted: true, present: false)]
    #expect(await fixture.run("reader", "distrust") == .usage)
    #expect(fixture.complaint.contains("0a (A), 0b (B)"))
    #expect(await fixture.run("reader", "distrust", "0b") == .ok)
    #expect(await fixture.run("reader", "distrust", "0c") == .notFound)
    #expect(await fixture.run("reader", "distrust", "--all") == .ok)
    #expect(fixture.service.calls.filter { $0.hasPrefix("distrust") } == ["distrust 0b", "distrust all"])
    #expect(fixture.console.asked.isEmpty)
    // Also where there is but one: what it opens is out of reach afterwards.
    let other = self.fixture()
    other.service.known = [reader("0a", "A", trusted: true), reader("0b", "B", trusted: false)]
    #expect(await other.run("reader", "distrust") == .usage)
    #expect(other.complaint == "reader distrust: which one? Only A is trusted: whorl reader distrust 0a")
    #expect(!other.service.calls.contains { $0.hasPrefix("distrust") })
  }

  @Test @GLibActor func `under sudo it is said whose fingers and readers these are`() async {
    var fixture = fixture()
    fixture.surroundings = Surroundings(
      environment: ["SUDO_UID": "1000"], effectiveUser: 0, accounts: FakeAccounts(), pamRoot: "/nonexistent")
    fixture.service.known = [reader("0a", "A", trusted: true)]
    #expect(await fixture.run("reader", "list") == .ok)
    #expect(fixture.console.told.first?.contains("root's") == true)
  }
}
