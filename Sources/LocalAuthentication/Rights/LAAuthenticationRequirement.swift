internal import WhorlClient

/// What a right asks for.
public final class LAAuthenticationRequirement: NSObject, Sendable {
  /// What guards the right's item.
  let control: WhorlAccessControl

  init(_ constraints: [WhorlConstraint]) {
    control = WhorlAccessControl(protection: .whenUnlocked.thisDeviceOnly, constraints: constraints)
  }

  /// That of an item that is stored already.
  init(of item: WhorlItem) {
    control = WhorlAccessControl(
      protection: WhorlProtection(rawValue: item.protection), constraints: item.constraints)
  }

  /// A finger that opens secrets, or the account's password.
  public static let `default` = LAAuthenticationRequirement([.userPresence])

  /// A finger that opens secrets, also one enrolled later.
  public static let biometry = LAAuthenticationRequirement([.biometryAny])

  /// A finger that opens secrets; a stored right is gone for good when a finger is enrolled or deleted.
  public static let biometryCurrentSet = LAAuthenticationRequirement([.biometryCurrentSet])

  /// A finger that opens secrets, or what takes its place.
  public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
    LAAuthenticationRequirement([.biometryAny, .or] + fallback.constraints)
  }
}

/// What takes the place of a finger.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
  let constraints: [WhorlConstraint]

  private init(_ constraints: [WhorlConstraint]) { self.constraints = constraints }

  /// The account's password.
  public static let `default` = devicePasscode
  /// The account's password.
  public static let devicePasscode = LABiometryFallbackRequirement([.devicePasscode])
}
