/// The bounds of everything that goes over the link. Both ends refuse what is beyond them.
public enum LinkLimits {
  /// The version of the protocol that this code speaks.
  public static let version: UInt16 = 3
  /// The longest request without its length prefix, in bytes: a thousand of the largest prints of image sensors fit.
  public static let requestBytes = 16 << 20
  /// The longest answer without its length prefix, in bytes.
  public static let answerBytes = 4 << 20
  /// The longest text, in UTF-8 bytes.
  public static let textBytes = 256
  /// The longest serialised print, in bytes.
  public static let printBytes = 1 << 20
  /// The most prints in one list.
  public static let prints = 1024
  /// The most readers in one list.
  public static let readers = 64
  /// The most stages that an enrolment may have.
  public static let enrollStages: UInt32 = 100
  /// The widest or highest image, in pixels.
  public static let imageSide: UInt32 = 4096
}

/// Why a message could not be read or written.
public enum LinkError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A message or a part of it is larger than ``LinkLimits`` allows.
  case tooLarge(String)
  /// The message ends in the middle of a value.
  case truncated
  /// Bytes are left over after the message.
  case trailingBytes
  /// No message of that number is known.
  case unknownMessage(UInt8)
  /// A value is impossible.
  case invalid(String)

  /// One line for the log.
  public var description: String {
    switch self {
    case .tooLarge(let what): "\(what) is larger than allowed"
    case .truncated: "a message ends in the middle of a value"
    case .trailingBytes: "a message has bytes left over"
    case .unknownMessage(let kind): "message kind \(kind) is unknown"
    case .invalid(let what): "\(what) has an impossible value"
    }
  }
}
