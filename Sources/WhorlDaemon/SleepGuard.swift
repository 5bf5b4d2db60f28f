internal import Bus
internal import GLibLoop

/// Puts the readers away before the machine sleeps and looks for them afresh after it woke (logind's
/// org.freedesktop.login1.Manager: Inhibit, PrepareForSleep).
///
/// The delay lock is taken at the start and after each wake, so that logind waits for us before it suspends. Without
/// logind nothing sleeps by it, and there is nothing to guard.
@GLibActor
final class SleepGuard {
  private static let name = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let interface = "org.freedesktop.login1.Manager"

  private let bus: BusConnection
  private let prepare: @GLibActor () async -> Void
  private let wake: @GLibActor () async -> Void
  private var subscriptions: [BusSubscription] = []
  /// The delay lock; closing it lets the machine sleep.
  private var lock: BusDescriptor?
  /// One after the other: a wake that follows at once must not overtake the sleep.
  private var work: Task<Void, Never>?

  /// - Parameters:
  ///   - prepare: puts the readers away; the machine sleeps once it returns.
  ///   - wake: looks for the readers again.
  init(bus: BusConnection, prepare: @escaping @GLibActor () async -> Void, wake: @escaping @GLibActor () async -> Void)
  {
    self.bus = bus
    self.prepare = prepare
    self.wake = wake
  }

  /// Listens to logind and takes the lock.
  func start() throws(BusError) {
    subscriptions = [
      try bus.subscribe(sender: Self.name, path: Self.path, interface: Self.interface, member: "PrepareForSleep") {
        [weak self] signal in
        guard let sleeps = signal.arguments.first?.asBool else { return }
        self?.enqueue { await $0.change(sleeps) }
      },
      // logind that starts, or starts again, after us.
      try bus.subscribe(
        sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged", firstArgument: Self.name
      ) { [weak self] signal in
        guard signal.arguments.count == 3, signal.arguments[2] != .string("") else { return }
        self?.enqueue { await $0.takeLock() }
      },
    ]
    enqueue { await $0.takeLock() }
  }

  private func enqueue(_ step: @escaping @GLibActor (SleepGuard) async -> Void) {
    work = Task { @GLibActor [work, weak self] in
      await work?.value
      if let self { await step(self) }
    }
  }

  private func change(_ sleeps: Bool) async {
    if sleeps {
      Log.notice("Preparing devices for sleep")
      await prepare()
      guard let lock else { return }
      lock.close()
      self.lock = nil
      Log.notice("Released delay inhibitor for sleep")
    } else {
      Log.notice("Preparing devices for resume")
      await wake()
      await takeLock()
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
    } catch {
      Log.warning("logind gave no delay lock, so a sleep may come unannounced: \(error)")
    }
  }
}
