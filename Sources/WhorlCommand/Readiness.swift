import GLibLoop

/// One wait until a descriptor is ready.
@GLibActor
enum Readiness {
  /// What the descriptor is ready for; a hangup and a failure count.
  /// - Throws: `.cancelled` as soon as the task is cancelled.
  static func wait(
    for wanted: FDWatch.Conditions, of descriptor: Int32
  ) async throws(CommandFailure) -> FDWatch.Conditions {
    do { return try await glibReady(for: wanted, of: descriptor) } catch { throw .cancelled }
  }
}
