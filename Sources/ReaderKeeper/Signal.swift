internal import GLibLoop

/// Something that happens once, and tasks that wait for it.
@GLibActor
final class Signal {
  private(set) var hasFired = false
  private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  private var lastWaiter = 0

  func fire() {
    hasFired = true
    let waiting = waiters.values
    waiters = [:]
    for waiter in waiting { waiter.resume() }
  }

  /// Returns when it has fired or the task is cancelled.
  func wait() async {
    if hasFired { return }
    lastWaiter += 1
    let number = lastWaiter
    await withTaskCancellationHandler {
      if Task.isCancelled { return }
      await withCheckedContinuation { waiters[number] = $0 }
    } onCancel: {
      Task { @GLibActor in self.waiters.removeValue(forKey: number)?.resume() }
    }
  }

  /// Returns when it has fired, and at the latest after this time or when the task is cancelled; whether it has fired.
  func wait(milliseconds: Int) async -> Bool {
    if hasFired { return true }
    let waiting = Task { await self.wait() }
    let timer = Task {
      try await glibSleep(milliseconds: milliseconds)
      waiting.cancel()
    }
    await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
    timer.cancel()
    return hasFired
  }
}
