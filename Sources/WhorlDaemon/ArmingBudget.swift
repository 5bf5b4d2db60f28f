/// For how long a reader may be armed for one who waits without end, a screen locker: so long after each sign of a
/// person, and no longer.
struct ArmingBudget {
  /// Milliseconds after a sign of a person.
  let limit: Int64
  private var lastActivity: Int64

  /// A budget that begins at `now`, in the milliseconds of a ``DaemonClock``.
  init(limit: Int64, now: Int64) {
    self.limit = limit
    lastActivity = now
  }

  /// A person was here.
  mutating func renew(at now: Int64) { lastActivity = max(lastActivity, now) }

  /// How many milliseconds are left; none is 0.
  func remaining(at now: Int64) -> Int64 { max(0, limit - (now - lastActivity)) }
}
