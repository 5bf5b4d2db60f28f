internal import GLibLoop

/// Something that happens again and again, and tasks that wait for the next time.
@GLibActor
final class Pulse {
  private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  private var lastNumber = 0

  /// Wakes all who wait now.
  func beat() {
    let waiting = waiters.values
    waiters = [:]
    for waiter in waiting { waiter.resume() }
  }

  /// Returns at the next ``beat()``, or when the task is cancelled.
  func next() async {
    lastNumber += 1
    let number = lastNumber
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { continuation.resume() } else { waiters[number] = continuation }
      }
    } onCancel: {
      Task { @GLibActor [weak self] in self?.waiters.removeValue(forKey: number)?.resume() }
    }
  }
}
