internal import SecretMemory

/// The recovery key: a second way into the keychain, without the passcode and without this machine's device key.
extension UserKeychain {
  static let recoveryLabel = "keybag-recovery-slot"
  static let recoveryDeviceLabel = "keybag-recovery-device-slot"

  /// Whether there is a recovery key.
  /// - Throws: what reading the database can meet.
  public func hasRecoveryKey() throws(KeychainError) -> Bool {
    try KeybagSlots.read(from: database)[.recovery] != nil
  }

  /// Makes a recovery key, in the place of the one there was: only the new one opens anything from then on. It is stored
  /// nowhere: what is given here is all there is of it.
  /// - Throws: `.locked` where the passcode was not given; what a write can meet.
  public func makeRecoveryKey() throws(KeychainError) -> RecoveryKey {
    let key = try RecoveryKey()
    let slotKey = try key.slotKey(Self.recoveryLabel, user: user)
    let deviceSlotKey = try key.slotKey(Self.recoveryDeviceLabel, user: user)
    try database.write { () throws(KeychainError) in
      try withRoot { root throws(KeychainError) in
        try KeybagSlots.write(root, kind: .recovery, key: slotKey, in: database, user: user)
      }
      try KeybagSlots.write(keys.root, kind: .recoveryOfDevice, key: deviceSlotKey, in: database, user: user)
    }
    database.checkpoint()
    return key
  }

  /// Takes the recovery key back; false where there was none.
  /// - Throws: what a write can meet.
  public func revokeRecoveryKey() throws(KeychainError) -> Bool {
    guard try hasRecoveryKey() else { return false }
    try database.write { () throws(KeychainError) in
      try KeybagSlots.remove(.recovery, from: database)
      try KeybagSlots.remove(.recoveryOfDevice, from: database)
    }
    database.checkpoint()
    return true
  }

  /// Unlocks with the recovery key; false where it is not this keychain's.
  /// - Throws: `.tampered`; what a write can meet.
  public func unlock(with key: borrowing RecoveryKey) throws(KeychainError) -> Bool {
    guard let slot = try KeybagSlots.read(from: database)[.recovery],
      let root = try KeybagSlots.open(slot, key: try key.slotKey(Self.recoveryLabel, user: user), user: user)
    else { return false }
    try use(root)
    return true
  }
}
