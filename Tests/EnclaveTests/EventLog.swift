import Synchronization

/// Events in order, and a way to wait for one without sleeping.
final class EventLog<Event: Sendable>: Sendable {
  private struct Waiter {
    let isMet: @Sendable ([Event]) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }
  private struct State {
    var events: [Event] = []
    var waiters: [Waiter] = []
  }
  private let state = Mutex(State())

  var events: [Event] { state.withLock { $0.events } }

  func append(_ event: Event) {
    let met = state.withLock { state in
      state.events.append(event)
      let met = state.waiters.filter { $0.isMet(state.events) }
      state.waiters.removeAll { $0.isMet(state.events) }
      return met
    }
    for waiter in met { waiter.continuation.resume() }
  }

  func wait(until isMet: @escaping @Sendable ([Event]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetNow = state.withLock { state in
        if isMet(state.events) { return true }
        state.waiters.append(Waiter(isMet: isMet, continuation: continuation))
        return false
      }
      if isMetNow { continuation.resume() }
    }
  }
}

extension EventLog where Event: Equatable {
  func wait(for event: Event) async { await wait { $0.contains(event) } }
}
