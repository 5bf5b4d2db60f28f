internal import CPosix
internal import GLibLoop
internal import Glibc

/// Notices when the wall clock jumps, which it does whenever the machine wakes, without looking at it in between.
@GLibActor
final class ClockWatch {
  private let descriptor: Int32
  private var watch: FDWatch?

  /// Calls `jumped` after each jump. Nil where the kernel gives no such timer.
  init?(jumped: @escaping @GLibActor () -> Void) {
    descriptor = cposix_clock_descriptor()
    guard descriptor >= 0, cposix_watch_clock(descriptor) == 0 else { return nil }
    watch = FDWatch(descriptor: descriptor, for: .readable) { [descriptor] _ in
      var count: UInt64 = 0
      // Fails with ECANCELED after a jump; what it gives otherwise does not matter.
      _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
      _ = cposix_watch_clock(descriptor)
      jumped()
    }
  }

  isolated deinit {
    watch?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }

  /// For how many milliseconds the machine has slept since it was started.
  static func timeAsleep() -> Int64 {
    var (all, awake) = (timespec(), timespec())
    clock_gettime(CLOCK_MONOTONIC, &awake)  // cannot fail: known clocks and valid places
    clock_gettime(CLOCK_BOOTTIME, &all)
    return Int64(all.tv_sec - awake.tv_sec) * 1000 + Int64(all.tv_nsec - awake.tv_nsec) / 1_000_000
  }
}
