import Bus
import GLibLoop
import Keychain
import Testing

@testable import WhorlDaemon

/// What one account may ask of the daemon.
@Suite(.timeLimit(.minutes(1))) struct CallLimitsTests {
  private static let flooder = UserID(1001)
  private static let other = UserID(1002)

  init() { GLibLoop.startThread() }

  @GLibActor private func call(_ limits: CallLimits, _ user: UserID, wantsReader: Bool = true) async -> String? {
    do {
      try await limits.run(for: user, wantsReader: wantsReader) {}
      return nil
    } catch let error as BusMethodError {
      return error.name
    } catch {
      return "\(error)"
    }
  }

  @Test @GLibActor func `Who asks for a reader without pause is refused after a while, by name, and others are not`()
    async
  {
    let time = FakeTime()
    let limits = CallLimits(clock: time.clock)
    for _ in 0..<CallLimits.burst { #expect(await call(limits, Self.flooder) == nil) }
    #expect(await call(limits, Self.flooder) == "org.freedesktop.DBus.Error.LimitsExceeded")
    #expect(await call(limits, Self.flooder, wantsReader: false) == nil)
    #expect(await call(limits, Self.other) == nil)
    #expect(await call(limits, UserID(0)) == nil)
    time.now += CallLimits.interval
    #expect(await call(limits, Self.flooder) == nil)
    #expect(await call(limits, Self.flooder) != nil)
  }

  @Test @GLibActor func `An account that is quiet again is not kept account of`() async {
    let time = FakeTime()
    let limits = CallLimits(clock: time.clock)
    for number in 1...500 { #expect(await call(limits, UserID(UInt32(number))) == nil) }
    time.now += CallLimits.interval * 2
    #expect(await call(limits, Self.other, wantsReader: false) == nil)
    #expect(limits.accountCount == 0)
  }

  @Test @GLibActor func `No account has more than so many calls running`() async {
    let limits = CallLimits(clock: FakeTime().clock)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let waiting = Task {
      for await _ in gate {}
    }
    let tasks = (0..<CallLimits.running).map { _ in
      Task { @GLibActor in try? await limits.run(for: Self.flooder, wantsReader: false) { await waiting.value } }
    }
    while limits.runningCount(of: Self.flooder) < CallLimits.running { await Task.yield() }
    #expect(await call(limits, Self.flooder, wantsReader: false) == "org.freedesktop.DBus.Error.LimitsExceeded")
    #expect(await call(limits, Self.other, wantsReader: false) == nil)
    open.finish()
    for task in tasks { await task.value }
    #expect(await call(limits, Self.flooder, wantsReader: false) == nil)
  }
}
