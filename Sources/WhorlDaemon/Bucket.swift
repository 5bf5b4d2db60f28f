/// How often something may happen: so many times in a row after a pause, and one more after each interval.
struct Bucket: Sendable, Hashable {
  /// So many in a row after a pause; at least 1.
  let burst: Int64
  /// So many milliseconds after each one more is allowed.
  let interval: Int64
  /// When the burst is whole again, in milliseconds of the clock that is asked.
  private var whole: Int64 = 0

  init(burst: Int64, interval: Int64) {
    self.burst = burst
    self.interval = interval
  }

  /// Takes one at that time.
  /// - Returns: the milliseconds until one could be had, where none can be had now; nil where it was taken.
  mutating func take(at now: Int64) -> Int64? {
    let start = max(whole, now)
    let wait = start - now - (burst - 1) * interval
    guard wait <= 0 else { return wait }
    whole = start + interval
    return nil
  }

  /// Whether the burst is whole, so that there is nothing to be remembered.
  func isWhole(at now: Int64) -> Bool { whole <= now }
}
