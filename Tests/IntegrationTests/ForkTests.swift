import TestKit
import Testing

/// Programs that use the library and fork.
@Suite(.timeLimit(.minutes(1))) struct ForkTests {
  @Test
  func `A fork of a program that used the keychain is told at once that it cannot, and leaves the program its own`()
    async throws
  {
    let world = try await World()
    try await world.startDaemon()
    let stored = try await world.whorl(["set", "plain", "--require", "none"], to: "s3cret")
    try #require(stored.status == 0, "\(stored.errorText)")
    let reader = try await RunningProgram.run(
      BuiltPrograms.path("keychain-reader"), ["--fork", "plain"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"])
    let lines = reader.text.split(separator: "\n").dropFirst().map(String.init)
    try #require(lines.count == 5, "\(reader.text)\(reader.errorText)")
    #expect(lines[0...1] == ["secret of plain: s3cret", "fork"])
    #expect(lines[2].hasPrefix("no secret of plain: noDaemon (") && lines[2].contains("this process was forked"))
    #expect(lines[3...4] == ["secret of plain: s3cret", "no child left"])
  }
}
