import Synchronization

/// Events in order, and a way to wait for one without sleeping.
final class EventLog<Event: Sendable>: Sendable {
  private struct Waiter {
    let isMet: @Sendable ([Event]) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }
  private struct State {
    var events: [Event] = []
    var waiters: [Int: Waiter] = [:]
    var lastWaiter = 0
  }
  private let state = Mutex(State())

  var events: [Event] { state.withLock { $0.events } }

  func append(_ event: Event) {
    let met = state.withLock { state in
      state.events.append(event)
      let met = state.waiters.filter { $0.value.isMet(state.events) }
      for id in met.keys { state.waiters[id] = nil }
      return met.values.map(\.continuation)
    }
    for continuation in met { continuation.resume(returning: true) }
  }

  /// Waits for it; a test that takes too long is cancelled and ends here.
  func wait(until isMet: @escaping @Sendable ([Event]) -> Bool) async throws(CancellationError) {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let found = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let now: Bool? = state.withLock { state in
          if Task.isCancelled { return false }
          if isMet(state.events) { return true }
          state.waiters[id] = Waiter(isMet: isMet, continuation: continuation)
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
    }
    if !found { throw CancellationError() }
  }
}

extension EventLog where Event: Equatable {
  func wait(for event: Event) async throws(CancellationError) { try await wait { $0.contains(event) } }
}
