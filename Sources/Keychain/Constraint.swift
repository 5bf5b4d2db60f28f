/// What a person or program must show before a secret is released. The raw value is its name on the bus.
public enum Constraint: String, Sendable, CaseIterable {
  /// A finger, or the passcode where biometry is missing, locked out or declined.
  case userPresence = "user-presence"
  /// Any registered finger.
  case biometryAny = "biometry-any"
  /// A finger of the set enrolled when the item was added.
  case biometryCurrentSet = "biometry-current-set"
  /// The passcode.
  case devicePasscode = "device-passcode"
  /// A password of the program's own, mixed into the item's key.
  case applicationPassword = "application-password"
  /// Use of a private key: says what the item is for, and asks nobody for anything.
  case privateKeyUsage = "private-key-usage"

  /// The number in the file format.
  var code: UInt8 {
    switch self {
    case .userPresence: 1
    case .biometryAny: 2
    case .biometryCurrentSet: 3
    case .devicePasscode: 4
    case .applicationPassword: 5
    case .privateKeyUsage: 6
    }
  }

  /// Whether a person shows it: a finger or the passcode.
  public var isPersonal: Bool { self != .applicationPassword && self != .privateKeyUsage }

  /// The constraint of that bus name.
  /// - Throws: `.unsupported` for one that never will be on Linux (`watch`, `companion`); `.invalidParameter` for any
  ///   other text.
  public init(name: String) throws(KeychainError) {
    if ["watch", "companion"].contains(name) { throw .unsupported("the constraint \(name)") }
    guard let found = Self(rawValue: name) else {
      throw .invalidParameter("there is no constraint named \(printable(name))")
    }
    self = found
  }
}
