import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// A bridge that a hostile device has taken over.
@Suite(.timeLimit(.minutes(5))) struct FakeBridgeTests {
  init() { GLibLoop.startThread() }

  private let reader = ReaderID(driver: "fake", deviceID: "0", ordinal: 0)
  private let print = Array("FP3".utf8)

  @Test(arguments: [
    "silent", "ends at once", "noise", "future version", "reply before hello", "hello twice",
  ]) @GLibActor func `a bridge that starts badly costs one error`(_ fault: String) async throws {
    let fake = try FakeSetup(fault)
    let keeper = fake.keeper
    expectBridgeFailed(await failure { try await keeper.open(reader) })
    try await keeper.open(reader)
    #expect(try await keeper.verify(reader, print: print))
    await fake.keeper.stop()
  }

  static let faults = [
    "noise in the middle", "oversized", "unknown kind", "half a message then the end", "crash",
    "answer of another kind", "answer to a request never made", "event of a request never made", "index out of range",
    "stage of a verification", "two readers of one token", "flood", "flood of readers",
    "flood of ignored devices", "no pong",
  ]

  @Test(arguments: faults)
  @GLibActor func `nonsense in the middle of a verification costs one error`(_ fault: String) async throws {
    let fake = try FakeSetup(fault)
    let keeper = fake.keeper
    try await keeper.open(reader)
    expectBridgeFailed(await failure { try await keeper.verify(reader, print: print) })
    try await keeper.open(reader)
    #expect(try await keeper.verify(reader, print: print))
    await fake.keeper.stop()
  }

  @Test(arguments: faults)
  @GLibActor func `nonsense in the middle of an enrolment costs one error`(_ fault: String) async throws {
    let fake = try FakeSetup(fault)
    let keeper = fake.keeper
    try await keeper.open(reader)
    expectBridgeFailed(await failure { try await keeper.enroll(reader, finger: .leftThumb, user: "a") { _ in } })
    try await keeper.open(reader)
    #expect(try await keeper.enroll(reader, finger: .leftThumb, user: "a") { _ in } == print)
    await fake.keeper.stop()
  }

  @Test(arguments: [
    "unusable out of range", "unusable twice in a list", "unusable told twice", "unusable without any",
    "unusable of another request", "unusable after a touch", "unusable and matched", "all unusable and judged",
  ])
  @GLibActor func `nonsense about unusable prints costs one error`(_ fault: String) async throws {
    let fake = try FakeSetup(fault)
    let keeper = fake.keeper
    let prints = [print, print, print]
    try await keeper.open(reader)
    var reasons: [String] = []
    keeper.onBridgeFailed = { reasons.append($0) }
    expectBridgeFailed(await failure { try await keeper.identify(reader, prints: prints) })
    #expect(reasons == ["it answered nonsense"])
    try await keeper.open(reader)
    #expect(try await keeper.identify(reader, prints: prints) == 1)
    await keeper.stop()
  }

  @Test @GLibActor func `a verification has no unusable prints`() async throws {
    let fake = try FakeSetup("unusable told twice")
    let keeper = fake.keeper
    try await keeper.open(reader)
    expectBridgeFailed(await failure { try await keeper.verify(reader, print: print) })
    await keeper.stop()
  }

  @Test @GLibActor func `a stored print that claims to be one that was not given costs one error`() async throws {
    let fake = try FakeSetup("stored print out of range")
    let keeper = fake.keeper
    try await keeper.open(reader)
    expectBridgeFailed(await failure { try await keeper.storedPrints(reader, known: [print, print]) })
    try await keeper.open(reader)
    let stored = try await keeper.storedPrints(reader, known: [print, print])
    #expect(stored.map(\.user) == ["a?b"])
    #expect(stored.map(\.knownIndex) == [1])
    await keeper.stop()
  }

  @Test @GLibActor func `every request that was pending fails, each once`() async throws {
    let fake = try FakeSetup("waits")
    let keeper = fake.keeper
    try await keeper.open(reader)
    let waiting = (0..<5).map { _ in Task { await failure { try await keeper.verify(reader, print: print) } } }
    let last = Task { await failure { try await keeper.identify(reader, prints: [print]) } }
    await fake.arrivals(6)
    await keeper.stop()
    for task in waiting + [last] { expectBridgeFailed(await task.value) }
  }

  @Test @GLibActor func `a bridge that does not cancel is replaced and the caller is cancelled all the same`()
    async throws
  {
    let fake = try FakeSetup("deaf to cancel")
    let keeper = fake.keeper
    try await keeper.open(reader)
    let pid = keeper.processID
    var reasons: [String] = []
    keeper.onBridgeFailed = { reasons.append($0) }
    let check = Task { try await keeper.verify(reader, print: print) }
    await fake.arrivals(1)
    check.cancel()
    #expect(await failure { try await check.value } == .cancelled)
    #expect(reasons == ["it did not cancel in time"])
    try await keeper.open(reader)
    #expect(keeper.processID != pid)
    await fake.keeper.stop()
  }

  @Test @GLibActor func `an early verdict counts at once and the reader's next request waits for the end`() async throws
  {
    let fake = try FakeSetup("early verdict then waits")
    let keeper = fake.keeper
    try await keeper.open(reader)
    // The bridge never ends the verification by itself: only its cancellation by close does.
    #expect(try await keeper.verify(reader, print: print))
    try await keeper.close(reader)
    await fake.keeper.stop()
  }

  @Test @GLibActor func `a verdict that is taken back ends the bridge`() async throws {
    let fake = try FakeSetup("early verdict then the contrary")
    let keeper = fake.keeper
    try await keeper.open(reader)
    var reasons: [String] = []
    keeper.onBridgeFailed = { reasons.append($0) }
    #expect(try await keeper.verify(reader, print: print) == false)
    // The reader's next request comes after the end of the first, so the contrary has been read by then.
    _ = await failure { try await keeper.verify(reader, print: print) }
    #expect(reasons == ["it answered nonsense"])
    await fake.keeper.stop()
  }

  @Test @GLibActor func `a reader that asks for the touch again without end is given up`() async throws {
    let fake = try FakeSetup("endless retries", once: false)
    let keeper = fake.keeper
    try await keeper.open(reader)
    var retries = 0
    let error = await failure { try await keeper.verify(reader, print: print) { _ in retries += 1 } }
    #expect(error == .retry(.tooShort))
    #expect(retries == 20)
    await fake.keeper.stop()
  }

  @Test @GLibActor func `names lose their control characters`() async throws {
    let fake = try FakeSetup("ugly names", once: false)
    let keeper = fake.keeper
    #expect(try await keeper.readers().map(\.name) == ["?[31mred??"])
    await fake.keeper.stop()
  }

  @Test func `readers of the same kind are told apart by their order`() {
    let one = ReaderDescription(
      token: 4, driver: "a", deviceID: "0", name: "", scanType: .press, features: [], enrollStages: 1)
    var two = one
    two.driver = "b"
    #expect(
      ReaderID.ids(of: [one, two, one]) == [
        ReaderID(driver: "a", deviceID: "0", ordinal: 0), ReaderID(driver: "b", deviceID: "0", ordinal: 0),
        ReaderID(driver: "a", deviceID: "0", ordinal: 1),
      ])
  }

  private func expectBridgeFailed(_ error: ReaderError?) {
    guard case .bridgeFailed = error else {
      Issue.record("\(String(describing: error)) is not a failure of the bridge")
      return
    }
  }
}
