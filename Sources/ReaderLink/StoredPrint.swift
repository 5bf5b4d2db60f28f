/// A print in a reader's own storage, with what libfprint reads in it. Readers keep and give back only a part of what a
/// print on the disk holds, so the other values may be missing, and only libfprint can tell whether two are the same.
public struct StoredPrint: Sendable, Hashable {
  /// The print serialised by libfprint, good for deleting it from the chip.
  public var bytes: [UInt8]
  /// The user it was enrolled for, as far as the chip tells; empty where it does not. Untrusted text.
  public var user: String
  /// The finger it was enrolled with, as far as the chip tells.
  public var finger: Finger?
  /// The day it was enrolled on, as the decimal digits YYYYMMDD; nil where the chip does not tell.
  public var enrolled: UInt32?
  /// libfprint's driver identifier.
  public var driver: String
  /// libfprint's device identifier.
  public var deviceID: String
  /// The index of the same print among those that the one who asked knows; nil where it is none of them.
  public var knownIndex: Int?

  /// A stored print with these values.
  public init(
    bytes: [UInt8], user: String, finger: Finger?, enrolled: UInt32? = nil, driver: String, deviceID: String,
    knownIndex: Int?
  ) {
    self.bytes = bytes
    self.user = user
    self.finger = finger
    self.enrolled = enrolled
    self.driver = driver
    self.deviceID = deviceID
    self.knownIndex = knownIndex
  }
}
