internal import GLibLoop

/// Runs `body` to its end and returns what it does, also where the task that waits for it is cancelled.
@GLibActor
func uninterrupted<R: Sendable>(_ body: @escaping @GLibActor () async -> R) async -> R {
  await Task { @GLibActor in await body() }.value
}
