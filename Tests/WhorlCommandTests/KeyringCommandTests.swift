import PAMStacks
import GLibLoop
import LoginKeyring
import SecretMemory
import TestKit
import Testing
import WhorlClient

@testable import WhorlCommand

/// keyring enable, disable, status and unlock, with the real gnome-keyring-daemon.
@Suite(.timeLimit(.minutes(3))) struct KeyringCommandTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func fixture(_ daemon: GnomeKeyring, answers: [String] = []) -> Fixture {
    var fixture = Fixture()
    fixture.surroundings.environment = daemon.environment
    fixture.service.passcode = "login"
    fixture.console.answers = answers
    return fixture
  }

  /// Whether that is the keyring's password. Locks it, and opens it where it is.
  @GLibActor private func opens(_ daemon: GnomeKeyring, with password: [UInt8]) async throws -> Bool {
    try await LoginKeyring.find(address: daemon.bus.address).proves(try SecretBytes(copying: password.span.bytes))
  }

  private let question = "Your password, to let your finger open the login keyring: "

  @Test @GLibActor func `enable gives the keyring a secret, proves and arms it; disable puts the password back`()
    async throws
  {
    let daemon = try await GnomeKeyring(password: "login")
    let fixture = fixture(daemon, answers: ["wrong", "login"])
    #expect(await fixture.run("keyring", "enable") == .ok, "\(fixture.complaint)")
    #expect(fixture.console.asked == [question, question])
    let kept = try #require(fixture.service.keyring)
    #expect(kept.comment == "armed")
    #expect(kept.secret.count == KeyringSecret.characters)
    #expect(try await opens(daemon, with: Array("login".utf8)) == false)
    #expect(try await opens(daemon, with: kept.secret))
    #expect(fixture.console.told.contains { $0.contains("before Whorl or its data is removed") })
    let shown = fixture.console.told + fixture.console.printed + fixture.service.calls
    #expect(!shown.joined().contains(String(decoding: kept.secret, as: UTF8.self)), "and it is told to nobody")

    fixture.console.answers = ["login"]
    #expect(await fixture.run("keyring", "disable") == .ok, "\(fixture.complaint)")
    #expect(fixture.service.keyring == nil)
    #expect(try await opens(daemon, with: kept.secret) == false)
    #expect(try await opens(daemon, with: Array("login".utf8)))
    #expect(fixture.service.calls.filter { $0 == "open" }.count == fixture.service.calls.filter { $0 == "close" }.count)
  }

  @Test @GLibActor func `A keyring with another password than the login is asked for that, a few times`() async throws {
    let daemon = try await GnomeKeyring(password: "other")
    let before = daemon.file
    let wrong = fixture(daemon, answers: ["login", "a", "b", "c"])
    #expect(await wrong.run("keyring", "enable") == .authenticationFailed)
    #expect(wrong.complaint.contains("nothing was changed"))
    #expect(wrong.service.keyring == nil)
    #expect(daemon.file == before)

    let cancelled = fixture(daemon, answers: ["login", ""])
    #expect(await cancelled.run("keyring", "enable") == .cancelled)
    #expect(cancelled.service.keyring == nil)

    let right = fixture(daemon, answers: ["login", "a", "other"])
    #expect(await right.run("keyring", "enable") == .ok)
    #expect(try await opens(daemon, with: try #require(right.service.keyring).secret))
    // What it goes back to is the login password, which a login can give.
    right.console.answers = ["login"]
    #expect(await right.run("keyring", "disable") == .ok)
    #expect(try await opens(daemon, with: Array("login".utf8)))
  }

  /// Where enable ended: what was kept, and the keyring's password.
  enum Crash: CaseIterable {
    case afterKeeping, afterChange, afterProof
  }

  /// A command whose enable has ended there.
  @GLibActor private func interrupted(_ crash: Crash, _ daemon: GnomeKeyring) async -> Fixture {
    let broken = fixture(daemon, answers: ["login"])
    switch crash {
    case .afterKeeping: broken.service.problems["keyring added"] = [WhorlError(.failed, "gone")]
    case .afterChange, .afterProof: broken.service.problems["keyring arm"] = [WhorlError(.failed, "gone")]
    }
    #expect(await broken.run("keyring", "enable") == .failed)
    return broken
  }

  @Test(arguments: Crash.allCases) @GLibActor func `After a crash in the middle, enable goes on where it was`(
    _ crash: Crash
  ) async throws {
    let daemon = try await GnomeKeyring(password: "login")
    let broken = await interrupted(crash, daemon)
    let kept = try #require(broken.service.keyring)
    #expect(kept.comment == "pending")
    if crash == .afterChange {
      try await LoginKeyring.find(address: daemon.bus.address).lock()
    }

    broken.console.answers = ["login"]
    #expect(await broken.run("keyring", "enable") == .ok, "\(broken.complaint)")
    #expect(try #require(broken.service.keyring).secret == kept.secret, "the same secret, for the keyring may have it")
    #expect(broken.service.keyring?.comment == "armed")
    #expect(try await opens(daemon, with: kept.secret))
  }

  @Test(arguments: Crash.allCases) @GLibActor func `After a crash in the middle, disable puts things back`(
    _ crash: Crash
  ) async throws {
    let daemon = try await GnomeKeyring(password: "login")
    let broken = await interrupted(crash, daemon)
    broken.console.answers = ["login"]
    #expect(await broken.run("keyring", "disable") == .ok, "\(broken.complaint)")
    #expect(broken.service.keyring == nil)
    #expect(try await opens(daemon, with: Array("login".utf8)))
  }

  @Test @GLibActor func `A secret stays kept where the keyring cannot be put back`() async throws {
    let daemon = try await GnomeKeyring(password: "login")
    let fixture = fixture(daemon, answers: ["login"])
    #expect(await fixture.run("keyring", "enable") == .ok)
    try await daemon.stop()
    fixture.console.answers = ["login"]
    #expect(await fixture.run("keyring", "disable") == .failed)
    #expect(fixture.complaint.contains("gnome-keyring does not run"))
    #expect(fixture.service.keyring?.comment == "armed")
  }

  @Test @GLibActor func `Without a keyring, gnome-keyring or a session nothing is asked for`() async throws {
    let none = try await GnomeKeyring(password: nil)
    let empty = fixture(none, answers: ["login"])
    #expect(await empty.run("keyring", "enable") == .failed)
    #expect(empty.complaint.contains("there is no login keyring yet; log in with your password once"))
    let bus = try await PrivateBus()
    for (variables, words) in [
      ["DBUS_SESSION_BUS_ADDRESS": bus.address]: "gnome-keyring does not run in this session; ",
      [:]: "there is no session bus", ["XDG_RUNTIME_DIR": "/nonexistent"]: "there is no session bus",
    ] {
      for deed in ["enable", "unlock"] {
        var nowhere = Fixture()
        nowhere.surroundings.environment = variables
        #expect(await nowhere.run("keyring", deed) == .failed)
        #expect(nowhere.complaint.contains(words), "\(nowhere.complaint)")
        #expect(nowhere.console.asked.isEmpty)
      }
    }
    let daemon = try await GnomeKeyring(password: "login")
    for deed in ["enable", "disable"] {
      let blind = fixture(daemon)
      blind.service.keyring = deed == "disable" ? ([1], "armed") : nil
      blind.console.hasTerminal = false
      #expect(await blind.run("keyring", deed) == .noTerminal)
    }
    withExtendedLifetime((none, daemon, bus)) {}
  }

  @Test @GLibActor func `unlock opens a locked keyring with a finger, and says where it is open already`() async throws
  {
    let daemon = try await GnomeKeyring(password: "login")
    let fixture = fixture(daemon, answers: ["login"])
    #expect(await fixture.run("keyring", "enable") == .ok)
    #expect(await fixture.run("keyring", "unlock") == .ok)
    #expect(fixture.console.told.last == "The login keyring is open already.")

    let keyring = try await LoginKeyring.find(address: daemon.bus.address)
    try await keyring.lock()
    fixture.service.passcode = nil
    #expect(await fixture.run("keyring", "unlock") == .ok, "\(fixture.complaint)")
    #expect(try await keyring.state() == .open)
    #expect(fixture.service.calls.contains("keyring secret unlock the login keyring"))

    try await keyring.lock()
    fixture.service.keyring?.secret = Array("another".utf8)
    #expect(await fixture.run("keyring", "unlock") == .failed)
    #expect(fixture.complaint.contains("put that right: whorl keyring enable"))
    #expect(try await keyring.state() == .locked)
    fixture.service.keyring = nil
    #expect(await fixture.run("keyring", "unlock") == .notFound)
  }

  @Test @GLibActor func `A keyring that was given another password since is left alone by disable`() async throws {
    let daemon = try await GnomeKeyring(password: "mine")
    let fixture = fixture(daemon, answers: ["login"])
    fixture.service.keyring = (Array("old secret".utf8), "armed")
    #expect(await fixture.run("keyring", "disable") == .ok)
    #expect(fixture.service.keyring == nil)
    #expect(fixture.console.told.last?.contains("left as it is") == true)
    #expect(try await opens(daemon, with: Array("mine".utf8)))
    #expect(await fixture.run("keyring", "disable") == .notFound)
  }

  @Test @GLibActor func `status tells how far it is, and asks for nothing`() async throws {
    let daemon = try await GnomeKeyring(password: "login")
    let fixture = fixture(daemon)
    #expect(await fixture.run("keyring", "status") == .ok)
    #expect(fixture.console.printed.first == "enabled      no: a finger does not open the login keyring")
    #expect(fixture.console.printed.contains("keyring      open"))
    try await LoginKeyring.find(address: daemon.bus.address).lock()
    for stage in ["pending", "armed"] {
      let fixture = self.fixture(daemon)
      fixture.service.keyring = ([1], stage)
      #expect(await fixture.run("keyring", "status") == .ok)
      #expect(fixture.console.printed.first?.hasPrefix("enabled      \(stage): ") == true)
      #expect(fixture.console.printed.contains("             -> whorl keyring unlock"))
      #expect(await fixture.run("keyring", "status", "--json") == .ok)
      #expect(
        fixture.console.printed.last
          == "{\"enabled\":\"\(stage)\",\"keyring\":\"locked\",\"keyringError\":null,\"logins\":[]}")
      #expect(fixture.console.asked.isEmpty)
    }
    var nowhere = Fixture()
    nowhere.surroundings.environment = [:]
    #expect(await nowhere.run("keyring", "status") == .ok)
    #expect(nowhere.console.printed.contains("             -> run whorl in your desktop session, as yourself"))
  }

  @Test @GLibActor func `whorl status tells of a keyring that a finger is to open, and of one that stays locked`()
    async throws
  {
    let daemon = try await GnomeKeyring(password: "login")
    var fixture = fixture(daemon)
    _ = await fixture.run("status")
    #expect(!fixture.console.printed.contains { $0.hasPrefix("keyring") })
    fixture.service.keyring = ([1], "pending")
    _ = await fixture.run("status")
    #expect(fixture.console.printed.last == "             -> whorl keyring enable")
    fixture.service.keyring = ([1], "armed")
    _ = await fixture.run("status")
    #expect(fixture.console.printed.last == "             -> see why: whorl keyring status", "no login hands it on")
    let machine = try TemporaryFolder()
    for name in ["etc", "etc/pam.d"] { try machine.makeFolder(name, mode: 0o755) }
    try machine.write(
      "auth optional pam_whorl.so login keyring\nauth optional pam_gnome_keyring.so\n", to: "etc/pam.d/gdm")
    fixture.surroundings.pamRoot = machine.path
    _ = await fixture.run("status")
    #expect(fixture.console.printed.contains("keyring      a login by finger opens it"))
    try await LoginKeyring.find(address: daemon.bus.address).lock()
    _ = await fixture.run("status")
    #expect(fixture.console.printed.last == "             -> open it: whorl keyring unlock")
  }

  @Test(arguments: [false, true]) @GLibActor func `A keyring with an empty password is encrypted from then on`(
    isOpen: Bool
  ) async throws {
    let daemon = try await GnomeKeyring(password: nil, hasPlainKeyring: true)
    let keyring = try await LoginKeyring.find(address: daemon.bus.address)
    if isOpen {
      try await keyring.unlock(with: try SecretBytes(count: 0))
    } else if try await keyring.state() == .open {
      try await keyring.lock()
    }
    let fixture = fixture(daemon, answers: ["login"])
    #expect(await fixture.run("keyring", "enable") == .ok, "\(fixture.complaint)")
    let kept = try #require(fixture.service.keyring)
    #expect(kept.comment == "armed")
    #expect(try await keyring.proves(try SecretBytes(count: 0)) == false)
    #expect(try await opens(daemon, with: kept.secret))
  }

  @Test(
    arguments: [
      ("auth optional pam_whorl.so login keyring\nauth optional pam_gnome_keyring.so\n", nil),
      ("@include common-auth\nauth optional pam_gnome_keyring.so\n", nil),
      ("auth required pam_unix.so\n-auth optional pam_kwallet5.so\n", KeyringWiring.Obstacle.missing),
      ("auth optional pam_whorl.so login\nauth optional pam_gnome_keyring.so\n", .missing),
      ("auth optional pam_gnome_keyring.so\n@include common-auth\n", .late),
      ("auth sufficient pam_whorl.so\n@include common-auth\nauth optional pam_gnome_keyring.so\n", .unreached),
      (
        "auth [success=done default=ignore] pam_whorl.so\n@include common-auth\nauth optional pam_gnome_keyring.so\n",
        .unreached
      ),
      ("auth substack finger\n@include common-auth\nauth optional pam_gnome_keyring.so\n", nil),
      (
        "auth [success=1 default=ignore] pam_whorl.so\nauth requisite pam_deny.so\n@include common-auth\nauth optional pam_gnome_keyring.so\n",
        nil
      ),
      (
        "auth [success=2 default=ignore] pam_whorl.so\nauth requisite pam_deny.so\n@include common-auth\nauth optional pam_gnome_keyring.so\n",
        .unreached
      ),
    ] as [(String, KeyringWiring.Obstacle?)])
  func `Which logins hand the secret on is read from PAM's files`(
    stack: String, obstacle: KeyringWiring.Obstacle?
  ) throws {
    let folder = try TemporaryFolder()
    try folder.write(stack, to: "gdm")
    try folder.write("auth optional /lib/security/pam_whorl.so login keyring\n", to: "common-auth")
    try folder.write("auth sufficient pam_whorl.so\n", to: "finger")
    try folder.write("session optional pam_gnome_keyring.so auto_start\n", to: "other")
    let logins = KeyringWiring.read(PAMPlaces(folders: [folder.path], moduleFolders: [])).logins
    #expect(logins.map(\.service) == ["gdm"])
    #expect(logins.first?.obstacle == obstacle)
  }
}
