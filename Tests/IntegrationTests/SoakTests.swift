import Foundation
import Glibc
import TestKit
import Testing

/// Mixed operations of eight clients while clients, bridges and readers die: at the end nothing is held, nothing grew.
///
/// SOAK_OPERATIONS and SOAK_SEED choose how many and which; `make soak` sets them.
@Suite(.serialized, .timeLimit(.minutes(60))) struct SoakTests {
  @Test func `After thousands of operations and many deaths no claim, turn, descriptor or memory is held`() async throws
  {
    let environment = ProcessInfo.processInfo.environment
    let operations = environment["SOAK_OPERATIONS"].flatMap(Int.init) ?? 2000
    let seed = environment["SOAK_SEED"].flatMap(UInt32.init) ?? UInt32.random(in: 1...1_000_000)
    let side = try await FprintSide(
      .whorl, readers: [.device, .storage], passcodeOf: ["root", "daemon", "bin", "sys", "sync", "games"])
    let daemon = try #require(side.program)
    let soak = try RunningProgram(
      "/usr/bin/python3",
      [
        SourceTree.path("Tests/IntegrationTests/Scripts/soak.py"), "--bus", side.bus.address, "--daemon",
        "\(daemon.pid)", "--reader", side.socket(.device), "--storage", side.socket(.storage), "--operations",
        "\(operations)", "--seed", "\(seed)",
      ], input: "")
    let result = try await soak.wait(seconds: 120 + operations / 4)
    print(result.text + result.errorText)
    #expect(result.status == 0, "seed \(seed): \(result.text) \(result.errorText) \(daemon.text(.errors).suffix(4000))")
    #expect(daemon.isRunning)
  }
}
