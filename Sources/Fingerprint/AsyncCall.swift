internal import CFPrint
internal import CGLib
internal import GLibLoop
internal import ReaderLink

/// One call of libfprint's asynchronous kind: starts it, waits for its callback, and gives what `finish` makes of it.
///
/// Cancelling the task cancels the call; the call has ended in libfprint when this returns, also then.
@GLibActor
func asyncCall<R: Sendable>(
  start: (UnsafeMutablePointer<GCancellable>, GAsyncReadyCallback, gpointer) -> Void,
  finish: @escaping @GLibActor (OpaquePointer) -> Result<R, ReaderError>
) async throws(ReaderError) -> R {
  let cancellable = Cancellable()
  let result = await withTaskCancellationHandler {
    if Task.isCancelled { return Result<R, ReaderError>.failure(.cancelled) }
    return await withCheckedContinuation { waiter in
      // Retained here, taken back by the callback, which GIO calls exactly once.
      let completion = Completion { waiter.resume(returning: finish($0)) }
      start(
        cancellable.pointer,
        { _, result, data in
          guard let data, let result else { return }
          // GIO's result is ours for the length of this call (transfer none).
          let completion = Unmanaged<Completion>.fromOpaque(data).takeRetainedValue()
          nonisolated(unsafe) let outcome = result  // Stays on this thread: assumeIsolated runs in place.
          GLibActor.assumeIsolated { completion.run(outcome) }
        }, Unmanaged.passRetained(completion).toOpaque())
    }
  } onCancel: {
    // By way of the actor: a GCancellable runs its handlers on the thread that cancels it.
    Task { @GLibActor in cancellable.cancel() }
  }
  return try result.get()
}

/// A `GCancellable` of our own.
@GLibActor
private final class Cancellable {
  // Ours (transfer full).
  let pointer: UnsafeMutablePointer<GCancellable>

  init() { pointer = g_cancellable_new() }

  func cancel() { g_cancellable_cancel(pointer) }

  isolated deinit { g_object_unref(pointer) }
}

@GLibActor
private final class Completion {
  let run: @GLibActor (OpaquePointer) -> Void

  init(_ run: @escaping @GLibActor (OpaquePointer) -> Void) { self.run = run }
}
