import Enclave
import Keychain
import Synchronization
import Testing

/// Many programs at once, people who touch rightly and wrongly, cancels and closes at any moment. What must hold, holds
/// however it falls out; the seed is printed with a failure.
@Suite(.timeLimit(.minutes(2)))
struct `Whatever happens at once` {
  /// What was touched and what was released.
  private final class Ledger: Sendable {
    private let counts = Mutex((touches: 0, released: 0, ownTouches: 0))
    /// Right touches that ended a wait.
    var touches: Int { counts.withLock { $0.touches } }
    var released: Int { counts.withLock { $0.released } }
    /// Touches that served a request.
    var ownTouches: Int { counts.withLock { $0.ownTouches } }
    func touched() { counts.withLock { $0.touches += 1 } }
    func served(touches: Int, released: Bool) {
      counts.withLock { counts in
        counts.ownTouches += touches
        counts.released += released ? 1 : 0
      }
    }
  }

  @Test(arguments: [1, 7, 42, 2026, 0xfeed])
  func `each touch serves one request, nothing is released without one, and nothing is left held`(
    seed: UInt64
  ) async throws {
    let bench = try Bench()
    let users = [Bench.alice, Bench.bob]
    for user in users {
      try await bench.enrol(of: user)
      try await bench.store("s3cret of \(user)", as: "mail", .biometryAny, of: user)
    }
    let ledger = Ledger()
    let finger = Task { await touchAtRandom(bench, ledger, seed: seed) }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<24 {
        group.addTask {
          await program(bench, ledger, number: number, user: users[number % 2], seed: seed &+ UInt64(number) &* 977)
        }
      }
      await group.waitForAll()
    }
    finger.cancel()
    await finger.value
    await bench.expectIdle()
    #expect(ledger.ownTouches <= ledger.touches, "seed \(seed): one touch served two requests")
    #expect(ledger.touches > 0 && ledger.released > 0, "seed \(seed): nothing happened")
    #expect(bench.sensor.mostAtOnce == 1)
    // What is left afterwards works: a fresh request is served.
    for user in users {
      let owner = ContextOwner(connection: ":9.\(user)", user: user)
      let context = try await bench.context(of: owner)
      try await bench.givePasscode(to: context, owner: owner)
      let armings = bench.sensor.armings.events.count
      let request = bench.getting("mail", in: context, owner: owner)
      try await bench.sensor.armed(armings + 1)
      bench.sensor.press(.index)
      #expect(try await request.value == "s3cret of \(user)")
    }
  }

  /// A person before the reader, until cancelled: mostly the right finger, at times a wrong or an unregistered one.
  private func touchAtRandom(_ bench: Bench, _ ledger: Ledger, seed: UInt64) async {
    var random = SplitMix(state: seed)
    while !Task.isCancelled {
      await Task.yield()
      switch random.below(20) {
      case 0..<12:
        if bench.sensor.press(.index) { ledger.touched() }
      case 12: bench.sensor.pressWrong()
      case 13: bench.sensor.press(.middle)
      case 14: bench.sensor.end(.failure(.failed("hot")))
      case 15: bench.sensor.retry("general")
      case 16: bench.clock.advance(milliseconds: 700)
      default: break
      }
    }
  }

  /// One program that asks again and again, and is cancelled, invalidated or cut off at random.
  private func program(
    _ bench: Bench, _ ledger: Ledger, number: Int, user: UserID, seed: UInt64
  ) async {
    var random = SplitMix(state: seed)
    for round in 0..<12 {
      let owner = ContextOwner(connection: ":\(number).\(round)", user: user)
      let reuse = number % 4 == 3 ? 5 : 0
      guard let context = try? await bench.context(of: owner, reuse: reuse) else { continue }
      let logs = (0...random.below(2)).map { _ in EventLog<VerificationProgress>() }
      let requests = logs.map { log in
        bench.getting("mail", in: context, owner: owner, timeout: 20, maxTries: 5, progress: log)
      }
      for _ in 0..<random.below(30) { await Task.yield() }
      switch random.below(8) {
      case 0: requests[0].cancel()
      case 1: try? await bench.enclave.cancel(context, owner: owner, how: .user)
      case 2: try? await bench.enclave.invalidate(context, owner: owner)
      case 3: await bench.enclave.connectionClosed(owner.connection)
      case 4: try? await bench.givePasscode(to: context, owner: owner)  // also ends a lockout
      default: break
      }
      var results: [Result<String, any Error>] = []
      for request in requests { results.append(await request.result) }
      let touches = logs.map { log in log.events.count { $0 == .matched(finger: Finger.index.name) } }
      for (result, own) in zip(results, touches) {
        let secret = try? result.get()
        #expect(secret == nil || secret == "s3cret of \(user)", "seed \(seed)")
        // Released for a touch of the request's own, or, within a reuse time, for one of the same context.
        if secret != nil, reuse == 0 { #expect(own == 1, "seed \(seed)") }
        if secret != nil, reuse > 0 { #expect(touches.contains(1), "seed \(seed)") }
        #expect(own <= 1, "seed \(seed)")
        ledger.served(touches: own, released: secret != nil)
      }
      if await bench.enclave.isLockedOut(user: user) {
        let way = ContextOwner(connection: ":\(number).\(round).p", user: user)
        if let out = try? await bench.context(of: way) { try? await bench.givePasscode(to: out, owner: way) }
      }
    }
  }
}

/// A small generator, so that a failing run can be repeated.
private struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: UInt64) -> Int { Int(next() % bound) }
}
