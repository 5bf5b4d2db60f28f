internal import GLibLoop

/// Something that is done after a while, by the main loop's timer.
enum Timeout {
  /// Runs `body` after so many milliseconds; cancelling the task prevents that.
  static func start(milliseconds: Int, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task { @GLibActor in
      do { try await glibSleep(milliseconds: milliseconds) } catch { return }
      body()
    }
  }
}
