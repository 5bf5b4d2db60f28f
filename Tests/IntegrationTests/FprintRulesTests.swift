import Bus
import Glibc
import TestKit
import Testing

/// The rules of `net.reactivated.Fprint.Device` that its clients build on.
@Suite(.timeLimit(.minutes(3))) struct FprintRulesTests {
  private func scene(_ kind: World.Kind = .device) async throws -> (World, FprintProbe) {
    let world = try await World(kind)
    try await world.startDaemon()
    return (world, try await FprintProbe(world))
  }

  @Test func `The finger looked for is told before the verdict, and nothing after it`() async throws {
    let (world, client) = try await scene()
    _ = try await client.call("Claim", "")
    try await client.enroll("left-thumb", scanning: "mine", on: world)
    // The reader has its verdict before anybody hears that it was started.
    try await world.device.scan("mine")
    _ = try await client.call("VerifyStart", "any")
    #expect(await client.next().what == "left-thumb")
    #expect(await client.next().description == "verify-match!")
    _ = try await client.call("VerifyStop")
    #expect(await client.pendingEvents.isEmpty)
  }

  @Test func `What is stopped ends with a status, once`() async throws {
    let (world, client) = try await scene()
    _ = try await client.call("Claim", "")
    try await client.start("EnrollStart", "left-thumb")
    _ = try await client.call("EnrollStop")
    #expect(await client.last() == "enroll-failed")
    try await client.enroll("left-thumb", scanning: "mine", on: world)
    for end in ["VerifyStop", "Release"] {
      try await client.start("VerifyStart", "any")
      _ = try await client.call(end)
      #expect(await client.last() == "verify-no-match")
    }
    #expect(await client.pendingEvents.isEmpty)
  }

  @Test func `One operation at a time, and each Stop for its own Start`() async throws {
    let (world, client) = try await scene()
    for method in ["EnrollStop", "VerifyStop", "Release", "DeleteEnrolledFingers2"] {
      #expect(try await client.error(method) == "ClaimDevice")
    }
    #expect(try await client.error("EnrollStart", "left-thumb") == "ClaimDevice")
    _ = try await client.call("Claim", "")
    #expect(try await client.error("Claim", "") == "AlreadyInUse")
    #expect(try await client.error("EnrollStop") == "NoActionInProgress")
    #expect(try await client.error("VerifyStop") == "NoActionInProgress")
    #expect(try await client.error("VerifyStart", "any") == "NoEnrolledPrints")
    #expect(try await client.error("EnrollStart", "any") == "InvalidFingername")
    #expect(try await client.error("DeleteEnrolledFinger", "toe") == "InvalidFingername")
    try await client.enroll("left-thumb", scanning: "mine", on: world)
    #expect(try await client.error("VerifyStart", "right-thumb") == "NoEnrolledPrints")
    try await client.start("VerifyStart", "any")
    for method in ["EnrollStop", "DeleteEnrolledFingers2"] {
      #expect(try await client.error(method) == "AlreadyInUse", "\(method)")
    }
    #expect(try await client.error("VerifyStart", "any") == "AlreadyInUse")
    #expect(try await client.error("EnrollStart", "left-thumb") == "AlreadyInUse")
    #expect(try await client.error("DeleteEnrolledFinger", "left-thumb") == "AlreadyInUse")
    let other = try await FprintProbe(world)
    for method in ["VerifyStop", "Release"] { #expect(try await other.error(method) == "AlreadyInUse") }
    _ = try await client.call("VerifyStop")
    try await client.start("EnrollStart", "left-thumb")
    #expect(try await client.error("VerifyStop") == "AlreadyInUse")
  }

  @Test func `Each fault has its status`() async throws {
    let (world, client) = try await scene()
    _ = try await client.call("Claim", "")
    try await client.enroll("left-thumb", scanning: "mine", on: world)
    for (code, status) in [
      (0, "unknown-error"), (4, "unknown-error"), (5, "disconnected"), (6, "unknown-error"), (7, "no-match"),
      (8, "unknown-error"), (256, "disconnected"),
    ] {
      try await client.start("VerifyStart", "any")
      try await world.device.command("ERROR \(code)")
      #expect(await client.last() == "verify-" + status, "code \(code)")
      _ = try await client.call("VerifyStop")
    }
    for (code, status) in [(0, "unknown-error"), (5, "disconnected"), (8, "data-full"), (9, "duplicate")] {
      try await client.start("EnrollStart", "right-thumb")
      try await world.device.command("ERROR \(code)")
      #expect(await client.last() == "enroll-" + status, "code \(code)")
      _ = try await client.call("EnrollStop")
    }
  }

  @Test func `The number of touches is known to all, and told when it changes`() async throws {
    let (world, client) = try await scene(.storage)
    _ = try await client.call("Claim", "")
    try await world.device.command("SET_ENROLL_STAGES 2")
    // One more than the reader's own, which shows whether the finger is enrolled already.
    await client.property("num-enroll-stages", is: .int32(3))
    let statuses = try await client.enroll("left-thumb", scanning: "mine", on: world)
    #expect(statuses == ["enroll-stage-passed", "enroll-stage-passed", "enroll-completed"])
    try await world.device.command("SET_SCAN_TYPE press")
    await client.property("scan-type", is: .string("press"))
  }

  @Test func `An unplugged reader stays for who holds it, until he lets go`() async throws {
    let (world, client) = try await scene()
    _ = try await client.call("Claim", "")
    try await client.start("EnrollStart", "left-thumb")
    try await world.device.command("UNPLUG")
    #expect(await client.last() == "enroll-disconnected")
    #expect(try await client.devices() == [client.path])
    #expect(try await client.error("Release") == "Internal")
    #expect(try await client.devices().isEmpty)
  }

  @Test func `A question to polkit that nobody answers keeps no other client waiting`() async throws {
    let (world, client) = try await scene()
    let polkit = try #require(world.polkit)
    try await polkit.answer(.hang)
    let stuck = try await FprintProbe(world)
    let claim = Task { try await stuck.error("Claim", "somebody") }
    while polkit.checks.isEmpty { await Task.yield() }
    try await polkit.answer(.allow)
    #expect(try await client.error("Claim", "") == nil)
    #expect(try await client.error("Release") == nil)
    await stuck.bus.close()
    _ = await claim.result
    #expect(try await client.error("Claim", "") == nil)
  }
}
