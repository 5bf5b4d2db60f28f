import GLibLoop
import ReaderLink
import Testing

@testable import WhorlDaemon

/// A reader is armed and open only for as long as somebody may touch it, and one that is too hot is left alone.
@Suite struct PowerTests {
  init() { GLibLoop.startThread() }

  @GLibActor @Test func `A screen locked for an hour arms the reader a few times at most, and a finger alone opens it`()
    async throws
  {
    let bench = Bench()
    try await bench.station.enter()
    let locker = bench.match()
    await bench.time.pass(seconds: 3600)
    #expect(bench.readers.arms == 1 && bench.readers.opens == 1)
    #expect(!bench.readers.isArmed && bench.readers.log.last == "close", "dark and closed: \(bench.readers.log)")
    #expect(bench.station.turns.holder == nil, "who wants the reader meanwhile can have it")
    // The display is woken.
    bench.station.stir()
    await settle()
    #expect(bench.readers.isArmed && bench.readers.opens == 2)
    bench.readers.end(.success(1))
    #expect(try await locker.value == 1)
    await bench.station.leave()
    #expect(bench.readers.log.last == "close")
  }

  @GLibActor @Test func `Who is at the machine keeps the reader armed, without arming it again`() async throws {
    let bench = Bench()
    let locker = bench.match()
    for _ in 1...10 {
      await bench.time.pass(seconds: 100)
      bench.station.stir()
    }
    // A finger that was not seen well is a person's too.
    await bench.time.pass(seconds: 100)
    bench.readers.retry()
    await bench.time.pass(seconds: 100)
    #expect(bench.readers.isArmed && bench.readers.arms == 1)
    await bench.time.pass(seconds: 21)
    #expect(!bench.readers.isArmed)
    locker.cancel()
    #expect(await bench.failure(of: locker) == .reader(.cancelled))
  }

  @GLibActor @Test func `A verdict that comes as the time runs out counts`() async throws {
    let bench = Bench()
    let locker = bench.match()
    await settle()
    bench.readers.end(.success(nil))
    await bench.time.pass(seconds: 120)
    #expect(try await locker.value == nil)
  }

  @GLibActor @Test func `A request with an end of its own is armed for as long as it lasts`() async throws {
    let bench = Bench()
    let request = bench.match(pends: false)
    await bench.time.pass(seconds: 290)
    #expect(bench.readers.isArmed)
    request.cancel()
    #expect(await bench.failure(of: request) == .reader(.cancelled))
  }

  @GLibActor @Test func `A reader that is claimed and not used is closed, and opened by the next operation`()
    async throws
  {
    let bench = Bench()
    try await bench.station.enter()
    await bench.time.pass(seconds: 29)
    #expect(bench.readers.log == ["open"])
    await bench.time.pass(seconds: 2)
    #expect(bench.readers.log == ["open", "close"])
    let locker = bench.match()
    await settle()
    #expect(bench.readers.isArmed)
    // Nobody closes it under an operation.
    await bench.time.pass(seconds: 60)
    #expect(bench.readers.isArmed)
    bench.readers.end(.success(0))
    _ = try await locker.value
    await bench.time.pass(seconds: 31)
    #expect(bench.readers.log == ["open", "close", "open", "arm", "disarm", "close"])
    await bench.station.leave()
  }

  @GLibActor @Test func `A reader that is too hot ends what runs, rests, and works again by itself`() async throws {
    let bench = Bench()
    let first = bench.match()
    await settle()
    bench.readers.end(.failure(.tooHot("device")))
    #expect(await bench.failure(of: first) == .reader(.tooHot("device")), "told at once")

    // The locker asks again at once, and again; the reader is not bothered.
    let second = bench.match()
    await bench.time.pass(seconds: 20)
    #expect(bench.readers.arms == 1)
    let request = bench.match(pends: false)
    guard case .reader(let error) = await bench.failure(of: request), case .tooHot(let text) = error else {
      Issue.record("not refused")
      return
    }
    #expect(text.contains("10 s") && error.line.contains("too hot"), "\(error.line)")
    await bench.time.pass(seconds: 11)
    #expect(bench.readers.arms == 2 && bench.readers.isArmed, "unprompted")

    // Still too hot: longer and longer.
    bench.readers.end(.failure(.tooHot("device")))
    _ = await second.result
    let third = bench.match()
    await bench.time.pass(seconds: 58)
    #expect(bench.readers.arms == 2)
    await bench.time.pass(seconds: 3)
    #expect(bench.readers.arms == 3)
    bench.readers.end(.success(0))
    #expect(try await third.value == 0)
    #expect(bench.station.hindrance == nil)
  }

  @Test func `Rests grow to five minutes, and begin anew once the reader has worked`() {
    var rest = CoolDown(shortest: 30_000, longest: 300_000)
    var now: Int64 = 5_000
    var lengths: [Int64] = []
    for _ in 1...6 {
      rest.refused(at: now)
      rest.refused(at: now + 1)
      lengths.append(rest.remaining(at: now))
      now += rest.remaining(at: now)
      #expect(rest.remaining(at: now) == 0)
    }
    #expect(lengths == [30_000, 60_000, 120_000, 240_000, 300_000, 300_000])
    rest.worked()
    rest.refused(at: now)
    #expect(rest.remaining(at: now) == 30_000)
  }

  @GLibActor @Test func `Nothing is opened while the machine is about to sleep, and a locker waits for the wake`()
    async throws
  {
    let bench = Bench()
    bench.station.isAsleep = true
    try await bench.station.enter()
    let locker = bench.match()
    await bench.time.pass(seconds: 600)
    #expect(bench.readers.log.isEmpty, "\(bench.readers.log)")
    let request = bench.match(pends: false)
    #expect(await bench.failure(of: request) == .reader(.asleep))
    await #expect(throws: ReaderError.asleep) { try await bench.station.open() }
    bench.station.isAsleep = false
    bench.station.stir()
    await settle()
    #expect(bench.readers.isArmed)
    bench.readers.end(.success(0))
    #expect(try await locker.value == 0)
  }

  @GLibActor @Test func `A sleep ends an armed wait, and leaves one that is not armed for after the wake`() async throws
  {
    let bench = Bench()
    try await bench.station.enter()
    let armed = bench.match()
    await settle()
    bench.station.isAsleep = true
    bench.readers.endBridge()
    #expect(await bench.failure(of: armed) == .reader(.bridgeFailed("the readers were stopped")))

    bench.station.isAsleep = false
    let waiting = bench.match()
    await bench.time.pass(seconds: 200)
    #expect(!bench.readers.isArmed)
    bench.station.isAsleep = true
    bench.readers.endBridge()
    bench.station.stir()
    await settle()
    #expect(!bench.readers.isArmed)
    bench.station.isAsleep = false
    bench.station.stir()
    await settle()
    #expect(bench.readers.isArmed)
    bench.readers.end(.success(0))
    #expect(try await waiting.value == 0)
  }

  @GLibActor @Test func `A reader that comes back late after a wake is waited for`() async throws {
    let bench = Bench()
    bench.station.isMissing = true
    let locker = bench.match()
    await settle()
    #expect(bench.readers.log.isEmpty)
    bench.station.isMissing = false
    await settle()
    #expect(bench.readers.isArmed)
    locker.cancel()
    _ = await locker.result
  }

  @GLibActor @Test func `The hand that locks the screen does not open it`() async throws {
    let bench = Bench()
    var again: [RetryReason] = []
    func start() -> Task<Int?, any Error> {
      Task { @GLibActor in
        try await bench.station.match(
          [[1]], by: Seeker(name: "the locker"), pends: true, waiting: 5, progress: { again.append($0) })
      }
    }
    bench.station.locked()
    let locker = start()
    await settle()
    bench.station.fingerStatus(needed: true, present: false)
    bench.station.fingerStatus(needed: true, present: true)
    bench.readers.end(.success(0))
    await settle()
    #expect(bench.readers.arms == 2 && again == [.removeFinger])
    // Lifted and put on again.
    bench.station.fingerStatus(needed: false, present: false)
    bench.station.fingerStatus(needed: true, present: false)
    await bench.time.pass(seconds: 1)
    bench.station.fingerStatus(needed: true, present: true)
    bench.readers.end(.success(0))
    #expect(try await locker.value == 0)
    bench.station.fingerStatus(needed: false, present: false)

    // A finger that is another's counts, however early: nobody tries for nothing.
    bench.station.locked()
    let second = start()
    await settle()
    bench.station.fingerStatus(needed: true, present: true)
    bench.readers.end(.success(nil))
    #expect(try await second.value == nil)
    bench.station.fingerStatus(needed: false, present: false)

    // Without a lock just before, a quick finger is a quick finger.
    await bench.time.pass(seconds: 10)
    let third = start()
    await settle()
    bench.station.fingerStatus(needed: true, present: true)
    bench.readers.end(.success(0))
    #expect(try await third.value == 0)
  }
}
