package import WhorlClient

extension WhorlProtection {
  /// The protection class of a `kSecAttrAccessible…` string; nil for any other.
  package init?(accessible: String) {
    switch accessible {
    case kSecAttrAccessibleWhenUnlocked: self = .whenUnlocked
    case kSecAttrAccessibleAfterFirstUnlock: self = .afterFirstUnlock
    case kSecAttrAccessibleAlways: self = .always
    case kSecAttrAccessibleWhenUnlockedThisDeviceOnly: self = .whenUnlocked.thisDeviceOnly
    case kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: self = .afterFirstUnlock.thisDeviceOnly
    case kSecAttrAccessibleAlwaysThisDeviceOnly: self = .always.thisDeviceOnly
    case kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: self = .whenPasscodeSet.thisDeviceOnly
    default: return nil
    }
  }

  /// The `kSecAttrAccessible…` string; nil for a class that this version does not know. "When passcode set" without
  /// "this device only", which Apple does not have, is given as the nearest there is.
  package var accessible: String? {
    switch self {
    case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
    case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
    case .always: kSecAttrAccessibleAlways
    case .whenUnlocked.thisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    case .afterFirstUnlock.thisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    case .always.thisDeviceOnly: kSecAttrAccessibleAlwaysThisDeviceOnly
    case .whenPasscodeSet, .whenPasscodeSet.thisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
    default: nil
    }
  }
}

extension WhorlAccessControl {
  /// The flags and what they ask for, in the order in which the enclave gives constraints.
  private static let constraintsOfFlags:
    [(flag: SecAccessControlCreateFlags, name: String, constraint: WhorlConstraint)] = [
      (.userPresence, "userPresence", .userPresence), (.biometryAny, "biometryAny", .biometryAny),
      (.biometryCurrentSet, "biometryCurrentSet", .biometryCurrentSet),
      (.devicePasscode, "devicePasscode", .devicePasscode),
      (.applicationPassword, "applicationPassword", .applicationPassword),
      (.privateKeyUsage, "privateKeyUsage", .privateKeyUsage),
    ]
  private static let personal: SecAccessControlCreateFlags = [
    .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode,
  ]

  /// An access control of that class and those flags.
  /// - Throws: `errSecUnimplemented` for a watch or companion; `errSecParam` for bits that are not known and for flags
  ///   that do not go together.
  package init(protection: WhorlProtection, flags: SecAccessControlCreateFlags) throws(ItemRequestError) {
    guard !flags.contains(.watch) else {
      throw ItemRequestError(errSecUnimplemented, "watch and companion need a device that Linux does not have")
    }
    let known = Self.constraintsOfFlags.reduce(into: SecAccessControlCreateFlags([.and, .or])) { $0.insert($1.flag) }
    let unknown = flags.subtracting(known)
    guard unknown.isEmpty else {
      throw ItemRequestError(errSecParam, "the flags 0x\(String(unknown.rawValue, radix: 16)) are not known")
    }
    guard !flags.isSuperset(of: [.and, .or]) else {
      throw ItemRequestError(errSecParam, "constraints are joined by one of \"and\" and \"or\", not by both")
    }
    let given = Self.constraintsOfFlags.filter { flags.contains($0.flag) }
    let personal = given.filter { Self.personal.contains($0.flag) }
    var constraints = given.map(\.constraint)
    if personal.count > 1 {
      guard flags.contains(.and) || flags.contains(.or) else {
        let names = personal.map(\.name).joined(separator: " and ")
        throw ItemRequestError(errSecParam, "of \(names) it must be said whether all (and) or one (or) is needed")
      }
      constraints.append(flags.contains(.and) ? .and : .or)
    } else if flags.contains(.or) {
      throw ItemRequestError(errSecParam, "\"or\" needs two of userPresence, biometry and devicePasscode to join")
    } else if flags.contains(.and), given.count < 2 {
      throw ItemRequestError(errSecParam, "\"and\" needs two constraints to join")
    }
    // A program's own password and what a person shows are both needed anyway: "and" adds nothing.
    self.init(protection: protection, constraints: constraints)
  }
}
