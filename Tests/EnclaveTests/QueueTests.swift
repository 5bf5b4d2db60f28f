import Keychain
import Testing

@testable import Enclave

@Suite(.timeLimit(.minutes(1)))
struct `The queue` {
  @Test func `takes requests of one user in order of arrival`() {
    var queue = IntentQueue()
    for id in 1...4 { queue.append(UInt64(id), of: Bench.alice) }
    queue.remove(2)
    #expect([queue.next(), queue.next(), queue.next(), queue.next()] == [1, 3, 4, nil])
  }

  @Test func `lets users take turns, so that many requests of one hold up another's by one`() {
    var queue = IntentQueue()
    for id in 1...8 { queue.append(UInt64(id), of: Bench.alice) }
    #expect(queue.next() == 1)
    queue.append(20, of: Bench.bob)
    queue.append(21, of: Bench.bob)
    queue.append(30, of: UserID(1002))
    #expect((0..<5).map { _ in queue.next() } == [20, 30, 2, 21, 3])
  }

  @Test func `forgets whose turn it was once it was empty`() {
    var queue = IntentQueue()
    queue.append(1, of: Bench.alice)
    #expect(queue.next() == 1)
    #expect(queue.next() == nil)
    queue.append(2, of: Bench.alice)
    queue.append(3, of: Bench.bob)
    #expect(queue.next() == 2)
  }

  @Test func `gives each touch to one request, in order`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context()
    let log = EventLog<VerificationProgress>()
    let sudo = bench.loggingIn()
    try await bench.sensor.armed(1)
    let secret = bench.getting("mail", in: context, progress: log)
    try await log.wait(for: .queued)
    bench.sensor.press(.index)
    #expect(try await sudo.value == "right-index-finger")
    // The touch meant for sudo is used up: the other still waits for its own.
    #expect(try await bench.sensor.armed(2).scope == .secret)
    #expect(bench.sensor.armings.events.count == 2)
    bench.sensor.press(.index)
    #expect(try await secret.value == "s3cret")
    #expect(log.events.first == .queued)
    await bench.expectIdle()
  }

  @Test func `is bounded for each user, and a full one is Busy, naming the user; others are not touched`() async throws
  {
    let bench = try Bench()
    let flood = (0..<Enclave.Limits.requestsPerUser).map { _ in bench.loggingIn(timeout: 300) }
    try await bench.sensor.questions.wait { $0.count == Enclave.Limits.requestsPerUser }
    try await bench.sensor.armed(1)
    let refused = await bench.loggingIn().error
    #expect(refused?.busName == "org.whorl.Error.Busy")
    #expect(refused?.message.contains("1000") == true)
    let log = EventLog<VerificationProgress>()
    let victim = bench.loggingIn(Bench.bob, timeout: 60, progress: log)
    try await log.wait(for: .queued)
    bench.clock.advance(milliseconds: Enclave.Limits.turnMilliseconds)
    // The flooder's request had its turn and goes back; the victim is served before the other seven.
    #expect(try await bench.sensor.armed(2).user == Bench.bob)
    bench.sensor.press(.index)
    #expect(try await victim.value == "right-index-finger")
    for login in flood { login.cancel() }
    for login in flood { #expect(await login.error == .appCancel) }
    await bench.expectIdle()
  }

  @Test func `brings a request that gave way back to the reader, with its tries`() async throws {
    let bench = try Bench()
    let log = EventLog<VerificationProgress>()
    let first = bench.loggingIn(timeout: 300, maxTries: 2, progress: log)
    try await bench.sensor.armed(1)
    bench.sensor.pressWrong()
    try await bench.sensor.armed(2)
    bench.clock.advance(milliseconds: Enclave.Limits.turnMilliseconds)
    let other = bench.loggingIn(Bench.bob)
    #expect(try await bench.sensor.armed(3).user == Bench.bob)
    #expect(log.events.last == .queued)
    bench.sensor.press(.index)
    _ = try await other.value
    #expect(try await bench.sensor.armed(4).user == Bench.alice)
    bench.sensor.pressWrong()
    #expect(await first.error?.busName == "org.whorl.Error.AuthenticationFailed")
    await bench.expectIdle()
  }

  @Test func `lets a touch count that comes while its request gives way`() async throws {
    let bench = try Bench()
    bench.sensor.setLingers(true)
    let first = bench.loggingIn(timeout: 300)
    try await bench.sensor.armed(1)
    bench.clock.advance(milliseconds: Enclave.Limits.turnMilliseconds)
    let other = bench.loggingIn(Bench.bob)
    try await bench.sensor.cancels.wait { $0.count == 1 }
    bench.sensor.press(.index)
    _ = try await first.value
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    _ = try await other.value
  }

  @Test func `does not let a request give way to one of the same user`() async throws {
    let bench = try Bench()
    let first = bench.loggingIn(timeout: 300)
    try await bench.sensor.armed(1)
    bench.clock.advance(seconds: 60)
    let log = EventLog<VerificationProgress>()
    let second = bench.loggingIn(timeout: 300, progress: log)
    try await log.wait(for: .queued)
    _ = await bench.enclave.isIdle  // the actor has decided by now
    #expect(bench.sensor.cancels.events.isEmpty)
    bench.sensor.press(.index)
    _ = try await first.value
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    _ = try await second.value
  }

  @Test func `ends a request at its time: TimedOut at the reader, Busy in the queue`() async throws {
    let bench = try Bench()
    let first = bench.loggingIn(timeout: 300)
    try await bench.sensor.armed(1)
    let log = EventLog<VerificationProgress>()
    let second = bench.loggingIn(timeout: 20, progress: log)
    try await log.wait(for: .queued)
    bench.clock.advance(seconds: 20)
    #expect(await second.error?.busName == "org.whorl.Error.Busy")
    bench.clock.advance(seconds: 280)
    #expect(await first.error == .timedOut)
    #expect(try bench.recordOnDisk().misses == 0)
    await bench.expectIdle()
  }

  @Test func `ends a request whose reader does not even say whether it is there`() async throws {
    let bench = try Bench()
    bench.sensor.holdQuestions()
    let late = bench.loggingIn(timeout: 5)
    try await bench.sensor.questions.wait { $0.count == 1 }
    let cancelled = bench.loggingIn(timeout: 5)
    try await bench.sensor.questions.wait { $0.count == 2 }
    cancelled.cancel()
    #expect(await cancelled.error == .appCancel)
    bench.clock.advance(seconds: 5)
    #expect(await late.error?.busName == "org.whorl.Error.ReaderFailed")
    bench.sensor.answerQuestions()
    await bench.expectIdle()
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test(arguments: CancelKind.allCases)
  func `ends what runs in a context by the kind of the cancel, queued ones too, and those of others stay`(
    how: CancelKind
  ) async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let stays = bench.loggingIn()
    try await bench.sensor.armed(1)
    let (log, other) = (EventLog<VerificationProgress>(), EventLog<VerificationProgress>())
    let one = bench.getting("mail", in: context, progress: log)
    let two = bench.getting("mail", in: context, progress: other)
    try await log.wait(for: .queued)
    try await other.wait(for: .queued)
    try await bench.enclave.cancel(context, owner: .alice, how: how)
    let expected: EnclaveError =
      switch how {
      case .user: .userCancel
      case .app: .appCancel
      case .fallback: .userFallback
      case .system: .systemCancel
      }
    #expect(await one.error == expected)
    #expect(await two.error == expected)
    bench.sensor.press(.index)
    _ = try await stays.value
    // The context itself stays.
    try await bench.enclave.cancel(context, owner: .alice, how: how)
    await bench.expectIdle()
  }

  @Test func `tells a request that does not want to wait that the reader is busy`() async throws {
    let bench = try Bench()
    let first = bench.loggingIn()
    try await bench.sensor.armed(1)
    #expect(await bench.loggingIn(Bench.bob, noWait: true).error?.busName == "org.whorl.Error.Busy")
    bench.sensor.setLingers(true)
    first.cancel()
    _ = await first.result
    // The reader only lets go now: a lock screen that asks again at once is not turned away.
    let second = bench.loggingIn(Bench.bob, noWait: true)
    try await bench.sensor.questions.wait { $0.count == 2 }
    bench.sensor.setLingers(false)
    bench.sensor.end(.failure(.cancelled))
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    _ = try await second.value
  }

  @Test func `serves nobody whose task was cancelled before it asked`() async throws {
    let bench = try Bench()
    let login = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await bench.enclave.authenticate(user: Bench.alice)
    }
    #expect(await login.error == .appCancel)
    await bench.expectIdle()
  }

  @Test func `tells nothing after a request's end`() async throws {
    let bench = try Bench()
    bench.sensor.setLingers(true)
    let log = EventLog<VerificationProgress>()
    let login = bench.loggingIn(progress: log)
    try await bench.sensor.armed(1)
    login.cancel()
    _ = await login.result
    let count = log.events.count
    bench.sensor.retry("general")
    #expect(log.events.count == count)
    bench.sensor.press(.index)
    await bench.expectIdle()
    #expect(log.events.count == count)
  }

  @Test(arguments: [(0, 3), (301, 3), (-5, 3), (30, 0), (30, 6), (Int.max, Int.min)])
  func `refuses options out of range`(timeout: Int, maxTries: Int) {
    #expect(throws: EnclaveError.self) { try VerificationOptions(timeout: timeout, maxTries: maxTries) }
  }
}
