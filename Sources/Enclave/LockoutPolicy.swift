internal import Keychain

/// The numbers of lockout, in one place.
public enum LockoutPolicy {
  /// So many misses in a row lock biometry for a user until the passcode is given.
  public static let allowedMisses = 5
  /// So many wrong passcodes in a row cost nothing; each further one starts a longer delay.
  public static let freePasscodeFailures = 2
  /// The longest delay, in seconds.
  public static let longestPasscodeDelay = 3600

  /// Seconds to wait after so many wrong passcodes in a row: 0, 0, then 30 doubling up to an hour.
  public static func passcodeDelay(afterFailures failures: Int) -> Int {
    let doublings = failures - freePasscodeFailures - 1
    guard doublings >= 0 else { return 0 }
    return min(30 << min(doublings, 10), longestPasscodeDelay)
  }

  /// Seconds until a passcode is looked at again.
  ///
  /// Within the boot that the delay began in, the uptime counts. After another start the wall clock does, and never for
  /// more than the failures call for: a clock that was wrong when the delay began must not lock a passcode for years.
  static func passcodeWait(_ record: LockoutRecord, clock: any EnclaveClock) -> Int {
    let delay = Int64(passcodeDelay(afterFailures: record.passcodeFailures))
    let (left, overflow) =
      isOfThisBoot(record, clock)
      ? record.passcodeNotBeforeSinceBoot.subtractingReportingOverflow(clock.uptime() / 1000)
      : record.passcodeNotBefore.subtractingReportingOverflow(clock.wallTime())
    return Int(overflow ? delay : max(0, min(left, delay)))
  }

  /// The record with a delay of so many seconds from now.
  static func delayed(_ record: LockoutRecord, by seconds: Int, clock: any EnclaveClock) -> LockoutRecord {
    var record = record
    // A clock before 1970, or absurdly late, is as good as none.
    let wall = max(0, min(clock.wallTime(), 1 << 40))
    record.passcodeNotBefore = seconds == 0 ? 0 : wall + Int64(seconds)
    record.bootID = clock.bootID()
    record.passcodeNotBeforeSinceBoot = seconds == 0 ? 0 : clock.uptime() / 1000 + Int64(seconds)
    return record
  }

  static func isOfThisBoot(_ record: LockoutRecord, _ clock: any EnclaveClock) -> Bool {
    !record.bootID.isEmpty && record.bootID == clock.bootID()
  }
}
