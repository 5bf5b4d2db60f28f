import Bus
import GLibLoop
import TestKit
import Testing

@testable import WhorlDaemon

/// Wakes that logind does not tell of.
@Suite(.timeLimit(.minutes(2))) struct WakeTests {
  init() { GLibLoop.startThread() }

  @GLibActor
  private final class Setting {
    let time = FakeTime()
    let bus: PrivateBus
    let logind: BusConnection
    var asleepFor: Int64 = 1_000
    var log: [String] = []
    private(set) var guardian: SleepGuard?

    init() async throws {
      bus = try await PrivateBus()
      logind = try await BusConnection.open(address: bus.address)
      // Answers no question, which counts as that the machine is awake.
      try await logind.requestName("org.freedesktop.login1")
      let own = try await BusConnection.open(address: bus.address)
      let guardian = SleepGuard(bus: own, clock: time.clock, timeAsleep: { [weak self] in self?.asleepFor ?? 0 }) {
        [weak self] in
        self?.log.append("asleep")
      } prepare: { [weak self] in
        self?.log.append("prepared")
      } wake: { [weak self] in
        self?.log.append("awake")
      }
      try guardian.start()
      self.guardian = guardian
      // So that the signals of below come after it listens.
      _ = try await own.owner(of: "org.freedesktop.DBus")
    }

    /// Tells, as logind does, that the machine is about to sleep.
    func announce() throws {
      try logind.emitSignal(
        path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager", name: "PrepareForSleep",
        arguments: [.boolean(true)])
    }

    func wait(for entries: [String]) async {
      while log != entries { await Task.yield() }
    }
  }

  @GLibActor @Test func `A sleep that nobody announced is noticed by the clocks, after it`() async throws {
    let setting = try await Setting()
    // Somebody sets the clock: nothing has slept.
    setting.guardian?.clockJumped()
    await settle()
    #expect(setting.log.isEmpty)
    setting.asleepFor += 60_000
    setting.guardian?.clockJumped()
    await setting.wait(for: ["asleep", "prepared", "awake"])
    setting.guardian?.clockJumped()
    await settle()
    #expect(setting.log.count == 3, "once for each sleep")
  }

  @GLibActor @Test func `A wake that logind does not tell of is noticed by the clocks, a moment later`() async throws {
    let setting = try await Setting()
    try setting.announce()
    await setting.wait(for: ["asleep", "prepared"])
    setting.asleepFor += 60_000
    setting.guardian?.clockJumped()
    await settle()
    #expect(setting.log == ["asleep", "prepared"], "logind's word may come")
    await setting.time.pass(seconds: 4)
    await setting.wait(for: ["asleep", "prepared", "awake"])
  }

  @GLibActor @Test func `A sleep that was announced and never came ends by itself`() async throws {
    let setting = try await Setting()
    try setting.announce()
    await setting.wait(for: ["asleep", "prepared"])
    await setting.time.pass(seconds: 29)
    #expect(setting.log == ["asleep", "prepared"])
    await setting.time.pass(seconds: 2)
    await setting.wait(for: ["asleep", "prepared", "awake"])
  }

  @GLibActor @Test func `The kernel tells of clocks that are set`() async throws {
    // Setting the machine's clock is not for a test; that the kernel takes the order is.
    #expect(ClockWatch { Issue.record("the clock did not jump") } != nil)
    #expect(ClockWatch.timeAsleep() >= -1)
    await settle()
  }
}
