internal import Glibc
public import SecretMemory

/// The way back into a keychain whose device key is lost: another machine, a TPM that does not give it any more.
extension UserKeychain {
  /// What can open a keychain without its device key.
  public struct WaysBack: Sendable, Equatable {
    /// There is a recovery key.
    public let recoveryKey: Bool
    /// The passcode can; what it has to be stretched with, for its two slots.
    public let passcode: (rescue: StretchingParameters, unlocking: StretchingParameters)?

    /// Whether there is any.
    public var isEmpty: Bool { !recoveryKey && passcode == nil }

    /// Compares all of it.
    public static func == (left: Self, right: Self) -> Bool {
      left.recoveryKey == right.recoveryKey && left.passcode?.rescue == right.passcode?.rescue
        && left.passcode?.unlocking == right.passcode?.unlocking
    }
  }

  /// What can open the keychain in `directory` without its device key.
  /// - Throws: `.itemNotFound` where there is no keychain; what opening it can meet.
  public static func waysBack(inDirectory directory: String) throws(KeychainError) -> WaysBack {
    let slots = try KeybagSlots.read(from: try open(directory))
    let passcode: (rescue: StretchingParameters, unlocking: StretchingParameters)? =
      if let rescue = slots[.rescue]?.parameters, let unlocking = slots[.passcode]?.parameters {
        (rescue, unlocking)
      } else {
        nil
      }
    return WaysBack(
      recoveryKey: slots[.recovery] != nil && slots[.recoveryOfDevice] != nil, passcode: passcode)
  }

  /// A keychain that was opened without its device key, to be put under another one.
  public struct Rescued: ~Copyable {
    let database: Database
    let user: UserID
    let root: SecretBytes
    let passcodeRoot: SecretBytes
    /// For its passcode slot; nil where the recovery key opened it.
    let passcode: StretchedPassword?
    /// The name of the account that it belongs to, as `UserKeychain.owner`.
    public let owner: String?

    /// Puts it under `deviceKey`, for good. What `state` says is unlocked from then on.
    /// - Throws: what a write can meet; then nothing was changed.
    public func adopt(_ deviceKey: borrowing SecretBytes, _ state: UnlockState) throws(KeychainError) {
      let slotKey = try Keybag.slotKey(deviceKey, user: user)
      let pepper = try Keybag.pepper(deviceKey, user: user)
      let passcodeKey: SecretBytes? =
        if let passcode { try UserKeychain.passcodeSlotKey(passcode, pepper: pepper) } else { nil }
      let unlocked = try guarded { () throws(SecretMemoryError) in try passcodeRoot.clone() }
      try database.write { () throws(KeychainError) in
        try KeybagSlots.write(root, kind: .device, key: slotKey, in: database, user: user)
        switch passcodeKey {
        case .some(let key):
          try KeybagSlots.write(
            passcodeRoot, kind: .passcode, key: key, parameters: passcode?.parameters, in: database, user: user)
        case .none: break
        }
        // It holds what stood for the device key that is lost.
        try KeybagSlots.remove(.rescue, from: database)
      }
      database.checkpoint()
      state.unlock(unlocked)
    }
  }

  /// Opens a keychain with its recovery key alone; nil where that is not its own.
  /// - Throws: `.itemNotFound`, `.tampered`; what opening it can meet.
  public static func rescue(
    inDirectory directory: String, user: UserID, by key: borrowing RecoveryKey
  ) throws(KeychainError) -> Rescued? {
    let database = try open(directory)
    let slots = try KeybagSlots.read(from: database)
    guard let device = slots[.recoveryOfDevice], let other = slots[.recovery],
      let root = try KeybagSlots.open(device, key: try key.slotKey(recoveryDeviceLabel, user: user), user: user),
      let passcodeRoot = try KeybagSlots.open(other, key: try key.slotKey(recoveryLabel, user: user), user: user)
    else { return nil }
    return try rescued(database, user, root, passcodeRoot, nil)
  }

  /// Opens a keychain with its passcode alone, where its device key was sealed to a TPM; nil where that is another one.
  /// - Parameters:
  ///   - rescue: the passcode, stretched as `waysBack` says for the rescue.
  ///   - unlocking: the passcode, stretched as `waysBack` says for unlocking.
  /// - Throws: as the other.
  public static func rescue(
    inDirectory directory: String, user: UserID, by rescue: StretchedPassword, _ unlocking: StretchedPassword
  ) throws(KeychainError) -> Rescued? {
    let database = try open(directory)
    let slots = try KeybagSlots.read(from: database)
    guard let slot = slots[.rescue], let passcodeSlot = slots[.passcode],
      let both = try KeybagSlots.open(slot, key: try rescueSlotKey(rescue, user: user), user: user, count: rescuedBytes)
    else { return nil }
    let root = try guarded { () throws(SecretMemoryError) in try both.prefix(Sealing.keyBytes) }
    let pepper = try both.withUnsafeBytes { bytes throws(KeychainError) in
      try guarded { () throws(SecretMemoryError) in
        try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[Sealing.keyBytes...]))
      }
    }
    guard
      let passcodeRoot = try KeybagSlots.open(
        passcodeSlot, key: try passcodeSlotKey(unlocking, pepper: pepper), user: user)
    else { return nil }
    return try rescued(database, user, root, passcodeRoot, unlocking)
  }

  /// Lets the passcode alone open the keychain one day, where the device key is sealed to a TPM that may refuse it. Whoever
  /// has the disk can then try passcodes at the cost that the parameters say.
  /// - Parameter passcode: stretched with fresh parameters of `Cost.high`.
  /// - Throws: what a write can meet.
  public func allowRescue(by passcode: StretchedPassword) throws(KeychainError) {
    var both = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: Self.rescuedBytes) }
    both.withUnsafeMutableBytes { target in
      keys.root.withUnsafeBytes { target.copyMemory(from: $0) }
      keys.pepper.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[Sealing.keyBytes...]).copyMemory(from: $0)
      }
    }
    let key = try Self.rescueSlotKey(passcode, user: user)
    try database.write { () throws(KeychainError) in
      try KeybagSlots.write(both, kind: .rescue, key: key, parameters: passcode.parameters, in: database, user: user)
    }
    database.checkpoint()
  }

  /// Whether the passcode alone can open it.
  /// - Throws: what reading the database can meet.
  public func allowsRescue() throws(KeychainError) -> Bool { try KeybagSlots.read(from: database)[.rescue] != nil }

  // MARK: - Parts

  private static let rescuedBytes = 2 * Sealing.keyBytes

  private static func rescueSlotKey(
    _ passcode: StretchedPassword, user: UserID
  ) throws(KeychainError) -> SecretBytes {
    try withUnsafeBytes(of: user.rawValue.littleEndian) { context throws(KeychainError) in
      try Sealing.deriveKey(passcode.key, label: "keybag-rescue-slot", context: context)
    }
  }

  private static func open(_ directory: String) throws(KeychainError) -> Database {
    // There is nothing to rescue where there is no keychain.
    guard access("\(directory)/\(StoreFile.name)", F_OK) == 0 else { throw .itemNotFound }
    return try StoreFile.open(in: directory) { (_) throws(KeychainError) in throw .itemNotFound }
  }

  private static func rescued(
    _ database: Database, _ user: UserID, _ root: consuming SecretBytes, _ passcodeRoot: consuming SecretBytes,
    _ passcode: StretchedPassword?
  ) throws(KeychainError) -> Rescued {
    let metadata = try ClassKeys.open(
      ClassKeys.metadata, root: .device, rootKey: root, from: database, user: user)
    let owner = try owner(in: database, user: user, attributesKey: try Sealing.deriveKey(metadata, label: "attributes"))
    return Rescued(
      database: database, user: user, root: root, passcodeRoot: passcodeRoot, passcode: passcode, owner: owner)
  }
}
