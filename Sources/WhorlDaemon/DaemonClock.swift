internal import CPosix
internal import GLibLoop
internal import Glibc

/// The time by which the daemon bounds what it does: it stands still while the machine sleeps. Tests bring their own.
struct DaemonClock: Sendable {
  /// Milliseconds since some moment.
  let now: @GLibActor () -> Int64
  /// Returns after so many milliseconds.
  /// - Throws: where the task was cancelled before.
  let sleep: @GLibActor (_ milliseconds: Int64) async throws(CancellationError) -> Void

  /// CLOCK_MONOTONIC and GLib's timers.
  static let machine = DaemonClock {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)  // cannot fail: a known clock and a valid place
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  } sleep: { milliseconds throws(CancellationError) in
    try await glibSleep(milliseconds: Int(clamping: milliseconds))
  }
}
