import Foundation
import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// Hardware and drivers that hang, die and burn.
@Suite(.timeLimit(.minutes(5))) struct WedgedBridgeTests {
  init() { GLibLoop.startThread() }

  private let reader = ReaderID(driver: "fake", deviceID: "0", ordinal: 0)
  private let print = Array("FP3".utf8)

  // MARK: One that cannot be relied on

  @Test(arguments: FakeRequest.allCases, ["exits", "dies of a signal", "loops", "unplugged and silent"])
  @GLibActor func `whatever it is asked, a bridge that fails costs one error and nothing after it`(
    _ request: FakeRequest, _ fault: String
  ) async throws {
    let fake = try FakeSetup("\(request.rawValue): \(fault)", once: true)
    let keeper = fake.keeper
    if request != .open { try await keeper.open(reader) }
    let error = await failure { try await request.perform(keeper, reader) }
    if fault == "unplugged and silent" {
      guard case .removed = error else {
        Issue.record("\(String(describing: error)) does not say that it was unplugged")
        return
      }
    } else {
      expectBridgeFailed(error)
    }
    #expect(fake.reasons.values.count == 1)
    try await keeper.open(reader)
    if request != .open { try await request.perform(keeper, reader) }
    await keeper.stop()
  }

  @Test(arguments: FakeRequest.allCases)
  @GLibActor func `a reader that is unplugged in the middle ends the request once`(_ request: FakeRequest) async throws
  {
    let fake = try FakeSetup("\(request.rawValue): unplugged", once: false)
    let keeper = fake.keeper
    if request != .open { try await keeper.open(reader) }
    guard case .removed = await failure({ try await request.perform(keeper, reader) }) else {
      Issue.record("the request did not end with .removed")
      return
    }
    #expect(await failure { try await keeper.open(reader) } == .noSuchReader)
    #expect(fake.reasons.values.isEmpty)
    await keeper.stop()
  }

  @Test(arguments: FakeRequest.allCases)
  @GLibActor func `a request of a reader that has gone unnoticed ends as removed`(_ request: FakeRequest) async throws {
    let fake = try FakeSetup("\(request.rawValue): no such reader", once: false)
    if request != .open { try await fake.keeper.open(reader) }
    guard case .removed = await failure({ try await request.perform(fake.keeper, reader) }) else {
      Issue.record("the request did not end with .removed")
      return
    }
    await fake.keeper.stop()
  }

  @Test(arguments: 0..<12)
  @GLibActor func `no frames whatever crash or hang the keeper`(_ seed: Int) async throws {
    let fake = try FakeSetup("random frames", once: false, seed: seed) {
      $0.failuresPerMinute = 10_000
      $0.answer = 300
      $0.cancel = 200
      $0.start = 2000
    }
    let keeper = fake.keeper
    var random = SystemRandomNumberGenerator()
    for _ in 0..<40 {
      guard let request = FakeRequest.allCases.randomElement() else { return }
      let task = Task { await failure { try await request.perform(keeper, reader) } }
      // A request that awaits a finger may wait for ever.
      if request.awaitsTouch || Bool.random(using: &random) {
        for _ in 0..<Int.random(in: 0..<40, using: &random) { await Task.yield() }
        task.cancel()
      }
      _ = await task.value
    }
    await keeper.stop()
    #expect(keeper.processID == nil)
  }

  // MARK: One that cannot be started

  @Test @GLibActor func `a bridge that ends at every start is started ever more seldom, and the error says so`()
    async throws
  {
    let fake = try FakeSetup("ends at once", once: false)
    var errors: [ReaderError] = []
    for _ in 0..<200 { errors.append(try #require(await failure { try await fake.keeper.readers() })) }
    expectBridgeFailed(errors[0])
    guard case .bridgeKeepsFailing(let text) = errors[199] else {
      Issue.record("\(errors[199]) does not say that the bridge keeps failing")
      return
    }
    #expect(text.contains("exit code 3"))
    #expect(fake.reasons.values.count < 10, "every try started it")
  }

  @Test @GLibActor func `a bridge that works again is used again, and its next failure is the first`() async throws {
    let fake = try FakeSetup("ends at once", once: false)
    for _ in 0..<4 { _ = await failure { try await fake.keeper.readers() } }
    fake.repair()
    var error = await failure { try await fake.keeper.open(reader) }
    while let failing = error {
      guard case .bridgeKeepsFailing = failing else {
        Issue.record("\(failing)")
        return
      }
      try await glibSleep(milliseconds: 100)
      error = await failure { try await fake.keeper.open(reader) }
    }
    kill(try #require(fake.keeper.processID), SIGKILL)
    expectBridgeFailed(await failure { try await fake.keeper.verify(reader, print: print) })
    try await fake.keeper.open(reader)
    await fake.keeper.stop()
  }

  // MARK: One that does not end

  @Test @GLibActor func `stopping ends a bridge that does not react within the time given`() async throws {
    let fake = try FakeSetup("verify: loops", once: false)
    let keeper = fake.keeper
    try await keeper.open(reader)
    let pid = try #require(keeper.processID)
    async let failed = failure { try await keeper.verify(reader, print: print) }
    await fake.arrivals(1)
    await keeper.stop(milliseconds: 100)
    #expect(kill(pid, 0) == -1)
    expectBridgeFailed(await failed)
  }

  @Test @GLibActor func `a cancelled task still stops the bridge in good order`() async throws {
    let fake = try FakeSetup("", once: false)
    let keeper = fake.keeper
    try await keeper.open(reader)
    let pid = try #require(keeper.processID)
    let stopping = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await keeper.stop()
    }
    await stopping.value
    #expect(kill(pid, 0) == -1)
    #expect(fake.reasons.values.isEmpty)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  @GLibActor func `a process that the kernel holds is left behind, named, and reaped when it ends`() async throws {
    let fake = try FakeSetup("", once: false)
    let keeper = fake.keeper
    try await keeper.open(reader)
    let pid = try #require(keeper.processID)
    // A traced process that is killed stays in the kernel on its way out until the tracer lets it go.
    let holder = try RunningProgram("/usr/bin/python3", ["-c", Self.holder, "\(pid)"])
    try await holder.waitFor("holding")
    await keeper.stop(milliseconds: 200)
    #expect(kill(pid, 0) == 0)
    #expect(fake.reasons.values.count == 1)
    #expect(fake.reasons.values.first?.contains("process \(pid)") == true)
    // It holds up nobody.
    try await keeper.open(reader)
    #expect(keeper.processID != pid)
    holder.closeInput()
    _ = try await holder.wait()
    while kill(pid, 0) == 0 { await Task.yield() }
    await keeper.stop()
  }

  private static let holder = """
    import ctypes, os, sys
    libc = ctypes.CDLL(None)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    # PTRACE_SEIZE with PTRACE_O_TRACEEXIT.
    if libc.ptrace(0x4206, int(sys.argv[1]), None, 0x40) == 0:
        print("holding", flush=True)
        sys.stdin.read()
    """

  @Test @GLibActor func `waiting for the old bridge, a cancelled request ends at once`() async throws {
    let fake = try FakeSetup("deaf to the end", once: true) { $0.cancel = 120_000 }
    let keeper = fake.keeper
    try await keeper.open(reader)
    let stopping = Task { await keeper.stop(milliseconds: 60_000) }
    while keeper.processID != nil { await Task.yield() }
    let waiting = Task { await failure { try await keeper.open(reader) } }
    for _ in 0..<10 { await Task.yield() }
    waiting.cancel()
    #expect(await waiting.value == .cancelled)
    kill(try #require(fake.lastProcess), SIGKILL)
    await stopping.value
  }

  // MARK: A hot one

  @Test @GLibActor func `a hot reader is told, and left to cool down in a new bridge too`() async throws {
    let fake = try FakeSetup("verify: hot", once: true) { $0.coolDown = 600_000 }
    let keeper = fake.keeper
    var told: [ReaderTemperature] = []
    keeper.onTemperature = { _, temperature in told.append(temperature) }
    try await keeper.open(reader)
    guard case .tooHot = await failure({ try await keeper.verify(reader, print: print) }) else {
      Issue.record("it is not too hot")
      return
    }
    #expect(told == [.warm, .hot])
    #expect(try await keeper.readers().map(\.temperature) == [.hot])
    await keeper.stop()
    #expect(try await keeper.readers().map(\.temperature) == [.hot])
    try await keeper.open(reader)
    guard case .tooHot = await failure({ try await keeper.verify(reader, print: print) }) else {
      Issue.record("a new bridge armed the hot reader")
      return
    }
    // What needs no sensor goes on.
    #expect(try await keeper.storedPrints(reader, known: [print, print]).count == 1)
    await keeper.stop()
  }

  @Test @GLibActor func `a reader that has cooled down is armed again`() async throws {
    let fake = try FakeSetup("verify: hot", once: true) { $0.coolDown = 1 }
    let keeper = fake.keeper
    try await keeper.open(reader)
    _ = await failure { try await keeper.verify(reader, print: print) }
    await keeper.stop()
    try await keeper.open(reader)
    #expect(try await keeper.verify(reader, print: print))
    await keeper.stop()
  }

  @Test @GLibActor func `a warm reader keeps its bridge, for only that knows`() async throws {
    let fake = try FakeSetup("verify: warm", once: true) { $0.idle = 1 }
    let keeper = fake.keeper
    try await keeper.open(reader)
    let pid = keeper.processID
    #expect(try await keeper.verify(reader, print: print))
    try await keeper.close(reader)
    try await glibSleep(milliseconds: 30)
    #expect(keeper.processID == pid)
    await keeper.stop()
  }
}

private func expectBridgeFailed(_ error: ReaderError?) {
  guard case .bridgeFailed = error else {
    Issue.record("\(String(describing: error)) is not a failure of the bridge")
    return
  }
}

/// Everything that can be asked of a reader.
enum FakeRequest: String, CaseIterable, Sendable {
  case open, close, enroll, verify, identify, capture, list, stored, delete, clear

  var awaitsTouch: Bool { [.enroll, .verify, .identify, .capture].contains(self) }

  @GLibActor
  func perform(_ keeper: ReaderKeeper, _ reader: ReaderID) async throws {
    let print = Array("FP3".utf8)
    switch self {
    case .open: try await keeper.open(reader)
    case .close: try await keeper.close(reader)
    case .enroll: _ = try await keeper.enroll(reader, finger: nil, user: "") { _ in }
    case .verify: _ = try await keeper.verify(reader, print: print)
    case .identify: _ = try await keeper.identify(reader, prints: [print, print])
    case .capture: _ = try await keeper.capture(reader)
    case .list: _ = try await keeper.listPrints(reader)
    case .stored: _ = try await keeper.storedPrints(reader, known: [print, print])
    case .delete: try await keeper.deletePrint(reader, print: print)
    case .clear: try await keeper.clearStorage(reader)
    }
  }
}
