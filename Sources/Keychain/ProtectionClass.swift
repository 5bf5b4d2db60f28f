/// When an item can be read at all, whatever its constraints say (Apple: kSecAttrAccessible). Its number is part of the
/// file format.
public enum ProtectionClass: UInt8, Sendable, CaseIterable {
  /// Whenever the machine runs, under the device key alone.
  case always = 1
  /// From the first time that the passcode was given until the user's last session ends.
  case afterFirstUnlock = 2
  /// As `afterFirstUnlock`, and not while all of the user's graphical sessions are locked.
  case whenUnlocked = 3
  /// As `whenUnlocked`, and gone for good once the account's password is removed.
  case whenPasscodeSet = 4
  /// As `always`, and left out of an export.
  case alwaysThisDeviceOnly = 5
  /// As `afterFirstUnlock`, and left out of an export.
  case afterFirstUnlockThisDeviceOnly = 6
  /// As `whenUnlocked`, and left out of an export.
  case whenUnlockedThisDeviceOnly = 7
  /// As `whenPasscodeSet`, and left out of an export.
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

  /// Whether an export leaves items of it out.
  public var isThisDeviceOnly: Bool { rawValue >= Self.alwaysThisDeviceOnly.rawValue }

  /// Whether its key comes only with the passcode.
  public var needsPasscode: Bool { keyClass != .always }

  /// Whether its items are out of reach while all of the user's graphical sessions are locked.
  public var endsAtSessionLock: Bool { keyClass == .whenUnlocked || keyClass == .whenPasscodeSet }

  /// Whether its items are destroyed with the account's password.
  public var endsWithPasscode: Bool { keyClass == .whenPasscodeSet }

  /// The class whose key it has: the same with and without "this device only".
  var keyClass: ProtectionClass {
    switch self {
    case .always, .alwaysThisDeviceOnly: .always
    case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
    case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
    case .whenPasscodeSet, .whenPasscodeSetThisDeviceOnly: .whenPasscodeSet
    }
  }

  /// The protection class of that bus name.
  /// - Throws: `.invalidParameter` for any other text.
  public init(name: String) throws(KeychainError) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else {
      throw .invalidParameter("there is no protection class named \(printable(name))")
    }
    self = found
  }
}
