internal import Synchronization

/// Ends one blocking call from another thread. Good for one call.
package final class CallToken: Sendable {
  private enum State {
    case idle
    /// On its way; `end` makes the enclave end it.
    case sent(end: @Sendable () -> Void)
    case cancelled
    case over
  }

  private let state = Mutex(State.idle)

  /// A token for a call that has yet to be made.
  package init() {}

  /// Ends the call, which then throws `.cancelled`; one that was not made yet is not made. Never waits; does nothing for
  /// one that is over.
  package func cancel() {
    let end: (@Sendable () -> Void)? = state.withLock { state in
      switch state {
      case .sent(let end):
        state = .cancelled
        return end
      case .idle: state = .cancelled
      case .cancelled, .over: break
      }
      return nil
    }
    end?()
  }

  /// Whether it was cancelled before the call was over.
  package var isCancelled: Bool {
    state.withLock { if case .cancelled = $0 { true } else { false } }
  }

  /// For transports: the call is on its way, and this ends it. Run at once where the token was cancelled meanwhile.
  package func sent(end: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      switch state {
      case .idle: state = .sent(end: end)
      case .cancelled: return true
      case .sent, .over: break
      }
      return false
    }
    if isCancelled { end() }
  }

  /// For transports: runs the call; what it throws after a cancellation is `.cancelled`.
  package func run<R: ~Copyable>(_ call: () throws(WhorlError) -> R) throws(WhorlError) -> R {
    guard !isCancelled else { throw Self.cancelled }
    do throws(WhorlError) {
      let result = try call()
      finish()
      return result
    } catch {
      let isCancelled = isCancelled
      finish()
      throw isCancelled ? Self.cancelled : error
    }
  }

  private func finish() { state.withLock { $0 = .over } }

  private static let cancelled = WhorlError(.cancelled, "The request was cancelled.")
}
