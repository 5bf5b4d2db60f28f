internal import SecretMemory

/// What of a user's keys is unlocked just now: outlives the `UserKeychain` that it was unlocked through, so that one that
/// is closed and opened again is as unlocked as before. Owned by the same actor.
public final class UnlockState {
  /// The passcode root.
  var root: SecretBytes?
  /// Whether all of the user's graphical sessions are locked. Whoever says "not any more" has seen a finger or the passcode
  /// since.
  public var isSessionLocked = false

  /// Locked.
  public init() {}

  /// Whether a key is unlocked that would be lost with the process.
  public var isUnlocked: Bool { root != nil }

  /// Forgets the keys: the passcode is needed again.
  public func lock() { root = nil }

  func unlock(_ root: consuming SecretBytes) { self.root = .some(consume root) }
}

/// How far a user's keychain is unlocked. The raw value is its name on the bus.
public enum KeybagState: String, Sendable, CaseIterable {
  /// No passcode was ever given: there are no keys that need one yet.
  case unused = "unused"
  /// The passcode was not given since the user's first session began.
  case locked = "locked"
  /// Unlocked, and all graphical sessions of the user are locked.
  case sessionLocked = "session-locked"
  /// Unlocked.
  case unlocked = "unlocked"
}

/// The part of the keybag that needs the passcode.
extension UserKeychain {
  /// How far it is unlocked.
  /// - Throws: what reading the database can meet.
  public func keybagState() throws(KeychainError) -> KeybagState {
    guard unlockState.isUnlocked else {
      return try KeybagSlots.read(from: database)[.passcode] == nil ? .unused : .locked
    }
    return unlockState.isSessionLocked ? .sessionLocked : .unlocked
  }

  /// What the passcode has to be stretched with to unlock; nil where none was ever given.
  /// - Throws: what reading the database can meet.
  public func passcodeParameters() throws(KeychainError) -> StretchingParameters? {
    try KeybagSlots.read(from: database)[.passcode]?.parameters
  }

  /// Unlocks with the passcode; false where its slot does not open with it: the passcode was changed since.
  /// - Parameter passcode: stretched with `passcodeParameters()`.
  /// - Throws: `.tampered`; what a write can meet.
  public func unlock(with passcode: StretchedPassword) throws(KeychainError) -> Bool {
    guard let slot = try KeybagSlots.read(from: database)[.passcode], slot.parameters == passcode.parameters,
      let root = try KeybagSlots.open(slot, key: try passcodeSlotKey(passcode), user: user)
    else { return false }
    try use(root)
    return true
  }

  /// Makes this the passcode that unlocks from now on; makes the keys where there are none yet.
  /// - Throws: `.locked` where there are keys and they are not unlocked; what a write can meet.
  public func setPasscode(_ passcode: StretchedPassword) throws(KeychainError) {
    if !unlockState.isUnlocked {
      let slots = try KeybagSlots.read(from: database)
      guard slots[.passcode] == nil, slots[.recovery] == nil else { throw .locked(.afterFirstUnlock) }
    }
    let key = try passcodeSlotKey(passcode)
    guard !unlockState.isUnlocked else {
      try database.write { () throws(KeychainError) in
        try withRoot { root throws(KeychainError) in try write(root, under: key, passcode) }
      }
      return database.checkpoint()
    }
    let root = try Sealing.newKey()
    try database.write { () throws(KeychainError) in try write(root, under: key, passcode) }
    unlockState.root = .some(consume root)
  }

  /// The key of a protection class.
  /// - Throws: `.locked`; `.tampered`.
  func withClassKey<R: ~Copyable>(
    _ protection: ProtectionClass, _ body: (borrowing SecretBytes) throws(KeychainError) -> R
  ) throws(KeychainError) -> R {
    guard protection.needsPasscode else { return try body(keys.always) }
    guard !protection.endsAtSessionLock || !unlockState.isSessionLocked else { throw .locked(protection) }
    let key = try withRoot(or: .locked(protection)) { root throws(KeychainError) in
      try ClassKeys.open(
        ClassKeys.number(protection), root: .passcode, rootKey: root, from: database, user: user)
    }
    return try body(key)
  }

  /// Lends the passcode root.
  /// - Throws: `error` where it is not unlocked.
  func withRoot<R: ~Copyable>(
    or error: KeychainError = .locked(.afterFirstUnlock), _ body: (borrowing SecretBytes) throws(KeychainError) -> R
  ) throws(KeychainError) -> R {
    switch unlockState.root {
    case .some(let root): return try body(root)
    case .none: throw error
    }
  }

  /// Keeps the root, and makes those class keys that are missing (a class that was destroyed begins anew).
  func use(_ root: consuming SecretBytes) throws(KeychainError) {
    try makeClassKeys(under: root)
    unlockState.root = .some(consume root)
  }

  private func write(
    _ root: borrowing SecretBytes, under key: borrowing SecretBytes, _ passcode: StretchedPassword
  ) throws(KeychainError) {
    try KeybagSlots.write(
      root, kind: .passcode, key: key, parameters: passcode.parameters, in: database, user: user)
    // It is under the passcode from before.
    try KeybagSlots.remove(.rescue, from: database)
    try makeClassKeys(under: root)
  }

  private func makeClassKeys(under root: borrowing SecretBytes) throws(KeychainError) {
    for protection in ClassKeys.ofPasscode {
      let number = ClassKeys.number(protection)
      if try !ClassKeys.exists(number, in: database) {
        try ClassKeys.create(number, root: .passcode, rootKey: root, in: database, user: user)
      }
    }
  }

  private func passcodeSlotKey(_ passcode: StretchedPassword) throws(KeychainError) -> SecretBytes {
    try Self.passcodeSlotKey(passcode, pepper: keys.pepper)
  }

  static func passcodeSlotKey(
    _ passcode: StretchedPassword, pepper: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    try passcode.key.withUnsafeBytes { stretched throws(KeychainError) in
      try Sealing.deriveKey(pepper, label: "keybag-passcode-slot", context: stretched)
    }
  }
}
