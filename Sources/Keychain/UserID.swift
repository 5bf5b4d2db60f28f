/// The number of a user account, by which each user has a keychain of their own.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
  /// The uid as the kernel knows it.
  public let rawValue: UInt32

  /// The user of that uid.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// The number in decimal digits.
  public var description: String { String(rawValue) }
}
