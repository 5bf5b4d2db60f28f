import Bus
import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

@testable import LoginKeyring

/// Against the real gnome-keyring-daemon.
@Suite(.timeLimit(.minutes(2))) struct LoginKeyringTests {
  init() { GLibLoop.startThread() }

  private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(copying: Array(text.utf8).span.bytes) }

  @Test @GLibActor func `A keyring is changed to another password, and that is proved`() async throws {
    let daemon = try await GnomeKeyring(password: "old")
    let keyring = try await LoginKeyring.find(address: daemon.bus.address)
    #expect(try await keyring.state() == .open)
    let before = daemon.file
    await #expect(throws: LoginKeyringError.denied) {
      try await keyring.change(from: try secret("wrong"), to: try secret("new"))
    }
    #expect(daemon.file == before, "nothing was changed")
    #expect(try await keyring.proves(try secret("new")) == false)
    #expect(try await keyring.state() == .locked)
    #expect(try await keyring.proves(try secret("old")))

    try await keyring.change(from: try secret("old"), to: try secret("new"))
    #expect(try await keyring.proves(try secret("old")) == false, "an open keyring takes any: it was locked first")
    await #expect(throws: LoginKeyringError.denied) { try await keyring.unlock(with: try secret("old")) }
    // Locked ones can be changed, too, and stay so.
    try await keyring.change(from: try secret("new"), to: try secret("newer"))
    #expect(try await keyring.state() == .locked)
    try await keyring.unlock(with: try secret("newer"))
    #expect(try await keyring.state() == .open)
  }

  @Test @GLibActor func `Without a daemon, a keyring or gnome-keyring itself it says which`() async throws {
    let bus = try await PrivateBus()
    await #expect(throws: LoginKeyringError.notRunning) { try await LoginKeyring.find(address: bus.address) }
    await #expect(throws: (any Error).self) { try await LoginKeyring.find(address: "unix:path=/nonexistent") }

    let empty = try await GnomeKeyring(password: nil)
    let keyring = try await LoginKeyring.find(address: empty.bus.address)
    #expect(try await keyring.state() == .absent)
    await #expect(throws: LoginKeyringError.noKeyring) { try await keyring.unlock(with: try secret("x")) }
    await #expect(throws: LoginKeyringError.noKeyring) {
      try await keyring.change(from: try secret("x"), to: try secret("y"))
    }

    let other = try await BusConnection.open(address: bus.address)
    try await other.requestName("org.freedesktop.secrets")
    let stranger = try await LoginKeyring.find(address: bus.address)
    await #expect(throws: LoginKeyringError.otherService) { try await stranger.state() }
    withExtendedLifetime(other) {}
  }

  @Test @GLibActor func `A daemon that ends in the middle is an error`() async throws {
    let daemon = try await GnomeKeyring(password: "old")
    let keyring = try await LoginKeyring.find(address: daemon.bus.address)
    #expect(try await keyring.state() == .open)
    try await daemon.stop()
    await #expect(throws: LoginKeyringError.notRunning) { try await keyring.state() }
  }

  @Test @GLibActor func `No password crosses the bus in the clear`() async throws {
    let daemon = try await GnomeKeyring(password: "a password that is to be seen nowhere")
    let monitor = try RunningProgram(
      "/usr/bin/dbus-monitor", ["--address", daemon.bus.address],
      environment: ["PATH": "/usr/bin:/bin"], input: "")
    try await monitor.waitFor("NameLost")
    let keyring = try await LoginKeyring.find(address: daemon.bus.address)
    try await keyring.change(
      from: try secret("a password that is to be seen nowhere"), to: try secret("another that must not be seen"))
    try await monitor.waitFor("ChangeWithMasterPassword")
    #expect(try await keyring.proves(try secret("another that must not be seen")))
    try await monitor.waitFor("UnlockWithMasterPassword")
    monitor.signal(SIGTERM)
    let seen = try await monitor.wait().text
    #expect(!seen.contains("seen"))
  }

  @Test(arguments: [[], [0], [1], [UInt8](repeating: 0, count: 128), [UInt8](repeating: 255, count: 128)])
  func `A key exchange that would give a key that everybody knows is refused`(number: [UInt8]) throws {
    let exchange = try KeyExchange.begin()
    #expect(throws: LoginKeyringError.self) { _ = try exchange.key(with: number).count }
  }

  @Test func `Both sides of an exchange come to one key, and every exchange to another`() throws {
    let one = try KeyExchange.begin()
    let two = try KeyExchange.begin()
    let three = try KeyExchange.begin()
    func bytes(_ key: borrowing SecretBytes) -> [UInt8] { key.withUnsafeBytes { Array($0) } }
    let key = bytes(try one.key(with: two.publicNumber))
    #expect(key.count == 16)
    let same = bytes(try two.key(with: one.publicNumber))
    let other = bytes(try three.key(with: one.publicNumber))
    #expect(key == same)
    #expect(key != other)
  }

  @Test func `A keyring's secret is 43 characters that fit everywhere, and another each time`() throws {
    var seen: Set<[UInt8]> = []
    var characters: Set<UInt8> = []
    for _ in 0..<200 {
      let text = try KeyringSecret.make().withUnsafeBytes { Array($0) }
      #expect(text.count == KeyringSecret.characters)
      seen.insert(text)
      characters.formUnion(text)
    }
    #expect(seen.count == 200)
    let known = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    #expect(characters == known, "all 64 digits and no other")
  }
}
