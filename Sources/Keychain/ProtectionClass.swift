/// When an item can be read at all, whatever its constraints say. Its number is part of the file format.
public enum ProtectionClass: UInt8, Sendable, CaseIterable {
  /// Always, under the device key alone: the only one so far.
  case always = 1
  /// After the first unlock since boot; not kept yet.
  case afterFirstUnlock = 2
  /// While the user's session is unlocked; not kept yet.
  case whenUnlocked = 3
  /// While the account has a passcode; not kept yet.
  case whenPasscodeSet = 4
  /// As `always`, and never exported; not kept yet.
  case alwaysThisDeviceOnly = 5
  /// As `afterFirstUnlock`, and never exported; not kept yet.
  case afterFirstUnlockThisDeviceOnly = 6
  /// As `whenUnlocked`, and never exported; not kept yet.
  case whenUnlockedThisDeviceOnly = 7
  /// As `whenPasscodeSet`, and never exported; not kept yet.
  case whenPasscodeSetThisDeviceOnly = 8

  /// The name on the bus, such as `after-first-unlock`.
  public var name: String {
    switch self {
    case .always: "always"
    case .afterFirstUnlock: "after-first-unlock"
    case .whenUnlocked: "when-unlocked"
    case .whenPasscodeSet: "when-passcode-set"
    case .alwaysThisDeviceOnly: "always-this-device-only"
    case .afterFirstUnlockThisDeviceOnly: "after-first-unlock-this-device-only"
    case .whenUnlockedThisDeviceOnly: "when-unlocked-this-device-only"
    case .whenPasscodeSetThisDeviceOnly: "when-passcode-set-this-device-only"
    }
  }

  /// The protection class of that bus name.
  /// - Throws: `.unsupported` for a class that does not exist yet; `.invalidParameter` for any other text.
  public init(name: String) throws(KeychainError) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else {
      throw .invalidParameter("there is no protection class named \(printable(name))")
    }
    try found.requireSupport()
    self = found
  }

  func requireSupport() throws(KeychainError) {
    guard self == .always else { throw .unsupported("the protection class \(name)") }
  }
}
