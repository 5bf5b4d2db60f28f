import Foundation
import TestKit
import Testing

/// Apple's keychain functions from many tasks at once, in two processes.
@Suite(.timeLimit(.minutes(5))) struct SecItemStormTests {
  /// Calls of each of 32 tasks in each process: 1,000 in `make soak`, fewer otherwise.
  static var operations: Int {
    ProcessInfo.processInfo.environment["STORM_OPERATIONS"].flatMap { Int($0) } ?? 25
  }

  @Test func `Every task finds its own items as it left them, and shared ones in a state that can be`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    let programs = try (1...2).map { seed in
      try RunningProgram(
        BuiltPrograms.path("keychain-storm"), ["32", "\(Self.operations)", "\(seed)"],
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"], input: "")
    }
    for program in programs {
      let result = try await program.wait()
      #expect(result.status == 0, "\(result.text)\(result.errorText)")
      #expect(result.text.contains("\(32 * Self.operations) calls"))
    }
  }
}
