import Bus
import GLibLoop
import Glibc
import TestKit
import Testing

/// The calls that GNOME's and KDE's settings and the screen lockers make, in their order, and what they rely on.
@Suite(.timeLimit(.minutes(5))) struct DesktopClientTests {
  init() { GLibLoop.startThread() }

  /// Enrols with a call for each step, putting the finger on whenever the reader asks for the next touch.
  @GLibActor
  private func enroll(_ client: DesktopClient, _ side: FprintSide, as name: String, scanning finger: String)
    async throws
    -> String
  {
    let seen = client.events.count
    try await client.call("EnrollStart", name)
    var told = seen
    while true {
      try await side.touch(.command("SCAN " + finger))
      let from = told
      await client.wait(after: from) { if case .signal("EnrollStatus", _) = $0 { true } else { false } }
      guard
        let index = client.events.indices.dropFirst(from).first(where: {
          if case .signal("EnrollStatus", _) = client.events[$0] { true } else { false }
        }), case .signal(_, let values) = client.events[index]
      else { return "" }
      told = index + 1
      if values[1] == .boolean(true) { break }
    }
    let status = await client.lastStatus(after: seen)
    try await client.call("EnrollStop")
    return status
  }

  @GLibActor
  @Test(arguments: [FprintSide.Reader.device, .storage])
  func `Settings enrol, list and delete fingers`(_ reader: FprintSide.Reader) async throws {
    let side = try await FprintSide(.whorl, readers: [reader])
    let client = try await DesktopClient(side.bus)
    try await client.findDevice()
    // Read before the claim and after it: a progress bar is drawn from it.
    let stages = try await client.property("num-enroll-stages").asInt32
    #expect(stages == (reader == .storage ? 6 : 5), "one more where the first touch looks for a duplicate")
    #expect(try await client.property("scan-type") != .string(""))
    #expect(try await client.error("ListEnrolledFingers", "") == "NoEnrolledPrints")
    try await client.call("Claim", "")
    #expect(try await client.property("num-enroll-stages").asInt32 == stages)
    for finger in ["right-index-finger", "left-thumb"] {
      let seen = client.events.count
      #expect(try await enroll(client, side, as: finger, scanning: finger) == "enroll-completed")
      let passed = client.events.dropFirst(seen).count {
        $0 == .signal("EnrollStatus", [.string("enroll-stage-passed"), .boolean(false)])
      }
      // The last stage is told by the end.
      #expect(passed == Int(stages ?? 0) - 1)
    }
    let listed = try await client.call("ListEnrolledFingers", "")
    #expect(Set(listed[0].asStrings ?? []) == ["right-index-finger", "left-thumb"])
    try await client.call("DeleteEnrolledFinger", "left-thumb")
    #expect(try await client.call("ListEnrolledFingers", "")[0].asStrings == ["right-index-finger"])
    #expect(try await client.error("DeleteEnrolledFinger", "left-thumb") == "NoEnrolledPrints")
    try await client.call("DeleteEnrolledFingers2")
    #expect(try await client.error("ListEnrolledFingers", "") == "NoEnrolledPrints")
    try await client.call("Release")
    #expect(try await client.error("Release") == "ClaimDevice")
  }

  @GLibActor
  @Test func `The window that is closed in the middle leaves no finger behind and the reader free`() async throws {
    let side = try await FprintSide(.whorl, readers: [.device])
    let client = try await DesktopClient(side.bus)
    try await client.findDevice()
    try await client.call("Claim", "")
    try await client.call("EnrollStart", "left-thumb")
    try await side.touch(.command("SCAN a"))
    await client.wait { if case .signal("EnrollStatus", _) = $0 { true } else { false } }
    try await client.call("EnrollStop")
    try await client.call("Release")
    #expect(try await client.error("ListEnrolledFingers", "") == "NoEnrolledPrints")
    let next = try await DesktopClient(side.bus)
    try await next.findDevice()
    try await next.call("Claim", "")
    #expect(try await enroll(next, side, as: "left-thumb", scanning: "a") == "enroll-completed")
    try await next.call("Release")
  }

  // MARK: A locker

  /// A reader with one finger enrolled and a client that holds it.
  @GLibActor
  private func locker(_ reader: FprintSide.Reader = .device) async throws -> (FprintSide, DesktopClient) {
    let side = try await FprintSide(.whorl, readers: [reader])
    #expect(try await side.run("enroll", touching: [.command("SCAN a")]).end == .exited(0))
    let client = try await DesktopClient(side.bus)
    try await client.findDevice()
    return (side, client)
  }

  @GLibActor
  @Test func `A Start is answered before its first signal, and the finger selected is told before any status`()
    async throws
  {
    let (side, client) = try await locker(.storage)
    try await client.call("Claim", "")
    // The order on the bus itself.
    let monitor = try RunningProgram("/usr/bin/dbus-monitor", ["--address", side.bus.address], input: "")
    try await monitor.waitFor("member=NameLost")
    for number in 1...20 {
      // A miss and a match in turn: five misses in a row would lock the finger out.
      let (finger, expected) = number.isMultiple(of: 2) ? ("a", "verify-match") : ("b", "verify-no-match")
      let seen = client.events.count
      // The finger may be there before the Start is answered: the verdict comes as early as it can.
      async let touch: Void = side.touch(.command("SCAN " + finger))
      try await client.call("VerifyStart", "any")
      try await touch
      #expect(await client.lastStatus(after: seen) == expected)
      try await client.call("VerifyStop")
    }
    try await client.call("EnrollStart", "left-thumb")
    for _ in 1...2 { try await side.touch(.command("SCAN c")) }
    await client.wait { if case .signal("EnrollStatus", _) = $0 { true } else { false } }
    try await client.call("EnrollStop")
    try await client.call("Release")
    try await monitor.waitFor("member=Release")
    let order = Self.order(monitor.text(), of: ["VerifyStart", "EnrollStart"])
    #expect(
      order.prefix(3 * 20) == (1...20).flatMap { _ in ["VerifyStart", "VerifyFingerSelected", "VerifyStatus"] }[...])
    #expect(order.dropFirst(3 * 20).prefix(2) == ["EnrollStart", "EnrollStatus"])
  }

  /// From what dbus-monitor wrote: the answers to calls of these methods and the device's signals, in order.
  private static func order(_ text: String, of methods: Set<String>) -> [String] {
    var calls: [String: String] = [:]
    return text.split(separator: "\n").compactMap { line -> String? in
      let words = Dictionary(
        line.split(separator: " ").compactMap { word -> (String, String)? in
          let parts = word.split(separator: "=", maxSplits: 1)
          return parts.count == 2 ? (String(parts[0]), String(parts[1]).replacing(";", with: "")) : nil
        }, uniquingKeysWith: { first, _ in first })
      if line.hasPrefix("method call"), let method = words["member"], methods.contains(method) {
        calls["\(words["sender"] ?? "") \(words["serial"] ?? "")"] = method
      } else if line.hasPrefix("method return") {
        return calls["\(words["destination"] ?? "") \(words["reply_serial"] ?? "")"]
      } else if line.hasPrefix("signal"), words["interface"] == DesktopClient.name + ".Device" {
        return words["member"]
      }
      return nil
    }
  }

  @GLibActor
  @Test func `Until its Stop an operation that has ended is still in progress`() async throws {
    let (side, client) = try await locker()
    try await client.call("Claim", "")
    try await client.call("VerifyStart", "any")
    #expect(try await client.error("VerifyStart", "any") == "AlreadyInUse")
    #expect(try await client.error("EnrollStart", "left-thumb") == "AlreadyInUse")
    try await side.touch(.command("SCAN a"))
    #expect(await client.lastStatus() == "verify-match")
    #expect(try await client.error("VerifyStart", "any") == "AlreadyInUse")
    try await client.call("VerifyStop")
    #expect(try await client.error("VerifyStop") == "NoActionInProgress")
    #expect(try await client.error("EnrollStop") == "NoActionInProgress")
    try await client.call("VerifyStart", "any")
    try await client.call("VerifyStop")
    try await client.call("Release")
  }

  @GLibActor
  @Test func `After a miss, and after a touch that was not good, the next touch counts`() async throws {
    let (side, client) = try await locker()
    try await client.call("Claim", "")
    try await client.call("VerifyStart", "any")
    try await side.touch(.command("SCAN b"))
    #expect(await client.lastStatus() == "verify-no-match")
    try await client.call("VerifyStop")
    let seen = client.events.count
    try await client.call("VerifyStart", "any")
    for (retry, status) in [(0, "verify-retry-scan"), (1, "verify-swipe-too-short"), (2, "verify-finger-not-centered")]
    {
      try await side.touch(.command("RETRY \(retry)"))
      await client.wait(after: seen) { $0 == .signal("VerifyStatus", [.string(status), .boolean(false)]) }
    }
    try await side.touch(.command("SCAN a"))
    #expect(await client.lastStatus(after: seen) == "verify-match")
    try await client.call("VerifyStop")
    try await client.call("Release")
  }

  @GLibActor
  @Test func `What the reader waits for is told as it changes`() async throws {
    let (side, client) = try await locker()
    try await client.call("Claim", "")
    #expect(try await client.property("finger-needed") == .boolean(false))
    try await client.call("VerifyStart", "any")
    await client.wait { $0 == .changed("finger-needed", .boolean(true)) }
    #expect(try await client.property("finger-needed") == .boolean(true))
    try await side.touch(.command("FINGER 1"))
    await client.wait { $0 == .changed("finger-present", .boolean(true)) }
    #expect(try await client.property("finger-present") == .boolean(true))
    try await side.touch(.command("SCAN a"))
    _ = await client.lastStatus()
    try await side.touch(.command("FINGER 0"))
    await client.wait { $0 == .changed("finger-present", .boolean(false)) }
    try await client.call("VerifyStop")
    #expect(try await client.property("finger-needed") == .boolean(false))
    try await client.call("Release")
  }

  @GLibActor
  @Test func `A hundred times locked and unlocked, by a new locker each time, and the finger is offered every time`()
    async throws
  {
    let (side, first) = try await locker()
    first.leave()
    for number in 1...100 {
      // The one before has released it, or only left: neither keeps the next from its claim.
      let client = try await DesktopClient(side.bus)
      try await client.findDevice()
      if number.isMultiple(of: 3) { try await client.claimOnceFree() } else { try await client.call("Claim", "") }
      try await client.call("VerifyStart", "any")
      try await side.touch(.command("SCAN a"))
      #expect(await client.lastStatus() == "verify-match", "unlock \(number)")
      if !(number + 1).isMultiple(of: 3) {
        try await client.call("VerifyStop")
        try await client.call("Release")
      }
      client.leave()
    }
  }

  @GLibActor
  @Test func `A locker that stops at once and starts again is always armed`() async throws {
    let (side, client) = try await locker(.storage)
    try await client.call("Claim", "")
    for _ in 1...100 {
      try await client.call("VerifyStart", "any")
      try await client.call("VerifyStop")
    }
    try await client.call("Release")
    for _ in 1...100 {
      try await client.call("Claim", "")
      try await client.call("Release")
    }
    try await client.call("Claim", "")
    let seen = client.events.count
    try await client.call("VerifyStart", "any")
    try await side.touch(.command("SCAN a"))
    #expect(await client.lastStatus(after: seen) == "verify-match")
  }
}
