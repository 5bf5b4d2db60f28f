/// When a secret can be read at all: the values of `--accessible`, which are the bus's own names.
enum Accessibility: String, Sendable, CaseIterable {
  /// Whenever the machine runs.
  case always
  /// From the first password after the login until the logout.
  case afterFirstUnlock = "after-first-unlock"
  /// As that, and not while the screen is locked.
  case whenUnlocked = "when-unlocked"
  /// As that, and gone once the account's password is removed.
  case whenPasscodeSet = "when-passcode-set"
  /// Each of them, left out of an export.
  case alwaysThisDeviceOnly = "always-this-device-only"
  case afterFirstUnlockThisDeviceOnly = "after-first-unlock-this-device-only"
  case whenUnlockedThisDeviceOnly = "when-unlocked-this-device-only"
  case whenPasscodeSetThisDeviceOnly = "when-passcode-set-this-device-only"
}
