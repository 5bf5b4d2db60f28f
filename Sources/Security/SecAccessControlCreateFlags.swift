/// What a person or program must show before a secret comes out. The numbers are Apple's.
///
/// Of several that a person shows it has to be said whether all of them are needed (``and``) or one will do (``or``).
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
  /// The flags as bits.
  public let rawValue: CFOptionFlags
  /// Flags of these bits.
  public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

  /// A finger; the passcode where fingers cannot be used, are locked out or are declined.
  public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
  /// A registered finger, also one enrolled later.
  public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
  /// The former name of ``biometryAny``.
  public static let touchIDAny = biometryAny
  /// A registered finger; the item is gone for good when a finger is enrolled or deleted.
  public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
  /// The former name of ``biometryCurrentSet``.
  public static let touchIDCurrentSet = biometryCurrentSet
  /// The passcode: the account's password.
  public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
  /// A watch. Linux has none: refused with `errSecUnimplemented`.
  public static let watch = SecAccessControlCreateFlags(rawValue: 1 << 5)
  /// A device nearby. Linux has none: refused with `errSecUnimplemented`.
  public static let companion = watch
  /// One of several will do.
  public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
  /// All of several are needed.
  public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
  /// The item is a private key, for signing and key agreement. Asks nobody for anything.
  public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
  /// A password of the program's own, mixed into the item's key (`LAContext.setCredential`).
  public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}
