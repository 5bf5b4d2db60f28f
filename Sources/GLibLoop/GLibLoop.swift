internal import CGLib
internal import Synchronization

/// Who iterates GLib's default main context.
public enum GLibLoop {
  /// Runs the default main context on the calling thread until `body` has returned, and gives its result.
  ///
  /// For a program's `main`; never together with ``startThread()``, and not from inside itself. Work for the main
  /// actor does not run meanwhile, since the main thread is here.
  public static func run<R: Sendable>(_ body: @escaping @GLibActor () async -> R) -> R {
    let slot = Slot<R>()
    Task { @GLibActor in
      let result = await body()
      slot.value.withLock { $0 = result }
      g_main_context_wakeup(nil)
    }
    while true {
      if let result = slot.value.withLock({ $0 }) { return result }
      g_main_context_iteration(nil, 1)
    }
  }

  /// Starts a thread that iterates the default main context for as long as the process lives; once, however often
  /// it is called.
  ///
  /// For tests, whose main thread belongs to the test runner.
  public static func startThread() { _ = thread }

  /// The thread is started by the first look at this.
  private static let thread: Void = {
    let handle = g_thread_new("glib-loop", { _ in while true { g_main_context_iteration(nil, 1) } }, nil)
    // Nobody joins it: it lives as long as the process.
    g_thread_unref(handle)
  }()
}

/// Where the task of `run` leaves its result for the thread that waits for it.
private final class Slot<R: Sendable>: Sendable {
  let value = Mutex<R?>(nil)
}
