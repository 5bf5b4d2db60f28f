public import SecretMemory

/// The recovery key: a second way into the keychain, without the passcode and without this machine's device key.
extension UserKeychain {
  private static let slotLabel = "keybag-recovery-slot"
  private static let deviceSlotLabel = "keybag-recovery-device-slot"

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
    let slotKey = try key.slotKey(Self.slotLabel, user: user)
    let deviceSlotKey = try key.slotKey(Self.deviceSlotLabel, user: user)
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
      let root = try KeybagSlots.open(slot, key: try key.slotKey(Self.slotLabel, user: user), user: user)
    else { return false }
    try use(root)
    return true
  }

  /// Puts a new device key in the place of one that is lost (another machine, a TPM that does not give it any more); false
  /// where the recovery key is not this keychain's. The passcode unlocks again once `setPasscode` was called on a
  /// keychain that this recovery key unlocked.
  /// - Throws: `.tampered` where a slot is missing; what opening and writing can meet.
  public static func replaceDeviceKey(
    inDirectory directory: String, user: UserID, with deviceKey: borrowing SecretBytes,
    by recovery: borrowing RecoveryKey
  ) throws(KeychainError) -> Bool {
    let slotKey = try Keybag.slotKey(deviceKey, user: user)
    let recoveryKey = try recovery.slotKey(deviceSlotLabel, user: user)
    let database = try StoreFile.open(in: directory) { (database) throws(KeychainError) in
      throw .itemNotFound  // there is nothing to recover where there is no keychain
    }
    let slots = try KeybagSlots.read(from: database)
    guard let slot = slots[.recoveryOfDevice],
      let root = try KeybagSlots.open(slot, key: recoveryKey, user: user)
    else { return false }
    try database.write { () throws(KeychainError) in
      try KeybagSlots.write(root, kind: .device, key: slotKey, in: database, user: user)
    }
    database.checkpoint()
    return true
  }
}
