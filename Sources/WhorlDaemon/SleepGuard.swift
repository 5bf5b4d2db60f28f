internal import Bus
internal import GLibLoop
internal import Glibc

/// Puts the readers away before the machine sleeps and looks for them afresh after it woke (logind's
/// org.freedesktop.login1.Manager: Inhibit, PrepareForSleep).
///
/// The delay lock is taken at the start and after each wake, so that logind waits for us before it suspends. A wake that
/// logind does not tell of is noticed by the clocks; a sleep that never comes, after a while. Without logind only the
/// clocks tell of a sleep, after it.
@GLibActor
final class SleepGuard {
  /// How long things may take, in milliseconds of being awake.
  struct Limits {
    /// To put the readers away; the lock is let go then in any case. logind waits for 5 s by itself.
    var prepare: Int64 = 2_000
    /// From a wake that the clocks tell of to logind's own word of it.
    var word: Int64 = 3_000
    /// From logind's word that the machine will sleep to the question whether it still will.
    var sleep: Int64 = 30_000
    /// So often logind may say that the machine is just about to sleep.
    var questions = 3
  }

  private static let name = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let interface = "org.freedesktop.login1.Manager"
  /// What a clock may creep between two looks at it, in milliseconds.
  private static let tolerance: Int64 = 500

  private let bus: BusConnection
  private let clock: DaemonClock
  private let limits: Limits
  private let timeAsleep: @GLibActor () -> Int64
  private let fallAsleep: @GLibActor () -> Void
  private let prepare: @GLibActor () async -> Void
  private let wake: @GLibActor () async -> Void
  private var subscriptions: [BusSubscription] = []
  private var clockWatch: ClockWatch?
  /// The delay lock; closing it lets the machine sleep.
  private var lock: BusDescriptor?
  private var isAsleep = false
  /// What `timeAsleep` was when the machine was awake last.
  private var sleptBefore: Int64
  private var doubt: Task<Void, Never>?
  /// One after the other: a wake that follows at once must not overtake the sleep.
  private var work: Task<Void, Never>?

  /// - Parameters:
  ///   - timeAsleep: for how many milliseconds the machine has slept.
  ///   - fallAsleep: keeps readers from being used, from now to `wake`.
  ///   - prepare: puts the readers away; the machine sleeps once it returns.
  ///   - wake: looks for the readers again.
  init(
    bus: BusConnection, clock: DaemonClock = .machine, limits: Limits = Limits(),
    timeAsleep: @escaping @GLibActor () -> Int64 = { ClockWatch.timeAsleep() },
    fallAsleep: @escaping @GLibActor () -> Void, prepare: @escaping @GLibActor () async -> Void,
    wake: @escaping @GLibActor () async -> Void
  ) {
    self.bus = bus
    self.clock = clock
    self.limits = limits
    self.timeAsleep = timeAsleep
    self.fallAsleep = fallAsleep
    self.prepare = prepare
    self.wake = wake
    sleptBefore = timeAsleep()
  }

  /// Listens to logind and the clocks, and takes the lock.
  func start() throws(BusError) {
    subscriptions = [
      try bus.subscribe(sender: Self.name, path: Self.path, interface: Self.interface, member: "PrepareForSleep") {
        [weak self] signal in
        guard let self, let sleeps = signal.arguments.first?.asBool else { return }
        if sleeps { goToSleep() } else { enqueue { await $0.wakeUp() } }
      },
      // logind that starts, or starts again, after us.
      try bus.subscribe(
        sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged", firstArgument: Self.name
      ) { [weak self] signal in
        guard signal.arguments.count == 3, signal.arguments[2] != .string("") else { return }
        self?.enqueue { await $0.meetLogind() }
      },
    ]
    clockWatch = ClockWatch { [weak self] in self?.clockJumped() }
    if clockWatch == nil { Log.warning("the kernel does not tell of wakes; only logind does") }
    enqueue { await $0.meetLogind() }
  }

  /// The wall clock has jumped: the machine was asleep, or somebody has set the clock.
  func clockJumped() {
    guard timeAsleep() - sleptBefore > Self.tolerance else { return }
    guard isAsleep else {
      // Nobody has told us before.
      Log.notice("the machine has slept unannounced")
      goToSleep()
      return enqueue { await $0.wakeUp() }
    }
    // logind's word comes in a moment, and not before each of several naps is over.
    doubt(after: limits.word) { _ in false }
  }

  private func enqueue(_ step: @escaping @GLibActor (SleepGuard) async -> Void) {
    work = Task { @GLibActor [work, weak self] in
      await work?.value
      if let self { await step(self) }
    }
  }

  // MARK: Sleep and wake

  private func goToSleep() {
    Log.notice("Preparing devices for sleep")
    beAsleep()
    enqueue { await $0.putAway() }
  }

  private func beAsleep() {
    isAsleep = true
    sleptBefore = timeAsleep()
    fallAsleep()
    var questions = limits.questions
    doubt(after: limits.sleep) { sleepGuard in
      questions -= 1
      guard questions > 0 else { return false }
      return await sleepGuard.isAboutToSleep()
    }
  }

  /// Wakes without logind's word after a time, unless `stillSleeps` says otherwise then.
  private func doubt(after milliseconds: Int64, _ stillSleeps: @escaping @GLibActor (SleepGuard) async -> Bool) {
    doubt?.cancel()
    doubt = Task { @GLibActor [weak self, clock] in
      repeat {
        do { try await clock.sleep(milliseconds) } catch { return }
        guard let self, isAsleep else { return }
        if await stillSleeps(self) { continue }
        guard !Task.isCancelled, isAsleep else { return }
        Log.warning("logind does not say that the machine is awake, but it is")
        enqueue { if $0.isAsleep { await $0.wakeUp() } }
        return
      } while !Task.isCancelled
    }
  }

  private func putAway() async {
    let done = Pulse()
    var isDone = false
    let putting = Task { @GLibActor [prepare] in
      await prepare()
      isDone = true
      done.beat()
    }
    let limit = Task { @GLibActor [clock, limits] in
      do { try await clock.sleep(limits.prepare) } catch { return }
      done.beat()
    }
    await done.next()
    limit.cancel()
    if !isDone { Log.warning("the readers are not put away in time; the machine sleeps all the same") }
    withExtendedLifetime(putting) {}
    guard let lock else { return }
    self.lock = nil
    // At once, since logind waits for it; its pipe, unlike what strangers send, closes without waiting.
    if let descriptor = lock.take() { close(descriptor) }
    Log.notice("Released delay inhibitor for sleep")
  }

  private func wakeUp() async {
    Log.notice("Preparing devices for resume")
    doubt?.cancel()
    isAsleep = false
    sleptBefore = timeAsleep()
    await wake()
    await takeLock()
  }

  // MARK: logind

  /// What to do when logind is there: at our start, and at its own.
  private func meetLogind() async {
    let wasAsleep = isAsleep
    let isAboutToSleep = await isAboutToSleep()
    if isAsleep {
      // Another logind than the one that told of the sleep. What was told since then is newer than the answer.
      if wasAsleep, !isAboutToSleep { await wakeUp() }
      return
    }
    if isAboutToSleep { return await startedInSleep() }
    // Of a lock that another logind gave nobody knows.
    let old = lock
    lock = nil
    await takeLock()
    old?.close()
  }

  /// The daemon was started while the machine goes to sleep: no lock is given any more.
  private func startedInSleep() async {
    Log.notice("the machine is about to sleep; the readers wait until it woke")
    beAsleep()
    await putAway()
  }

  private func isAboutToSleep() async -> Bool {
    do {
      let reply = try await bus.call(
        destination: Self.name, path: Self.path, interface: "org.freedesktop.DBus.Properties", method: "Get",
        arguments: [.string(Self.interface), .string("PreparingForSleep")], expecting: "v",
        timeoutMilliseconds: Int(limits.word), options: .noAutoStart)
      return reply.arguments[0].unwrapped.asBool ?? false
    } catch {
      return false
    }
  }

  private func takeLock() async {
    guard lock == nil else { return }
    do {
      let reply = try await bus.call(
        destination: Self.name, path: Self.path, interface: Self.interface, method: "Inhibit",
        arguments: [.string("sleep"), .string("whorl"), .string("Put the fingerprint readers away"), .string("delay")],
        expecting: "h", options: .noAutoStart)
      lock = try reply.descriptor(reply.arguments.first)
      Log.notice("Got delay inhibitor for sleep")
    } catch .remote("org.freedesktop.DBus.Error.ServiceUnknown", _) {
      // No logind: told once by nothing, since there is nothing to do about it.
    } catch .remote("org.freedesktop.DBus.Error.NameHasNoOwner", _) {
    } catch .remote("org.freedesktop.login1.OperationInProgress", _) where !isAsleep {
      await startedInSleep()
    } catch {
      Log.warning("logind gave no delay lock, so a sleep may come unannounced: \(error)")
    }
  }
}
