internal import CGLib

/// Waits on a GLib timer, on `GLibActor`.
///
/// - Parameter milliseconds: how long; anything below zero counts as zero.
/// - Throws: `CancellationError` as soon as the task is cancelled.
@GLibActor
public func glibSleep(milliseconds: Int) async throws(CancellationError) {
  let timer = SleepTimer()
  let finished = await withTaskCancellationHandler {
    await withCheckedContinuation { timer.start(milliseconds: milliseconds, waiter: $0) }
  } onCancel: {
    Task { @GLibActor in timer.end(finished: false) }
  }
  if !finished { throw CancellationError() }
}

/// One wait: a timer source and the continuation that it or a cancellation resumes, whichever comes first.
@GLibActor
private final class SleepTimer {
  private var waiter: CheckedContinuation<Bool, Never>?
  private var source: UInt32 = 0

  nonisolated init() {}

  func start(milliseconds: Int, waiter: CheckedContinuation<Bool, Never>) {
    if Task.isCancelled { return waiter.resume(returning: false) }
    self.waiter = waiter
    // Retained for the source; released by its destroy notify.
    source = g_timeout_add_full(
      G_PRIORITY_DEFAULT, UInt32(clamping: milliseconds),
      { data in
        guard let data else { return 0 }
        let timer = Unmanaged<SleepTimer>.fromOpaque(data).takeUnretainedValue()
        GLibActor.assumeIsolated {
          timer.source = 0
          timer.end(finished: true)
        }
        return 0
      }, Unmanaged.passRetained(self).toOpaque(),
      { data in if let data { Unmanaged<SleepTimer>.fromOpaque(data).release() } })
  }

  func end(finished: Bool) {
    if source != 0 { g_source_remove(source) }
    source = 0
    let waiter = self.waiter
    self.waiter = nil
    waiter?.resume(returning: finished)
  }
}
