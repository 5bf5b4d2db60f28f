import Bus
import Foundation
import GLibLoop
import Glibc
import TestKit
import Testing

/// Whatever keeps a person from using a finger, `whorl` says what it is and what leads out of it.
@Suite(.timeLimit(.minutes(3)), .enabled(if: geteuid() == 0, "other users need root")) struct WayOutTests {
  private static let paul: UInt32 = 1
  private static let ada: UInt32 = 2

  /// Five misses of paul's through `whorl verify`; the text of the last.
  private func missFiveTimes(_ world: World) async throws -> String {
    var last = ""
    for number in 1...5 {
      let miss = try await world.whorl(
        ["verify"], pressing: [SyntheticFinger.whorl.press(number)], user: Self.paul)
      #expect(miss.status == 4, "\(miss.errorText)")
      last = miss.errorText
      if number == 3 { #expect(last.contains("2 more misses in a row")) }
    }
    return last
  }

  private func lockedOutPaul() async throws -> World {
    let world = try await World(accounts: ["paul": Self.paul, "ada": Self.ada])
    try world.setPasscode(of: ["paul"])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    let last = try await missFiveTimes(world)
    #expect(last.contains("fingers are locked out") && last.contains("whorl verify"), "\(last)")
    return world
  }

  @Test func `A lockout with no finger left is told, and ended with the password`() async throws {
    let world = try await lockedOutPaul()
    #expect(try await world.whorl(["delete", "--all"], user: Self.paul).status == 0)
    let status = try await world.whorl(["status"], user: Self.paul)
    #expect(status.text.contains("fingers are locked out after 5 misses"), "\(status.text)")
    #expect(status.text.contains("-> end that with your password: whorl verify"))
    for verb in ["verify", "enroll"] {
      let refused = try await world.whorl([verb], user: Self.paul)
      #expect(refused.status == 6, "\(refused.errorText)")
      #expect(refused.errorText.contains("whorl verify"), "\(refused.errorText)")
    }
    let program = try world.startOnTerminal(["verify"], user: Self.paul)
    try await program.waitFor("Your password, to use your fingers again: ")
    try program.write(World.passcode + "\n")
    let verified = try await program.wait()
    #expect(verified.text.contains("Your fingers count again."), "\(verified.text)")
    #expect(verified.status == 8, "there is still no finger")
    #expect(try await !world.whorl(["status"], user: Self.paul).text.contains("lockout"))
  }

  @Test func `Enrolling in a lockout asks for the password first, and then enrols`() async throws {
    let world = try await lockedOutPaul()
    let program = try world.startOnTerminal(["enroll", "left-thumb"], user: Self.paul)
    try await program.waitFor("Your password, to use your fingers again: ")
    try program.write(World.passcode + "\n")
    let words = "Your fingers count again."
    let text = try await program.waitFor(words)
    var seen = text.range(of: words).map { text[..<$0.upperBound].utf8.count } ?? 0
    for number in 1...7 {
      seen = try await world.nextPrompt(program, after: seen, in: .output)
      try await world.reader.press(SyntheticFinger.rightLoop.press(number))
    }
    let enrolled = try await program.wait()
    #expect(enrolled.status == 0, "\(enrolled.text)")
  }

  @Test func `A lockout ends where polkit allows nothing, as over SSH`() async throws {
    let world = try await lockedOutPaul()
    try await world.polkit?.answer(.deny)
    let program = try world.startOnTerminal(["verify"], user: Self.paul)
    try await program.waitFor("Your password, to use your fingers again: ")
    try program.write(World.passcode + "\n")
    let verified = try await program.wait()
    #expect(verified.text.contains("Your fingers count again."))
    #expect(verified.status == 10)
    #expect(verified.text.contains("polkit does not allow it here (net.reactivated.fprint.device.verify)"))
    #expect(try await !world.whorl(["status"], user: Self.paul).text.contains("lockout"))
  }

  @Test(arguments: ["verify", "enroll"])
  func `Under sudo and with --user a lockout has the same code, and names who ends it how`(_ verb: String) async throws
  {
    let world = try await lockedOutPaul()
    let sudo = try await world.start([verb], adding: ["SUDO_UID": "1"]).wait()
    let named = try await world.whorl([verb, "--user", "paul"])
    for result in [sudo, named] {
      #expect(result.status == 6, "\(result.errorText)")
      #expect(
        result.errorText.contains("paul can end that with the login password: whorl verify"), "\(result.errorText)")
    }
    // An administrator who is not root learns it from the refusal.
    if verb == "verify" {
      let other = try await world.whorl([verb, "--user", "paul"], user: Self.ada)
      #expect(other.status == 6 && other.errorText.contains("paul can end that"), "\(other.errorText)")
    }
  }

  @Test func `Nobody but root is told about another account, and root of no secret's name`() async throws {
    let world = try await World(accounts: ["paul": Self.paul, "ada": Self.ada])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    #expect(try await world.whorl(["set", "my-name", "--require", "current"], to: "a", user: Self.paul).status == 0)
    for name in ["paul", "nobody-ever", "ada"] {
      let call = try await RunningProgram.run(
        "/usr/bin/gdbus",
        [
          "call", "--address", world.bus.address, "-d", "org.whorl", "-o", "/org/whorl", "-m",
          "org.whorl.Authentication1.GetAccountStatus", name, "{}",
        ], user: Self.ada)
      #expect(call.errorText.contains("org.whorl.Error.Denied"), "\(name): \(call.errorText)")
    }
    let client = try await Client(world)
    let reply = try await client.call("Authentication1", "GetAccountStatus", [.string("paul"), .options([:])])
    let values = reply.arguments[0].asOptions ?? [:]
    #expect(values["bound-secrets"] == .uint32(1) && values["locked-out"] == .boolean(false))
    #expect(!"\(values)".contains("my-name"))
    _ = try await client.call("Authentication1", "GetAccountStatus", [.string("ada"), .options([:])])
    #expect(!Bytes.exists(world.state + "/.whorl/users/2"), "looking makes no keychain")
  }

  @Test func `Root is warned that secrets of the account end, and a no leaves them`() async throws {
    let world = try await World(accounts: ["paul": Self.paul])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    #expect(try await world.whorl(["set", "bound", "--require", "current"], to: "a", user: Self.paul).status == 0)
    // Another finger destroys none, for only paul himself can let it open secrets.
    for words in [["enroll", "right-index-finger"], ["delete", "right-index-finger"]] {
      let program = try world.startOnTerminal(words + ["--user", "paul"])
      try await program.waitFor("This destroys 1 secret of paul, which requires the current fingers. Go on?")
      try program.write("n\n")
      #expect(try await program.wait().status == 5)
    }
    let got = try await world.whorl(["get", "bound"], pressing: [SyntheticFinger.leftLoop.press(2)], user: Self.paul)
    #expect(got.text == "a", "\(got.errorText)")
    // Without a terminal it is said, and done.
    let deleted = try await world.whorl(["delete", "right-index-finger", "--user", "paul"])
    #expect(deleted.status == 0 && deleted.errorText.contains("This destroys 1 secret of paul"), "\(deleted.errorText)")
  }

  @Test func `Without polkit the missing package is named`() async throws {
    let world = try await World(polkit: nil, accounts: ["paul": Self.paul])
    try await world.startDaemon()
    for user in [Self.paul, 0] {
      let refused = try await world.whorl(["enroll"], user: user)
      #expect(refused.status == 10)
      #expect(refused.errorText.contains("polkitd"), "\(refused.errorText)")
      // Status knows it before anybody tries.
      let status = try await world.whorl(["status"], user: user)
      #expect(status.status == 8)
      for line in (status.text + status.errorText).split(separator: "\n") where line.contains("whorl enroll") {
        #expect(line.contains("polkitd"), "\(line)")
      }
    }
  }

  @Test func `One's own fingers are listed where polkit allows nothing, another's are not`() async throws {
    let world = try await World(accounts: ["paul": Self.paul, "ada": Self.ada])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    try await world.polkit?.answer(.deny)
    #expect(try await world.whorl(["fingers"], user: Self.paul).text == "right-index-finger\n")
    let other = try await world.whorl(["fingers", "-u", "paul"], user: Self.ada)
    #expect(other.status == 10 && other.text.isEmpty)
    #expect(other.errorText.contains("run it with sudo and --user paul"), "\(other.errorText)")
  }

  @Test func `Who has the reader is said at once, and the wait goes on`() async throws {
    let world = try await World(accounts: ["paul": Self.paul, "ada": Self.ada])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    try await world.enroll(.whorl, user: Self.ada)
    #expect(try await world.whorl(["set", "mail", "-r", "any"], to: "a", user: Self.paul).status == 0)
    let verification = try world.start(["verify"], user: Self.ada)
    _ = try await world.nextPrompt(verification, after: 0)
    while try await !world.whorl(["status"], user: Self.paul).text.contains("in use now") {
      try Task.checkCancellation()
    }
    let get = try world.start(["get", "mail"], user: Self.paul)
    let told = try await get.waitFor("(whorl).\n", in: .errors)
    #expect(told.contains("in use by the verification of ada (whorl)"), "\(told)")
    verification.signal(SIGINT)
    _ = try await world.nextPrompt(get, after: 0)
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    #expect(try await get.wait().text == "a")
  }

  @Test func `What is stored in the place of a secret that is gone requires what that did`() async throws {
    let world = try await World(accounts: ["paul": Self.paul])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    #expect(try await world.whorl(["set", "mail", "-r", "current"], to: "a", user: Self.paul).status == 0)
    try await world.enroll(.whorl, as: "left-thumb", user: Self.paul)
    #expect(try await world.whorl(["list"], user: Self.paul).text == "mail\tcurrent gone\n")
    let weaker = try await world.whorl(["set", "mail", "-r", "none"], to: "b", user: Self.paul)
    #expect(weaker.status == 1 && weaker.errorText.contains("requires current"), "\(weaker.errorText)")
    let again = try await world.whorl(["set", "mail"], to: "b", user: Self.paul)
    #expect(again.status == 0 && again.errorText.contains("requires current as it did"), "\(again.errorText)")
    #expect(try await world.whorl(["list"], user: Self.paul).text == "mail\tcurrent\n")
  }

  @Test func `A wait for polkit's dialog is said`() async throws {
    let world = try await World(polkit: .dialog, accounts: ["paul": Self.paul])
    try await world.startDaemon()
    let enrolment = try world.start(["enroll"], user: Self.paul)
    try await enrolment.waitFor("polkit asks for a password", in: .errors)
    #expect(enrolment.isRunning)
    enrolment.signal(SIGINT)
    #expect(try await enrolment.wait().status == 5)
  }

  @Test func `Prints that the enclave does not know are none to status`() async throws {
    let world = try await World(accounts: ["paul": Self.paul])
    try await world.startDaemon()
    // As fprintd leaves it: a print in the store, and nothing of the enclave's.
    let other = try await World(accounts: ["paul": Self.paul])
    try await other.startDaemon()
    try await other.enroll(.leftLoop, user: Self.paul)
    try world.folder.makeFolder("state/paul/virtual_image/0")
    try Bytes.write(
      try Bytes.read(other.state + "/paul/virtual_image/0/7"), to: world.state + "/paul/virtual_image/0/7")
    let status = try await world.whorl(["status"], user: Self.paul)
    #expect(status.status == 8, "\(status.text)\(status.errorText)")
    #expect(status.text.contains("they open logins, but no secret"))
    #expect(status.text.contains("whorl adopt"))
    #expect(try await world.whorl(["set", "mail", "-r", "any"], to: "a", user: Self.paul).status == 0)
    let get = try await world.whorl(["get", "mail"], user: Self.paul)
    #expect(get.status == 8 && get.errorText.contains("whorl adopt"), "\(get.errorText)")
    // Under another name it is refused with the name that does.
    let duplicate = try await world.whorl(
      ["enroll", "left-thumb"], pressing: [SyntheticFinger.leftLoop.press(1)], user: Self.paul)
    #expect(duplicate.status == 1)
    #expect(duplicate.errorText.contains("whorl enroll right-index-finger"), "\(duplicate.errorText)")
    #expect(!duplicate.errorText.contains("delete"))
    #expect(
      try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(2)], user: Self.paul).status == 0)
  }

  @Test func `After a renaming fingers and verify name rename-user, and a second one hands nothing over`() async throws
  {
    let world = try await World(accounts: ["paul": Self.paul])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    try world.setAccounts(["paula": Self.paul])
    for verb in ["fingers", "verify"] {
      let own = try await world.whorl([verb], user: Self.paul)
      let roots = try await world.whorl([verb, "--user", "paula"])
      for result in [own, roots] {
        #expect(result.status == 11, "\(result.errorText)")
        #expect(result.errorText.contains("sudo whorl rename-user paul paula"), "\(result.errorText)")
      }
    }
    #expect(try await world.whorl(["rename-user", "paul", "paula"]).status == 0)
    let again = try await world.whorl(["rename-user", "paul", "paula"])
    #expect(again.status == 3 && again.text.isEmpty, "\(again.text)")
    #expect(try await world.whorl(["fingers"], user: Self.paul).text == "right-index-finger\n")
  }

  @Test func `Forgetting an account that is not there asks nothing`() async throws {
    let world = try await World(accounts: ["paul": Self.paul])
    try await world.startDaemon()
    let nobody = try await world.startOnTerminal(["forget", "nobody-ever"]).wait()
    #expect(nobody.status == 3 && !nobody.text.contains("for good"), "\(nobody.text)")
    let paul = try world.startOnTerminal(["forget", "paul"])
    try await paul.waitFor("for good?")
    try paul.write("n\n")
    #expect(try await paul.wait().status == 5)
  }

  @Test(arguments: [(Int32(0x101), "is too hot"), (5, "failed (")], ["enroll", "verify"])
  func `A reader that is too hot, or that its driver does not understand, is not said to be unplugged`(
    _ fault: (code: Int32, text: String), _ verb: String
  ) async throws {
    let world = try await World(accounts: ["paul": Self.paul])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.paul)
    let program = try world.start([verb], user: Self.paul)
    _ = try await world.nextPrompt(program, after: 0)
    try await world.reader.fail(fault.code)
    let ended = try await program.wait()
    #expect(ended.status == 7, "\(ended.errorText)")
    #expect(ended.errorText.contains(fault.text), "\(ended.errorText)")
    #expect(!ended.errorText.contains("plug"), "\(ended.errorText)")
  }

  @Test func `Where fprintd has its name, whorld does not start, and whorl says so`() async throws {
    let world = try await World(accounts: ["paul": Self.paul])
    let fprintd = try await BusConnection.open(address: world.bus.address)
    try await fprintd.requestName("net.reactivated.Fprint")
    let daemon = try RunningProgram(BuiltPrograms.path("whorld"), environment: world.environment, input: "")
    #expect(try await daemon.wait().status == 1)
    for words in [["verify"], ["enroll"], ["status"], ["list"]] {
      let result = try await world.whorl(words, user: Self.paul)
      #expect(result.status == 9, "\(result.errorText)")
      #expect((result.text + result.errorText).contains("systemctl disable --now fprintd"), "\(result.errorText)")
    }
  }
}
