/// How often in a row a user failed to authenticate; survives restarts.
public struct LockoutRecord: Hashable, Sendable {
  /// Misses of the finger in a row, 0 to 255.
  public var misses: Int
  /// Wrong passcodes in a row, 0 to 255.
  public var passcodeFailures: Int
  /// No passcode is tried before this time, in seconds since 1970; 0 for no delay.
  public var passcodeNotBefore: Int64
  /// The boot (16 bytes of its id, or empty) that `passcodeNotBeforeSinceBoot` counts from.
  public var bootID: [UInt8]
  /// No passcode is tried before this many seconds after that boot; 0 for no delay.
  public var passcodeNotBeforeSinceBoot: Int64
  /// The stored record was altered or lost: this one says locked. Ends when a record is stored.
  public let isDamaged: Bool

  /// A record of that state.
  public init(
    misses: Int = 0, passcodeFailures: Int = 0, passcodeNotBefore: Int64 = 0, bootID: [UInt8] = [],
    passcodeNotBeforeSinceBoot: Int64 = 0
  ) {
    self.init(
      misses: misses, passcodeFailures: passcodeFailures, passcodeNotBefore: passcodeNotBefore, bootID: bootID,
      passcodeNotBeforeSinceBoot: passcodeNotBeforeSinceBoot, isDamaged: false)
  }

  private init(
    misses: Int, passcodeFailures: Int, passcodeNotBefore: Int64, bootID: [UInt8], passcodeNotBeforeSinceBoot: Int64,
    isDamaged: Bool
  ) {
    self.misses = misses
    self.passcodeFailures = passcodeFailures
    self.passcodeNotBefore = passcodeNotBefore
    self.bootID = bootID
    self.passcodeNotBeforeSinceBoot = passcodeNotBeforeSinceBoot
    self.isDamaged = isDamaged
  }

  /// What counts where the stored record cannot be trusted: biometry locked, and a passcode that gets one try
  /// before the delay of ten failures. There is no date in it, so that the right passcode still leads out.
  static let failSafe = LockoutRecord(
    misses: 255, passcodeFailures: 10, passcodeNotBefore: 0, bootID: [], passcodeNotBeforeSinceBoot: 0,
    isDamaged: true)
}
