import Bus
import Foundation
import GLibLoop
import Glibc
import TestKit
import Testing

/// Clients that leave, crash, flood or never let go cost the others nothing.
@Suite(.timeLimit(.minutes(5))) struct MisbehavingClientTests {
  init() { GLibLoop.startThread() }

  /// A client as a program of its own, which can be killed and run as another user.
  private func program(_ side: FprintSide, _ arguments: [String], user: UInt32? = nil) throws -> RunningProgram {
    try RunningProgram(
      "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/misbehave.py")] + arguments,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": side.bus.address, "PATH": "/usr/bin:/bin"], input: "", user: user)
  }

  /// A side with the finger `a` of root, and of `user` where given, on one reader.
  private func side(user: UInt32? = nil) async throws -> FprintSide {
    let side = try await FprintSide(.whorl, readers: [.device])
    #expect(try await side.run("enroll", touching: [.command("SCAN a")]).end == .exited(0))
    if let user {
      #expect(try await side.run("enroll", user: user, touching: [.command("SCAN a")]).end == .exited(0))
    }
    return side
  }

  @GLibActor
  @Test(arguments: ["claim", "verify", "verified", "enroll", "delete", "release", "exit"])
  func `A client that dies at any step leaves the reader to the next`(_ step: String) async throws {
    let side = try await side()
    let next = try await DesktopClient(side.bus)
    try await next.findDevice()
    for _ in 1...5 {
      let client = try program(side, [step])
      // Written before the last call of the step is answered, so that the kill may come before, in or after it.
      try await client.waitFor("now")
      if step == "verified" { try await side.touch(.command("SCAN a")) }
      if step != "exit" { client.signal(SIGKILL) }
      _ = try await client.wait()
      try await next.claimOnceFree()
      if step != "delete" {
        let seen = next.events.count
        try await next.call("VerifyStart", "any")
        try await side.touch(.command("SCAN a"))
        #expect(await next.lastStatus(after: seen) == "verify-match")
        try await next.call("VerifyStop")
      }
      try await next.call("Release")
    }
  }

  @GLibActor
  @Test(arguments: [true, false])
  func `A question to polkit that is never answered holds up only the one who asked`(_ isKilled: Bool) async throws {
    let side = try await side()
    try await side.polkit.answer(.hang)
    let asking = try program(side, ["claim"])
    try await asking.waitFor("now")
    let limit = ContinuousClock.now + .seconds(20)
    while side.polkit.checks.last?.action != "net.reactivated.fprint.device.verify", .now < limit { await Task.yield() }
    if isKilled {
      asking.signal(SIGKILL)
      _ = try await asking.wait()
    }
    try await side.polkit.answer(.allow)
    let next = try await DesktopClient(side.bus)
    try await next.findDevice()
    try await next.claimOnceFree()
    try await next.call("Release")
    withExtendedLifetime(asking) {}
  }

  @GLibActor
  @Test(.enabled(if: geteuid() == 0, "two real users need root"))
  func `Whoever leaves polkit's questions open keeps nobody else from being asked about`() async throws {
    let side = try await side(user: 2)
    try await side.polkit.answer(.hang)
    // More than the 128 unanswered calls that a bus bears of one connection.
    let asking = try (1...2).map { _ in try program(side, ["flood", "questions"], user: 1) }
    // Whose calls came first are all running; it is the other's that are refused.
    while !asking.contains(where: { $0.text().contains("LimitsExceeded") }) { await Task.yield() }
    #expect(side.polkit.checks.count < 64, "polkit has a few of an account's questions at once")
    try await side.polkit.answer(.allow)
    let victim = try program(side, ["victim"], user: 2)
    for number in 1...5 {
      try await victim.waitFor("touch \(number)\n")
      try await side.touch(.command("SCAN a"))
      try await victim.waitFor("verify-match \(number)\n")
    }
    withExtendedLifetime(asking) {}
  }

  @GLibActor
  @Test func `Two hundred connections share one reader, and each has its turn`() async throws {
    let side = try await side()
    var clients: [DesktopClient] = []
    for _ in 1...200 {
      let client = try await DesktopClient(side.bus)
      try await client.findDevice()
      clients.append(client)
    }
    // All at once: one has it, and all the others are told so.
    let claims = clients.map { client in Task { @GLibActor in try await client.error("Claim", "") } }
    var answers: [String?] = []
    for claim in claims { answers.append(try await claim.value) }
    #expect(answers.count { $0 == nil } == 1)
    #expect(answers.count { $0 == "AlreadyInUse" } == 199, "\(Set(answers))")
    for client in clients { _ = try await client.error("Release") }
    for client in clients.prefix(20) {
      try await client.call("Claim", "")
      try await client.call("Release")
    }
    // All leave at once, one of them with the claim.
    try await clients[100].call("Claim", "")
    for client in clients { client.leave() }
    let next = try await DesktopClient(side.bus)
    try await next.findDevice()
    try await next.claimOnceFree()
  }

  // One kind after the other: the machine is theirs for as long as they are at it.
  @GLibActor
  @Test(
    .serialized, .enabled(if: geteuid() == 0, "two real users need root"),
    arguments: ["calls", "claims", "contexts", "waits", "devices", "status", "releases", "properties", "searches"])
  func `Whoever floods is refused, and another user's finger still opens`(_ kind: String) async throws {
    let side = try await side(user: 2)
    let daemon = try #require(side.program)
    let before = try descriptors(daemon)
    let flooders = try (1...2).map { _ in try program(side, ["flood", kind], user: 1) }
    // What frees a reader is never refused, and reading a property costs next to nothing.
    // So does a search, of which an account has two at a time.
    let isRefused = !["releases", "properties", "searches"].contains(kind)
    for flooder in flooders { try await flooder.waitFor(isRefused ? "LimitsExceeded" : "begun") }
    // A claim is one client's at a time, and theirs more often than not; the enclave steps in all the same.
    let victim = try program(side, [kind == "claims" ? "authenticate" : "victim"], user: 2)
    for number in 1...5 {
      try await victim.waitFor("touch \(number)\n")
      try await side.touch(.command("SCAN a"))
      try await victim.waitFor("verify-match \(number)\n")
    }
    #expect(try await victim.wait().status == 0, "\(victim.text())")
    #expect(flooders.allSatisfy { $0.isRunning }, "they were at it all the time")
    let resident = try memory(daemon)
    #expect(resident < 64 << 10, "whorld's memory is bounded")
    let refusals = daemon.text(.errors).split(separator: "\n").filter { $0.contains("refusing calls of uid 1") }
    // Of searches there may be too many at once, or not.
    #expect((isRefused ? 1...10 : 0...1).contains(refusals.count), "logged, not flooded: \(refusals.count)")
    for flooder in flooders {
      flooder.signal(SIGKILL)
      _ = try await flooder.wait()
    }
    // What was in the flooders' calls goes with them; their account's keychain, three files, is open from its first use.
    let limit = ContinuousClock.now + .seconds(20)
    while try descriptors(daemon) > before + 3, .now < limit { await Task.yield() }
    let after = try descriptors(daemon)
    let kinds = try kinds(daemon)
    #expect(after <= before + 3, "\(kinds)")
  }

  /// The kinds of its open descriptors would not add anything: how many there are.
  private func descriptors(_ program: RunningProgram) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.pid)/fd").count
  }

  private func kinds(_ program: RunningProgram) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.pid)/fd").map {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(program.pid)/fd/\($0)")) ?? "gone"
    }
  }

  /// Resident memory in KiB.
  private func memory(_ program: RunningProgram) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? .max
  }
}
