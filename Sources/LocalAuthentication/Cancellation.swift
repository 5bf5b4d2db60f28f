internal import Synchronization
internal import WhorlClient

/// Ends one evaluation from outside: that of a task that was cancelled. The evaluation may make several calls of the
/// enclave, one after the other.
final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    var token: CallToken?
    var before: (@Sendable () -> Void)?
  }

  /// That of the task whose evaluation is begun: so the form with a reply, which subclasses may override, needs no
  /// argument for it.
  @TaskLocal static var current: Cancellation?

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// - Parameter action: called once before the evaluation is ended.
  func before(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.before = action } }

  /// A token for the next call.
  func token() -> CallToken {
    let token = CallToken()
    let isCancelled = state.withLock { state in
      state.token = token
      return state.isCancelled
    }
    if isCancelled { token.cancel() }
    return token
  }

  /// Ends the evaluation, at once and in the enclave, too; never waits.
  func cancel() {
    let (token, before) = state.withLock { state in
      defer { state.isCancelled = true }
      return (state.token, state.isCancelled ? nil : state.before)
    }
    before?()
    token?.cancel()
  }

  /// Runs a form with a reply in the place of an async one: waits for the reply, and ends the evaluation with the task.
  static func awaiting(
    _ begin: (@escaping @Sendable (Bool, (any Error)?) -> Void) -> Void
  ) async throws -> Bool {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        $current.withValue(cancellation) {
          begin { isDone, error in
            if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isDone) }
          }
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}
