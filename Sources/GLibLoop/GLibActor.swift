internal import CGLib

/// The global actor whose jobs run on GLib's default main context: where libfprint and GDBus call back.
///
/// Whoever iterates the default context runs its jobs: ``GLibLoop/run(_:)`` in a program, ``GLibLoop/startThread()``
/// in tests. Until somebody does, jobs wait.
@globalActor
public actor GLibActor {
  /// The one instance.
  public static let shared = GLibActor()

  private static let executor = GLibExecutor()

  /// The executor over the default main context.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

  /// Runs `operation` at once, on a caller that the compiler does not know to be on this actor, such as a C callback.
  ///
  /// Stops the program if the calling thread does not own the default main context.
  public static func assumeIsolated<T: Sendable>(_ operation: @GLibActor () -> T) -> T {
    shared.preconditionIsolated("called outside GLib's default main context")
    // The isolation was checked above, and it is all that the two function types differ in.
    return withoutActuallyEscaping(operation) { unsafeBitCast($0, to: (() -> T).self)() }
  }
}

/// Runs jobs as sources of GLib's default main context, in the order in which they come.
final class GLibExecutor: SerialExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    // Never g_main_context_invoke: it would run the job inside the caller when that is the loop's own thread.
    let source = g_idle_source_new()
    g_source_set_priority(source, G_PRIORITY_DEFAULT)
    let box = Unmanaged.passRetained(JobBox(job: UnownedJob(job), executor: self))
    // The box is retained here and released by the destroy notify, also when the job never runs.
    g_source_set_callback(
      source,
      { data in
        guard let data else { return 0 }
        let box = Unmanaged<JobBox>.fromOpaque(data).takeUnretainedValue()
        box.job.runSynchronously(on: box.executor.asUnownedSerialExecutor())
        return 0
      }, box.toOpaque(), { data in if let data { Unmanaged<JobBox>.fromOpaque(data).release() } })
    g_source_attach(source, nil)
    g_source_unref(source)
  }

  func checkIsolated() {
    precondition(g_main_context_is_owner(nil) != 0, "not on the thread that runs GLib's default main context")
  }

  func isIsolatingCurrentContext() -> Bool? { g_main_context_is_owner(nil) != 0 }
}

/// What a source carries.
private final class JobBox {
  let job: UnownedJob
  let executor: GLibExecutor

  init(job: UnownedJob, executor: GLibExecutor) {
    self.job = job
    self.executor = executor
  }
}
