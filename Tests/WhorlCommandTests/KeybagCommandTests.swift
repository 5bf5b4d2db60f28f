import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

/// unlock, lock, recovery-key and when a secret is accessible.
@Suite(.timeLimit(.minutes(2))) struct KeybagCommandTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func fixture(_ keybag: String, answers: [String] = []) -> Fixture {
    let fixture = Fixture()
    fixture.service.statusAnswer.keybag = keybag
    fixture.service.passcode = "now"
    fixture.console.answers = answers
    return fixture
  }

  @Test @GLibActor func `unlock asks for the password, and says when there is nothing to do`() async {
    let fixture = fixture("locked", answers: ["wrong", "now"])
    #expect(await fixture.run("unlock") == .ok)
    #expect(fixture.console.asked == Array(repeating: "Your password, to unlock your secrets: ", count: 2))
    #expect(fixture.console.told.last == "Your secrets are unlocked.")
    #expect(fixture.service.calls.contains("close"))
    #expect(await fixture.run("unlock") == .ok)
    #expect(fixture.console.told.last == "Your secrets are unlocked already.")
    #expect(fixture.console.asked.count == 2)
  }

  @Test @GLibActor func `a password that was changed: the former one is asked for, a few times`() async {
    let right = fixture("locked", answers: ["now", "neither", "before"])
    right.service.formerPasscode = "before"
    #expect(await right.run("unlock") == .ok)
    #expect(
      right.console.asked.dropFirst()
        == Array(repeating: "Your former password (nothing: use the recovery key): ", count: 2)[...])

    let wrong = fixture("locked", answers: ["now", "a", "b", "c"])
    wrong.service.formerPasscode = "before"
    #expect(await wrong.run("unlock") == .authenticationFailed)
    #expect(wrong.service.calls.last == "close")

    let paper = fixture("locked", answers: ["now", "", "KEY"])
    paper.service.formerPasscode = "before"
    paper.service.recoveryKey = "KEY"
    #expect(await paper.run("unlock") == .ok)
    #expect(paper.service.statusAnswer.keybag == "unlocked")
  }

  @Test @GLibActor func `the recovery key opens without the password`() async {
    let fixture = fixture("locked", answers: ["typo", "KEY"])
    fixture.service.recoveryKey = "KEY"
    #expect(await fixture.run("unlock", "--recovery") == .ok)
    #expect(!fixture.service.calls.contains("passcode"))
    #expect(fixture.console.told.first?.contains("a character is wrong") == true)
  }

  @Test @GLibActor func `after the recovery key, recover takes the password for the next time, which may be left out`()
    async
  {
    for (answers, last) in [
      (["typo", "KEY", "wrong", "now"], "Your password unlocks them from now on."),
      (["KEY", ""], "Until your password"),
      (["KEY", "a", "b", "c"], "Until your password"),
    ] {
      let fixture = fixture("locked", answers: answers)
      fixture.service.recoveryKey = "KEY"
      fixture.service.statusAnswer.storeError = "the device key does not open"
      fixture.service.statusAnswer.recoverableBy = ["recovery-key"]
      #expect(await fixture.run("recover") == .ok)
      #expect(fixture.console.told.contains("Your secrets are back, and unlocked."))
      #expect(fixture.console.told.last?.hasPrefix(last) == true, "\(fixture.console.told)")
      #expect(fixture.console.asked.last?.hasPrefix("Your password, to unlock them from now on") == true)
    }
  }

  @Test @GLibActor func `without a terminal nothing is asked`() async {
    for words in [["unlock"], ["unlock", "--recovery"], ["recovery-key"]] {
      let fixture = fixture("locked")
      fixture.console.hasTerminal = false
      #expect(await fixture.run(words[0], words.count > 1 ? words[1] : "--") == .noTerminal)
      #expect(!fixture.service.calls.contains("open"))
    }
  }

  @Test @GLibActor func `lock locks, and says what is locked`() async {
    let fixture = fixture("unlocked")
    #expect(await fixture.run("lock") == .ok)
    #expect(fixture.service.statusAnswer.keybag == "locked")
    #expect(fixture.console.told.count == 1)
  }

  @Test @GLibActor func `the recovery key is shown once, on standard output alone`() async {
    let fixture = fixture("unlocked", answers: ["now"])
    #expect(await fixture.run("recovery-key") == .ok)
    #expect(fixture.console.emitted == Array("NEW00-KEY00".utf8))
    #expect(!fixture.console.told.contains { $0.contains("NEW00") })
    // Another takes a word of its own, for the first one dies with it.
    #expect(await fixture.run("recovery-key") == .failed)
    #expect(fixture.complaint.hasSuffix("whorl recovery-key --replace"))
    fixture.console.answers = ["now"]
    #expect(await fixture.run("recovery-key", "--replace") == .ok)
    fixture.console.answers = ["now"]
    #expect(await fixture.run("recovery-key", "--revoke") == .ok)
    #expect(await fixture.run("recovery-key", "--revoke") == .notFound)
  }

  @Test @GLibActor func `set takes when the secret is accessible, and unlocks where that is needed`() async {
    let fixture = fixture("locked", answers: ["now"])
    fixture.console.input = Array("s3cret".utf8)
    #expect(await fixture.run("set", "mail", "--accessible", "when-unlocked") == .ok)
    #expect(fixture.console.asked == ["Your password, to store the secret \"mail\": "])
    #expect(fixture.service.stored.map(\.protection) == ["when-unlocked"])
    #expect(await fixture.run("list") == .ok)
    #expect(fixture.console.printed == ["mail\tpresence when-unlocked"])
    // Without a terminal it says how.
    let silent = self.fixture("locked")
    silent.console.hasTerminal = false
    silent.console.input = Array("s3cret".utf8)
    #expect(await silent.run("set", "mail", "-c", "when-unlocked") == .locked)
    #expect(silent.complaint.contains("whorl unlock"))
  }

  @Test @GLibActor func `an existing secret keeps when it is accessible`() async {
    let fixture = fixture("unlocked")
    fixture.service.stored = [.init(name: "mail", constraints: [], secret: [1], protection: "when-unlocked")]
    fixture.console.input = Array("new".utf8)
    #expect(await fixture.run("set", "mail", "--accessible", "always") == .failed)
    #expect(fixture.complaint.contains("when-unlocked, not always"))
    #expect(await fixture.run("set", "mail") == .ok)
    #expect(fixture.service.stored[0].secret == Array("new".utf8))
  }

  @Test @GLibActor func `a secret that went with the password says so`() async {
    let fixture = fixture("locked")
    fixture.service.stored = [
      .init(
        name: "mail", constraints: [], secret: [], isGone: true, protection: "when-passcode-set",
        isPasscodeRemoved: true)
    ]
    #expect(await fixture.run("get", "mail") == .gone)
    #expect(fixture.complaint.contains("login password was removed"))
    #expect(await fixture.run("list") == .ok)
    #expect(fixture.console.printed == ["mail\tnone when-passcode-set gone"])
  }

  @Test(arguments: [
    ["set", "x", "--accessible", "sometimes"], ["set", "x", "-c", "always", "-c", "when-unlocked"], ["unlock", "x"],
    ["lock", "x"], ["recovery-key", "--replace", "--revoke"], ["recovery-key", "x"],
    ["get", "x", "--accessible", "always"],
  ])
  @GLibActor func `words that make no sense are refused before anything is asked`(words: [String]) async {
    let fixture = fixture("locked")
    let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
    #expect(await commands.run(words) == .usage)
    #expect(fixture.service.calls.isEmpty)
  }

  @Test @GLibActor func `status names what is locked and how it is unlocked`() async {
    for (keybag, words) in [
      ("unlocked", "unlocked; there is no recovery key"), ("locked", "unlock it: whorl unlock"),
      ("former-passcode-needed", "login password was changed"), ("session-locked", "wait until your session is"),
    ] {
      let fixture = fixture(keybag)
      _ = await fixture.run("status")
      #expect(fixture.console.printed.joined(separator: "\n").contains(words), "\(keybag)")
    }
  }

  @Test @GLibActor func `recover asks for what brings the secrets back, and for nothing where nothing is lost`() async {
    let fine = fixture("unlocked")
    #expect(await fine.run("recover") == .ok)
    #expect(fine.console.asked.isEmpty)
    for (ways, words, question, answers) in [
      (["recovery-key", "passcode"], [], "Your password, to bring your secrets back: ", ["wrong", "now"]),
      (["recovery-key", "passcode"], ["--recovery"], "Recovery key: ", ["wrong", "KEY"]),
      (["recovery-key"], [], "Recovery key: ", ["wrong", "KEY"]),
    ] as [([String], [String], String, [String])] {
      let fixture = fixture("", answers: answers)
      fixture.service.statusAnswer.storeError = "the device key cannot be opened; do something"
      fixture.service.statusAnswer.recoverableBy = ways
      fixture.service.recoveryKey = "KEY"
      let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      #expect(await commands.run(["recover"] + words) == .ok)
      // After the recovery key the password is asked for as well.
      #expect(fixture.console.asked.prefix(2) == [question, question])
      #expect(fixture.console.asked.count == (question == "Recovery key: " ? 3 : 2))
      #expect(fixture.service.statusAnswer.storeError.isEmpty)
    }
    let none = fixture("")
    none.service.statusAnswer.storeError = "the disk is gone; look for it"
    #expect(await none.run("recover") == .storeUnavailable)
  }

  @Test @GLibActor func `keychain check counts, and ends with 11 where something is damaged`() async {
    let fixture = fixture("unlocked")
    fixture.service.report.items = 3
    fixture.service.report.whole = 2
    fixture.service.report.lost = 1
    #expect(await fixture.run("keychain", "check") == .ok)
    #expect(fixture.console.printed == ["3 secrets: 2 whole, 1 gone as they should be"])
    fixture.service.report.problems = ["item 3 was altered\u{1b}[2J"]
    fixture.service.report.problemCount = 1
    #expect(await fixture.run("keychain", "check") == .storeUnavailable)
    #expect(fixture.console.printed.last?.contains("item 3 was altered") == true)
    #expect(fixture.console.printed.last?.contains("\u{1b}") == false)
    #expect(fixture.complaint.contains("1 thing is damaged"))
  }

  @Test @GLibActor func `keychain rekey takes the password and says what ends with it`() async {
    let fixture = fixture("unlocked", answers: ["wrong", "now"])
    fixture.service.statusAnswer.hasRecoveryKey = true
    fixture.service.stored = [.init(name: "mail", constraints: [], secret: [1])]
    #expect(await fixture.run("keychain", "rekey") == .ok)
    #expect(fixture.console.told.first?.contains("recovery key ends") == true)
    #expect(fixture.console.told.last == "1 secret is under new keys.")
    #expect(await fixture.run("keychain") == .usage)
    #expect(await fixture.run("keychain", "mend") == .usage)
  }
}
