import Bus
import Foundation
import GLibLoop
import Glibc
import TestKit
import Testing

/// Accounts as the name service gives them: odd names, reused uids and names, accounts that go or change their names.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "other users need root")) struct AccountTests {
  /// Uids that every Debian has, whatever the test calls them.
  private static let first: UInt32 = 1
  private static let second: UInt32 = 2

  private func print(_ name: String, _ world: World) -> String { "\(world.state)/\(name)/virtual_image/0/7" }

  // MARK: Names

  @Test(arguments: [
    "CORP\\paul", "paul@example.org", "Paul.Smith", "paul smith", "1", "4294967295", "日本", "e\u{301}", "-paul",
    String(repeating: "x", count: 255),
  ])
  func `A user with any name that the name service has enrols, verifies and keeps secrets`(_ name: String) async throws
  {
    let world = try await World(accounts: [name: Self.first])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    #expect(Bytes.exists(print(name, world)))
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: world.state)) == [".whorl", name])
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a", user: Self.first).status == 0)
    let got = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)], user: Self.first)
    #expect(got.text == "a")
    // Root by that name, as PAM does: a name of digits is that name, not a uid.
    let client = try await Client(world)
    let login = Task {
      try await client.call(
        "Authentication1", "Authenticate", [.string(name), .string("test"), .options(["operation": .uint64(1)])])
    }
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    #expect(try await login.value.arguments == [.string("right-index-finger")])
    #expect(
      try await world.whorl(["forget", "--yes", "--", name]).text == "Removed of \(shown(name)): 1 finger, 1 secret.\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state) == [".whorl"])
  }

  /// As whorl shows a name.
  private func shown(_ name: String) -> String { "\"\(name.replacingOccurrences(of: "\\", with: "\\\\"))\"" }

  @Test func `Digits are no uid where no account has that name`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    try await world.startDaemon()
    let client = try await Client(world)
    let arguments: [BusValue] = [.string("1"), .string("test"), .options([:])]
    #expect(try await client.error("Authentication1", "Authenticate", arguments) == "org.whorl.Error.NoSuchUser")
    #expect(try await world.whorl(["forget", "--yes", "1"]).status == 3)
  }

  @Test func `Spellings that lead to one uid share fingers, folder and misses`() async throws {
    let world = try await World(accounts: ["paul": Self.first, "PAUL": Self.first, "CORP\\paul": Self.first])
    try await world.startDaemon()
    let enrolment = try await world.whorl(
      ["enroll", "--user", "PAUL"], pressing: (1...7).map { SyntheticFinger.leftLoop.press($0) })
    #expect(enrolment.status == 0, "\(enrolment.errorText)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state).sorted() == [".whorl", "paul"])
    for spelling in ["paul", "PAUL", "CORP\\paul"] {
      #expect(try await world.whorl(["fingers", "--user", spelling]).text == "right-index-finger\n")
    }
    let client = try await Client(world)
    for spelling in ["PAUL", "CORP\\paul"] {
      let login = Task {
        try await client.error(
          "Authentication1", "Authenticate", [.string(spelling), .string("t"), .options(["max-tries": .uint32(1)])])
      }
      try await world.reader.press(SyntheticFinger.whorl.press(1))
      #expect(try await login.value == "org.whorl.Error.AuthenticationFailed")
    }
    let status = try await world.whorl(["status"], user: Self.first)
    #expect(status.text.contains("2 of 5 misses"), "\(status.text)")
    // His own account in another spelling needs nobody's leave.
    try await world.polkit?.answer(.deny)
    let before = world.polkit?.checks.count ?? 0
    _ = try await world.whorl(["fingers", "--user", "PAUL"], user: Self.first)
    #expect(world.polkit?.checks.dropFirst(before).contains { $0.action.contains("setusername") } == false)
  }

  // MARK: Reuse

  @Test func `A uid that another account got opens nothing of the former one's, until that is forgotten`() async throws
  {
    let world = try await World(accounts: ["paul": Self.first])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    #expect(try await world.whorl(["set", "mail", "--require", "none"], to: "a", user: Self.first).status == 0)

    try world.setAccounts(["ada": Self.first])
    let get = try await world.whorl(["get", "mail"], user: Self.first)
    #expect(get.status == 11)
    #expect(get.output.isEmpty)
    #expect(get.errorText.contains("\"paul\"") && get.errorText.contains("whorl forget"), "\(get.errorText)")
    #expect(try await world.whorl(["set", "other"], to: "b", user: Self.first).status == 11)
    #expect(try await world.whorl(["list"], user: Self.first).status == 11)
    let status = try await world.whorl(["status"], user: Self.first)
    #expect(status.status == 11, "one code for one cause")
    #expect(status.text.contains("whorl forget") && status.text.contains("whorl rename-user"), "\(status.text)")
    for words in [["fingers"], ["verify"], ["enroll"]] {
      let refused = try await world.whorl(words, user: Self.first)
      #expect(refused.status == 11, "\(refused.errorText)")
      #expect(
        refused.errorText.contains("sudo whorl rename-user paul ada; if that was another's: sudo whorl forget paul"))
      #expect(!refused.errorText.contains("Touch"), "nobody is asked for a touch: \(refused.errorText)")
    }
    // Other programs are refused before a touch, too.
    let desktop = try await FprintProbe(world)
    _ = try await desktop.call("Claim", "ada")
    #expect(try await desktop.error("EnrollStart", "left-thumb") == "PermissionDenied")
    _ = try await desktop.call("Release")
    let client = try await Client(world)
    let login: [BusValue] = [.string("ada"), .string("test"), .options([:])]
    #expect(try await client.error("Authentication1", "Authenticate", login) == "org.whorl.Error.StoreUnavailable")

    let forgotten = try await world.whorl(["forget", "--yes", "paul"])
    #expect(forgotten.text == "Removed of \"paul\": 1 finger, 1 secret.\n", "\(forgotten.errorText)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state) == [".whorl"])
    #expect(try await world.whorl(["get", "mail"], user: Self.first).status == 3)
    try await world.enroll(.whorl, user: Self.first)
    #expect(Bytes.exists(print("ada", world)))
    #expect(try await world.whorl(["forget", "--yes", "paul"]).status == 3, "nothing is left of him")
  }

  @Test func `A name that another account got lists and matches none of the former one's fingers`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    let old = try Data(contentsOf: URL(fileURLWithPath: print("paul", world)))

    try world.setAccounts(["paul": Self.second])
    #expect(try await world.whorl(["fingers"], user: Self.second).status == 8)
    #expect(try await world.whorl(["verify"], user: Self.second).status == 8)
    let client = try await Client(world)
    let login: [BusValue] = [.string("paul"), .string("test"), .options([:])]
    #expect(try await client.error("Authentication1", "Authenticate", login) == "org.whorl.Error.BiometryNotEnrolled")
    let status = try await world.whorl(["status"], user: Self.second)
    #expect(status.text.contains("former account paul (uid 1)"), "\(status.text)")
    #expect(try await world.whorl(["delete", "--all"], user: Self.second).status == 8)
    #expect(try Data(contentsOf: URL(fileURLWithPath: print("paul", world))) == old)

    // An enrolment that is cancelled changes nothing, however far it has come.
    for touches in [0, 1, 4] {
      let cancelled = try world.start(["enroll", "left-thumb"], user: Self.second)
      var seen = 0
      for number in 0...touches {
        seen = try await world.nextPrompt(cancelled, after: seen)
        if number < touches { try await world.reader.press(SyntheticFinger.whorl.press(number + 1)) }
      }
      cancelled.signal(SIGINT)
      #expect(try await cancelled.wait().status == 5)
      #expect(try Data(contentsOf: URL(fileURLWithPath: print("paul", world))) == old, "after \(touches) touches")
    }

    // Where they could not be removed nobody is asked for a touch.
    let folder = "\(world.state)/paul/virtual_image/0"
    #expect(chmod(folder, 0o777) == 0)
    let desktop = try await FprintProbe(world)
    _ = try await desktop.call("Claim", "paul")
    try await desktop.start("EnrollStart", "left-thumb")
    #expect(await desktop.last() == "enroll-failed")
    #expect(try await desktop.explanation().contains("cannot be removed"))
    _ = try await desktop.call("EnrollStop")
    _ = try await desktop.call("Release")
    #expect(chmod(folder, 0o700) == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: print("paul", world))) == old)

    // Enrolling another finger removes the former ones once the new print is there.
    let enrolment = try await world.whorl(
      ["enroll", "left-thumb"], pressing: (1...7).map { SyntheticFinger.whorl.press($0) }, user: Self.second)
    #expect(enrolment.status == 0, "\(enrolment.errorText)")
    #expect(!Bytes.exists(print("paul", world)))
    #expect(try await world.whorl(["fingers"], user: Self.second).text == "left-thumb\n")
    try world.setAccounts(["paul": Self.first])
    #expect(try await world.whorl(["fingers"], user: Self.first).status == 8, "nor the other way round")
  }

  @Test func `A finger that the former account of that name had is no duplicate`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    try world.setAccounts(["paul": Self.second])
    try await world.enroll(.leftLoop, as: "left-thumb", user: Self.second)
    #expect(try await world.whorl(["fingers"], user: Self.second).text == "left-thumb\n")
    #expect(!Bytes.exists(print("paul", world)))
  }

  @Test func `On a chip a former account's fingers stay until the first touch, and make way then`() async throws {
    let world = try await World(.storage, accounts: ["paul": Self.first])
    try await world.startDaemon()
    let path = "\(world.state)/paul/virtual_device_storage/0"
    func enroll(_ finger: String, scanning scan: String, user: UInt32) async throws -> RunningProgram.Result {
      let enrolment = try world.start(["enroll", finger], user: user)
      var seen = 0
      for _ in 1...7 {
        seen = try await world.nextPrompt(enrolment, after: seen)
        try await world.device.scan(scan)
      }
      return try await enrolment.wait()
    }
    #expect(try await enroll("right-index-finger", scanning: "mine", user: Self.first).status == 0)
    try world.setAccounts(["paul": Self.second])
    let cancelled = try world.start(["enroll", "left-thumb"], user: Self.second)
    _ = try await world.nextPrompt(cancelled, after: 0)
    cancelled.signal(SIGINT)
    #expect(try await cancelled.wait().status == 5)
    #expect(Bytes.exists(path + "/7"))
    // The very finger: the chip would refuse it as a duplicate.
    let enrolled = try await enroll("left-thumb", scanning: "mine", user: Self.second)
    #expect(enrolled.status == 0, "\(enrolled.errorText)")
    #expect(!Bytes.exists(path + "/7") && Bytes.exists(path + "/1"))
    let client = try await FprintProbe(world)
    _ = try await client.call("Claim", "paul")
    #expect(try await world.device.storedPrints() == ["mine"])
    #expect(try await client.verify(scanning: "mine", on: world) == "verify-match")
  }

  @Test func `Prints from before there were records become those of the first who uses them`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    try FileManager.default.removeItem(atPath: world.state + "/.whorl/print-owners")
    try await world.startDaemon()
    #expect(try await world.whorl(["fingers"], user: Self.first).text == "right-index-finger\n")
    try world.setAccounts(["paul": Self.second])
    #expect(try await world.whorl(["fingers"], user: Self.second).status == 8)
  }

  // MARK: Forgetting

  @Test func `An account that was deleted is forgotten by name and by uid, and others keep what is theirs`()
    async throws
  {
    let world = try await World(accounts: ["paul": Self.first, "ada": Self.second])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    try await world.enroll(.whorl, user: Self.second)
    for user in [Self.first, Self.second] {
      #expect(try await world.whorl(["set", "mail", "--require", "none"], to: "a", user: user).status == 0)
    }
    try world.setAccounts(["ada": Self.second])
    #expect(try await world.whorl(["forget", "--yes", "nobody-ever"]).status == 3)
    #expect(try await world.whorl(["forget", "--yes", "--uid", "1"]).text == "Removed of uid 1: 1 finger, 1 secret.\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state).sorted() == [".whorl", "ada"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state + "/.whorl/users") == ["2"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state + "/.whorl/print-owners") == ["ada"])
    try world.setAccounts([:])
    #expect(try await world.whorl(["forget", "--yes", "ada"]).text == "Removed of \"ada\": 1 finger, 1 secret.\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state) == [".whorl"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state + "/.whorl/users").isEmpty)
  }

  @Test(arguments: PolkitMock.Answer.allCases.filter { $0 != .hang && $0 != .dialog })
  func `Who is not root needs polkit's yes to forget, and cannot rename`(_ answer: PolkitMock.Answer) async throws {
    let world = try await World(accounts: ["paul": Self.first, "ada": Self.second])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    try await world.polkit?.answer(answer)
    #expect(try await world.whorl(["rename-user", "paul", "ada"], user: Self.second).status == 10)
    let forget = try await world.whorl(["forget", "--yes", "paul"], user: Self.second)
    #expect(world.polkit?.checks.last?.action == "org.whorl.forget")
    #expect(forget.status == (answer == .allow ? 0 : 10), "\(forget.errorText)")
    #expect(Bytes.exists(print("paul", world)) == (answer != .allow))
  }

  @Test func `Forgetting ends what waits for a finger of that account, and his claim of the reader`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a", user: Self.first).status == 0)
    let get = try world.start(["get", "mail"], user: Self.first)
    _ = try await world.nextPrompt(get, after: 0)
    #expect(try await world.whorl(["forget", "--yes", "paul"]).status == 0)
    #expect(try await get.wait().status == 1)
    let enrolment = try world.start(["enroll"], user: Self.first)
    _ = try await world.nextPrompt(enrolment, after: 0)
    #expect(try await world.whorl(["forget", "--yes", "paul"]).status == 3, "there was nothing but the claim")
    enrolment.signal(SIGINT)
    _ = try await enrolment.wait()
    try await world.enroll(.whorl, user: Self.first)
  }

  @Test func `Forgetting an account of which nothing is kept ends with 3, by name and by uid`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    let daemon = try await world.startDaemon()
    for words in [["paul"], ["--uid", "1"]] {
      let nothing = try await world.whorl(["forget", "-y"] + words)
      #expect(nothing.status == 3 && nothing.text.isEmpty, "\(nothing.text)")
    }
    try await world.enroll(.leftLoop, user: Self.first)
    #expect(try await world.whorl(["forget", "-y", "--uid", "1"]).status == 0)
    try await daemon.waitFor("what was kept for uid 1 was removed: 1 keychain, 0 items, 1 print", in: .errors)
    // Looking makes a keychain, and an empty one is nothing.
    _ = try await world.whorl(["status"], user: Self.first)
    let again = try await world.whorl(["forget", "-y", "--uid", "1"])
    #expect(again.status == 3 && again.text.isEmpty, "\(again.text)")
  }

  @Test func `A refusal to forget or to rename says what to do`() async throws {
    let world = try await World(polkit: .deny, accounts: ["paul": Self.first, "ada": Self.second])
    try await world.startDaemon()
    for words in [["forget", "-y", "ada"], ["rename-user", "ada", "paul"]] {
      #expect(try await world.whorl(words, user: Self.first).errorText.contains("run it with sudo"))
    }
    #expect(try await world.whorl(["rename-user", "ada", "paul"]).errorText.contains("; check the names"))
    #expect(try await world.whorl(["rename-user", "paul", "paul"]).errorText.contains("; give the name"))
  }

  @Test func `Forgetting takes the prints off the chip of a reader that is there`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    var environment = world.environment
    environment["FP_VIRTUAL_IMAGE"] = nil
    environment["FP_VIRTUAL_DEVICE_STORAGE"] = world.folder("device")
    environment["FP_DRIVERS_WHITELIST"] = "virtual_device_storage"
    environment["FP_DRIVERS_ALLOWLIST"] = "virtual_device_storage"
    let daemon = try RunningProgram(BuiltPrograms.path("whorld"), environment: environment, input: "")
    try await world.bus.waitForName("net.reactivated.Fprint")
    let device = VirtualDevice(socket: world.folder("device"))
    let enrolment = try world.start(["enroll"], user: Self.first)
    var seen = 0
    for _ in 1...7 {
      seen = try await world.nextPrompt(enrolment, after: seen)
      try await device.scan("left")
    }
    #expect(try await enrolment.wait().status == 0)
    let forgotten = try await world.whorl(["forget", "--yes", "paul"])
    #expect(
      forgotten.text == "Removed of \"paul\": 1 finger (1 of them on a reader's chip as well), 0 secrets.\n",
      "\(forgotten.text)\(forgotten.errorText)")
    #expect(daemon.isRunning)
  }

  @Test func `Nobody learns from Authenticate or ForgetUser which accounts there are`() async throws {
    let world = try await World(polkit: .deny, accounts: ["paul": Self.first, "ada": Self.second])
    try await world.startDaemon()
    var answers: Set<String> = []
    for name in ["ada", "nobody"] {
      answers.insert(
        try await world.whorl(["forget", "--yes", name], user: Self.first).errorText
          .replacingOccurrences(of: name, with: "NAME"))
    }
    #expect(answers.count == 1)
  }

  // MARK: Renaming

  @Test func `A renamed account keeps its fingers and secrets once they are handed over`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a", user: Self.first).status == 0)
    #expect(try await world.whorl(["rename-user", "paul", "paula"]).status == 3, "there is no paula yet")
    try world.setAccounts(["paula": Self.first, "paul": Self.second])
    #expect(try await world.whorl(["rename-user", "paul", "paula"]).status == 10, "paul is somebody else now")
    try world.setAccounts(["paula": Self.first])
    #expect(try await world.whorl(["get", "mail"], user: Self.first).status == 11)
    let renamed = try await world.whorl(["rename-user", "paul", "paula"])
    #expect(renamed.text == "Handed over from \"paul\" to \"paula\": fingers and secrets.\n", "\(renamed.errorText)")
    let got = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)], user: Self.first)
    #expect(got.text == "a")
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.state).sorted() == [".whorl", "paula"])
    #expect(try await world.whorl(["rename-user", "paul", "paula"]).status == 3, "nothing is left to hand over")
    #expect(try await world.whorl(["fingers"], user: Self.first).text == "right-index-finger\n", "and nothing is lost")
  }

  // MARK: A slow directory

  @Test func `While the name service hangs, whorld goes on for those who need no name`() async throws {
    let world = try await World(accounts: ["paul": Self.first])
    try await world.startDaemon()
    let client = try await Client(world)
    _ = try await client.call("Authentication1", "GetStatus")
    // A pipe in the place of the file of accounts: whoever reads it waits for a writer.
    try FileManager.default.removeItem(atPath: world.folder("passwd"))
    #expect(mkfifo(world.folder("passwd"), 0o644) == 0)
    let status = Task { try await client.call("Authentication1", "GetStatus") }
    var writer: Int32 = -1
    while writer < 0 {
      writer = open(world.folder("passwd"), O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      try Task.checkCancellation()
      await Task.yield()
    }
    let devices = try await client.bus.call(
      destination: "net.reactivated.Fprint", path: "/net/reactivated/Fprint/Manager",
      interface: "net.reactivated.Fprint.Manager", method: "GetDevices")
    #expect(devices.arguments[0].asArray?.count == 1)
    close(writer)
    _ = try await status.value
  }
}
