import GLibLoop

/// One wait until a descriptor is ready.
@GLibActor
final class Readiness {
  private var watch: FDWatch?
  private var waiter: CheckedContinuation<FDWatch.Conditions?, Never>?

  private nonisolated init() {}

  /// What the descriptor is ready for; a hangup and a failure count.
  /// - Throws: `.cancelled` as soon as the task is cancelled.
  static func wait(
    for wanted: FDWatch.Conditions, of descriptor: Int32
  ) async throws(CommandFailure) -> FDWatch.Conditions {
    let one = Readiness()
    let ready = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in one.start(wanted, descriptor, waiter) }
    } onCancel: {
      Task { @GLibActor in one.end(nil) }
    }
    guard let ready else { throw .cancelled }
    return ready
  }

  private func start(
    _ wanted: FDWatch.Conditions, _ descriptor: Int32, _ waiter: CheckedContinuation<FDWatch.Conditions?, Never>
  ) {
    if Task.isCancelled { return waiter.resume(returning: nil) }
    self.waiter = waiter
    watch = FDWatch(descriptor: descriptor, for: wanted) { [self] in end($0) }
  }

  private func end(_ ready: FDWatch.Conditions?) {
    watch?.cancel()
    watch = nil
    let waiter = self.waiter
    self.waiter = nil
    waiter?.resume(returning: ready)
  }
}
