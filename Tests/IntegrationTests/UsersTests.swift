import Bus
import GLibLoop
import Glibc
import TestKit
import Testing

/// Every user has his own fingers and items; who calls is what the bus says.
@Suite(.timeLimit(.minutes(3)), .enabled(if: geteuid() == 0, "two real users need root")) struct UsersTests {
  /// daemon and bin, which every Debian has.
  private static let first: UInt32 = 1
  private static let second: UInt32 = 2

  @Test func `Another user's items are out of reach`() async throws {
    let world = try await World()
    try await world.startDaemon()
    #expect(
      try await world.whorl(["set", "mail", "--require", "none"], to: "the first's", user: Self.first).status == 0)
    #expect(try await world.whorl(["list"], user: Self.second).text.isEmpty)
    #expect(try await world.whorl(["get", "mail"], user: Self.second).status == 3)
    #expect(try await world.whorl(["rm", "mail"], user: Self.second).status == 3)
    #expect(try await world.whorl(["get", "mail"]).status == 3, "not even root reads it that way")
    #expect(
      try await world.whorl(["set", "mail", "--require", "none"], to: "the second's", user: Self.second).status == 0)
    #expect(try await world.whorl(["get", "mail"], user: Self.first).text == "the first's")
  }

  @Test func `Another user's finger opens nothing and counts as a miss`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop, user: Self.first)
    try await world.enroll(.whorl, user: Self.second)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a", user: Self.first).status == 0)
    let other = try await world.whorl(
      ["get", "mail"], pressing: (1...3).map { SyntheticFinger.whorl.press($0) }, user: Self.first)
    #expect(other.status == 4)
    #expect(other.output.isEmpty)
    let own = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)], user: Self.first)
    #expect(own.text == "a")
  }

  @Test func `Nobody but root authenticates another user, or learns which there are`() async throws {
    let world = try await World()
    try await world.startDaemon()
    for name in ["root", "bin", "nobody-of-that-name", ""] {
      let call = try await RunningProgram.run(
        "/usr/bin/gdbus",
        [
          "call", "--address", world.bus.address, "-d", "org.whorl", "-o", "/org/whorl", "-m",
          "org.whorl.Authentication1.Authenticate", name, "test", "{}",
        ], user: Self.first)
      #expect(call.errorText.contains("org.whorl.Error.Denied"), "\(name): \(call.errorText)")
    }
  }

  @Test func `A context is of use to its own connection alone`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    #expect(try await world.whorl(["set", "mail", "--require", "passcode"], to: "a").status == 0)
    let client = try await Client(world)
    let other = try await Client(world)
    let context = try await client.newContext(["reuse-duration": .uint32(300)])
    let file = try Client.sealed(World.passcode)
    defer { close(file) }
    _ = try await client.call("Authentication1", "ProvidePasscode", [context, .handle(0)], descriptors: [file])
    let query = BusValue.options(["service": .string("whorl"), "account": .string("mail")])
    let arguments = [context, query, BusValue.options([:])]
    #expect(try await other.error("Keychain1", "CopySecret", arguments) == "org.whorl.Error.InvalidContext")
    #expect(try await client.error("Keychain1", "CopySecret", arguments) == nil)
  }
}
