/// Waits until a descriptor is ready for what is wanted, and gives what it is ready for; a hangup and a failure count.
///
/// The descriptor stays the caller's, who closes it only after this has returned.
/// - Throws: `CancellationError` as soon as the task is cancelled.
@GLibActor
public func glibReady(
  for wanted: FDWatch.Conditions, of descriptor: Int32
) async throws(CancellationError) -> FDWatch.Conditions {
  let wait = ReadinessWait()
  let ready = await withTaskCancellationHandler {
    await withCheckedContinuation { waiter in wait.start(wanted, descriptor, waiter) }
  } onCancel: {
    Task { @GLibActor in wait.end(nil) }
  }
  guard let ready else { throw CancellationError() }
  return ready
}

/// One wait: a watch and the continuation that it or a cancellation resumes, whichever comes first.
@GLibActor
private final class ReadinessWait {
  private var watch: FDWatch?
  private var waiter: CheckedContinuation<FDWatch.Conditions?, Never>?

  nonisolated init() {}

  func start(
    _ wanted: FDWatch.Conditions, _ descriptor: Int32, _ waiter: CheckedContinuation<FDWatch.Conditions?, Never>
  ) {
    if Task.isCancelled { return waiter.resume(returning: nil) }
    self.waiter = waiter
    watch = FDWatch(descriptor: descriptor, for: wanted) { [self] in end($0) }
  }

  func end(_ ready: FDWatch.Conditions?) {
    watch?.cancel()
    watch = nil
    let waiter = self.waiter
    self.waiter = nil
    waiter?.resume(returning: ready)
  }
}
