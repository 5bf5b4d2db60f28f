/// One finger that was registered with the keychain when it was enrolled.
public struct BiometrySetMember: Hashable, Sendable {
  /// 16 random bytes, new at each enrolment.
  public let id: [UInt8]
  /// The finger, 1 (left thumb) to 10 (right little).
  public let finger: UInt8
  /// The reader it was enrolled on, as `driver/device-id`.
  public let reader: String
  /// A keyed digest of the print, 32 bytes; says nothing about it to who lacks the key.
  public let printDigest: [UInt8]
  /// When it was enrolled, in seconds since 1970.
  public let enrolledAt: Int64
}
