import Enclave
import Keychain
import SecretMemory
import Synchronization
import Testing

/// What a verdict of the sensor must be before it counts.
@Suite(.timeLimit(.minutes(1)))
struct `A touch` {
  @Test func `of a print that is not registered releases no secret, whatever the sensor says`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context(reuse: 300)
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.middle)
    let error = await request.error
    #expect(error?.busName == "org.whorl.Error.Denied")
    #expect(error?.message.contains("right-middle-finger") == true)
    // Nor does the context remember it.
    let again = bench.getting("mail", in: context)
    try await bench.sensor.armed(2)
    try await bench.enclave.cancel(context, owner: .alice, how: .user)
    #expect(await again.error == .userCancel)
  }

  @Test func `of a print that is not registered establishes no policy`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let context = try await bench.context()
    let policy = Task { try await bench.enclave.evaluate(context, owner: .alice, policy: .biometrics) }
    try await bench.sensor.armed(1)
    bench.sensor.press(.middle)
    await #expect(throws: EnclaveError.self) { try await policy.value }
  }

  @Test func `of a print that is not registered opens a login, as with fprintd`() async throws {
    let bench = try Bench()
    let login = bench.loggingIn()
    #expect(try await bench.sensor.armed(1).scope == .login)
    bench.sensor.press(.middle)
    #expect(try await login.value == "right-middle-finger")
  }

  @Test func `of another user's finger is refused`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let request = bench.getting("mail", in: context)
    var touch = Finger.index.touch(of: try await bench.sensor.armed(1))
    touch.user = Bench.bob
    bench.sensor.end(.success(.match(touch)))
    #expect(await request.error?.busName == "org.whorl.Error.ReaderFailed")
    let login = bench.loggingIn()
    var other = Finger.index.touch(of: try await bench.sensor.armed(2))
    other.user = Bench.bob
    bench.sensor.end(.success(.match(other)))
    #expect(await login.error?.busName == "org.whorl.Error.ReaderFailed")
  }

  @Test func `made for an earlier request is refused for a later one`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let first = bench.getting("mail", in: context)
    let stale = Finger.index.touch(of: try await bench.sensor.armed(1))
    bench.sensor.end(.success(.match(stale)))
    #expect(try await first.value == "s3cret")
    let second = bench.getting("mail", in: context)
    try await bench.sensor.armed(2)
    bench.sensor.end(.success(.match(stale)))
    #expect(await second.error?.busName == "org.whorl.Error.ReaderFailed")
  }

  @Test func `made for an earlier try of the same request is refused`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let request = bench.getting("mail", in: context)
    let first = try await bench.sensor.armed(1)
    bench.sensor.pressWrong()
    let second = try await bench.sensor.armed(2)
    #expect(first.id != second.id)
    bench.sensor.end(.success(.match(Finger.index.touch(of: first))))
    #expect(await request.error?.busName == "org.whorl.Error.ReaderFailed")
  }

  enum Ending: CaseIterable { case invalidated, closed, cancelledContext, cancelledTask, timedOut, allCancelled }

  @Test(arguments: Ending.allCases)
  func `that comes after its request has ended releases nothing, and counts for nobody else`(
    ending: Ending
  ) async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    bench.sensor.setLingers(true)  // the reader takes its time to let go, and a finger touches it then
    let context = try await bench.context(reuse: 300)
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    let other = ContextOwner(connection: ":1.12", user: Bench.alice)
    let log = EventLog<VerificationProgress>()
    let next = bench.getting("mail", in: try await bench.context(of: other), owner: other, timeout: 60, progress: log)
    try await log.wait(for: .queued)
    switch ending {
    case .invalidated: try await bench.enclave.invalidate(context, owner: .alice)
    case .closed: await bench.enclave.connectionClosed(":1.10")
    case .cancelledContext: try await bench.enclave.cancel(context, owner: .alice, how: .app)
    case .cancelledTask: request.cancel()
    case .timedOut: bench.clock.advance(seconds: 30)
    case .allCancelled: await bench.enclave.cancelAll()
    }
    let expected: EnclaveError =
      switch ending {
      case .timedOut: .timedOut
      case .allCancelled: .systemCancel
      default: .appCancel
      }
    #expect(await request.error == expected)  // at once, though the reader has not let go
    bench.sensor.setLingers(false)
    if ending == .allCancelled {
      #expect(await next.error == .systemCancel)
      bench.sensor.press(.index)
    } else {
      #expect(bench.sensor.armings.events.count == 1)  // the next request waits until it has
      bench.sensor.press(.index)
      try await bench.sensor.armed(2)
      bench.sensor.press(.index)
      #expect(try await next.value == "s3cret")
    }
    await bench.expectIdle()
  }

  @Test func `matched just before the connection closed releases nothing`() async throws {
    // The verdict and the close reach the actor one after the other, before the caller goes on: whichever is first.
    for _ in 0..<50 {
      let bench = try Bench()
      try await bench.enrol()
      try await bench.store("s3cret", as: "mail", .biometryAny)
      let context = try await bench.context()
      let request = bench.getting("mail", in: context)
      try await bench.sensor.armed(1)
      bench.sensor.press(.index)
      await bench.enclave.connectionClosed(":1.10")
      switch await request.result {
      case .success: break  // released before the close
      case .failure(let error):
        #expect([.appCancel, .invalidContext].contains(error as? EnclaveError))
      }
      await bench.expectIdle()
    }
  }

  @Test func `releases nothing to a caller who is gone by the moment it matched`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let canceller = Canceller()
    // The handler runs between the match and the release.
    let request = Task {
      let secret = try await bench.enclave.copySecret(
        context, owner: .alice, query: ItemQuery(service: "mail"),
        progress: { if case .matched = $0 { canceller.cancel() } })
      return secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    canceller.set(request)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(await request.error == .appCancel)
  }

  @Test func `meant for one item does not open the one that took its place`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("old", as: "mail", .biometryAny)
    let context = try await bench.context()
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(service: "mail"))
    try await bench.store("new", as: "mail", .biometryAny)
    bench.sensor.press(.index)
    #expect(await request.error?.busName == "org.whorl.Error.Denied")
  }

  @Test func `for an item deleted meanwhile finds nothing`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("old", as: "mail", .biometryAny)
    let context = try await bench.context()
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(service: "mail"))
    bench.sensor.press(.index)
    #expect(await request.error == .keychain(.itemNotFound))
  }

  @Test func `of a finger deleted meanwhile releases nothing`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.enrol(.middle)
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    try await bench.enclave.deleted(user: Bench.alice, finger: 8, reader: Bench.reader)
    bench.sensor.press(.middle)
    #expect(await request.error?.busName == "org.whorl.Error.Denied")
  }

  @Test func `serves one request of a context, not two that race, with reuse time 0`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let first = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    let log = EventLog<VerificationProgress>()
    let second = bench.getting("mail", in: context, progress: log)
    try await log.wait(for: .queued)
    bench.sensor.press(.index)
    #expect(try await first.value == "s3cret")
    try await bench.sensor.armed(2)
    bench.sensor.pressWrong()
    try await bench.sensor.armed(3)
    bench.sensor.press(.index)
    #expect(try await second.value == "s3cret")
  }

  @Test func `serves all that wait in its context within the reuse time`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context(reuse: 30)
    let first = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    let log = EventLog<VerificationProgress>()
    let second = bench.getting("mail", in: context, progress: log)
    try await log.wait(for: .queued)
    bench.sensor.press(.index)
    #expect(try await first.value == "s3cret")
    #expect(try await second.value == "s3cret")
    #expect(bench.sensor.armings.events.count == 1)
  }

  @Test func `of a ticket is taken by one of two requests that race for it`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", .devicePasscode)
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    let both = [bench.getting("mail", in: context), bench.getting("mail", in: context)]
    let errors = [await both[0].error, await both[1].error]
    #expect(errors.count { $0 == nil } == 1)
    #expect(errors.count { $0 == .passcodeNeeded(.required) } == 1)
  }

  @Test func `that is unreadable is told and is no miss; the wait goes on`() async throws {
    let bench = try Bench()
    let log = EventLog<VerificationProgress>()
    let login = bench.loggingIn(progress: log)
    try await bench.sensor.armed(1)
    bench.sensor.retry("too-short")
    bench.sensor.press(.index)
    _ = try await login.value
    #expect(log.events.contains(.retry(reason: "too-short")))
    #expect(bench.sensor.armings.events.count == 1)
  }

  @Test func `that does not match costs a try, and the last try ends the request`() async throws {
    let bench = try Bench()
    let log = EventLog<VerificationProgress>()
    let login = bench.loggingIn(maxTries: 2, progress: log)
    try await bench.sensor.armed(1)
    bench.sensor.pressWrong()
    try await bench.sensor.armed(2)
    bench.sensor.pressWrong()
    #expect(await login.error?.busName == "org.whorl.Error.AuthenticationFailed")
    #expect(
      log.events.filter { if case .noMatch = $0 { true } else { false } } == [
        .noMatch(triesLeft: 1), .noMatch(triesLeft: 0),
      ])
    await bench.expectIdle()
  }
}

/// Cancels a task from within its own progress.
private final class Canceller: Sendable {
  private let task = Mutex<Task<String, any Error>?>(nil)

  func set(_ task: Task<String, any Error>) { self.task.withLock { $0 = task } }
  func cancel() { task.withLock { $0 }?.cancel() }
}
