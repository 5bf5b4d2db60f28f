internal import Bus
internal import GLibLoop
internal import Keychain

/// How often an account may begin an enrolment.
///
/// The first touch of one is compared with everybody's prints, so that a finger is enrolled once. That tells whoever
/// enrols whether a finger, or what passes for one, is somebody's, and no lockout counts it. Root is not bounded: it
/// can read the prints.
@GLibActor
final class EnrolmentLimits {
  /// Enrolments in a row: every finger, and some that went wrong.
  static let burst: Int64 = 15
  /// So many milliseconds after each of them one more is allowed.
  static let interval: Int64 = 300_000

  private var buckets: [UserID: Bucket] = [:]
  private let clock: DaemonClock

  init(clock: DaemonClock = .machine) { self.clock = clock }

  /// How many accounts are kept account of.
  var accountCount: Int { buckets.count }

  /// Counts an enrolment that a program of that account begins.
  /// - Throws: `org.freedesktop.DBus.Error.LimitsExceeded`, with when to try again.
  func begin(_ user: UserID) throws(BusMethodError) {
    guard user.rawValue != 0 else { return }
    let now = clock.now()
    buckets = buckets.filter { !$0.value.isWhole(at: now) }
    if let wait = buckets[user, default: Bucket(burst: Self.burst, interval: Self.interval)].take(at: now) {
      throw BusMethodError(
        name: "org.freedesktop.DBus.Error.LimitsExceeded",
        message: "Your account has begun too many enrolments; try again in \((wait + 59_999) / 60_000) min.")
    }
  }
}
