internal import SecretMemory

/// Fresh class keys, before they are stored.
struct NewClassKeys: ~Copyable {
  let always: SecretBytes
  let afterFirstUnlock: SecretBytes
  let whenUnlocked: SecretBytes
  let whenPasscodeSet: SecretBytes

  static func make() throws(KeychainError) -> NewClassKeys {
    return NewClassKeys(
      always: try Sealing.newKey(), afterFirstUnlock: try Sealing.newKey(), whenUnlocked: try Sealing.newKey(),
      whenPasscodeSet: try Sealing.newKey())
  }

  /// Lends the key of a class.
  func with<R: ~Copyable>(
    _ protection: ProtectionClass, _ body: (borrowing SecretBytes) throws(KeychainError) -> R
  ) throws(KeychainError) -> R {
    switch protection {
    case .always, .alwaysThisDeviceOnly: try body(always)
    case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: try body(afterFirstUnlock)
    case .whenUnlocked, .whenUnlockedThisDeviceOnly: try body(whenUnlocked)
    case .whenPasscodeSet, .whenPasscodeSetThisDeviceOnly: try body(whenPasscodeSet)
    }
  }
}
