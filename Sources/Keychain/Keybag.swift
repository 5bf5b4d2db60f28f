internal import SecretMemory

/// The keys of one user's keychain that the device key alone opens, in memory.
///
/// device key -> device slot -> device root -> metadata key, class key of `ProtectionClass.always`
/// passcode and device key, or recovery key -> their slots -> passcode root -> the other class keys (`UserKeys`)
struct Keybag: ~Copyable {
  /// Wraps the keys below.
  let root: SecretBytes
  /// What the keys of metadata are derived from.
  let metadata: SecretBytes
  /// Encrypts attributes.
  let attributes: SecretBytes
  /// Hashes what is searched for.
  let search: SecretBytes
  /// Hashes what has to stay the same for as long as the keychain is there (persistent references, names in the log, what
  /// items are bound to); `search` until the first rekeying.
  let names: SecretBytes
  /// Whether `names` is `search`.
  let areNamesSearched: Bool
  /// Encrypts and sums up the registered fingers.
  let biometrySet: SecretBytes
  /// Hashes prints.
  let prints: SecretBytes
  /// Encrypts the lockout record.
  let lockout: SecretBytes
  /// The class key of `ProtectionClass.always`.
  let always: SecretBytes
  /// Stands for the device key in the passcode's slot, so that the passcode alone opens nothing.
  let pepper: SecretBytes

  /// Makes the keys of a new keychain and stores them, wrapped.
  static func create(
    in database: Database, user: UserID, deviceKey: borrowing SecretBytes
  ) throws(KeychainError) {
    let root = try Sealing.newKey()
    try KeybagSlots.write(
      root, kind: .device, key: try slotKey(deviceKey, user: user), in: database, user: user)
    for number in [ClassKeys.metadata, ClassKeys.number(.always)] {
      try ClassKeys.create(number, root: .device, rootKey: root, in: database, user: user)
    }
  }

  /// Unwraps the keys.
  /// - Throws: `.tampered` for another device key or an altered slot; `.unsupported` for what later versions store.
  static func open(
    from database: Database, user: UserID, deviceKey: borrowing SecretBytes
  ) throws(KeychainError) -> Keybag {
    guard let slot = try KeybagSlots.read(from: database)[.device],
      let root = try KeybagSlots.open(slot, key: try slotKey(deviceKey, user: user), user: user)
    else { throw KeybagSlots.tampered(database) }
    return try under(root, pepper: try pepper(deviceKey, user: user), from: database, user: user)
  }

  /// The keys under a device root that is open already.
  static func under(
    _ root: consuming SecretBytes, pepper: consuming SecretBytes, from database: Database, user: UserID
  ) throws(KeychainError) -> Keybag {
    try ClassKeys.check(database)
    let metadata = try ClassKeys.open(ClassKeys.metadata, root: .device, rootKey: root, from: database, user: user)
    let always = try ClassKeys.open(
      ClassKeys.number(.always), root: .device, rootKey: root, from: database, user: user)
    let lasting = try LastingKeys.open(under: root, metadata: metadata, from: database, user: user)
    return try under(root, metadata: metadata, always: always, pepper: pepper, lasting: lasting)
  }

  private static func under(
    _ root: consuming SecretBytes, metadata: consuming SecretBytes, always: consuming SecretBytes,
    pepper: consuming SecretBytes, lasting: borrowing LastingKeys
  ) throws(KeychainError) -> Keybag {
    let attributes = try Sealing.deriveKey(metadata, label: "attributes")
    let search = try Sealing.deriveKey(metadata, label: "search")
    let lockout = try Sealing.deriveKey(metadata, label: "lockout")
    let names = try guarded { () throws(SecretMemoryError) in try lasting.names.clone() }
    let prints = try guarded { () throws(SecretMemoryError) in try lasting.prints.clone() }
    let biometrySet = try guarded { () throws(SecretMemoryError) in try lasting.biometrySet.clone() }
    return Keybag(
      root: root, metadata: metadata, attributes: attributes, search: search, names: names,
      areNamesSearched: !lasting.areStored, biometrySet: biometrySet, prints: prints, lockout: lockout, always: always,
      pepper: pepper)
  }

  /// New keys in the place of these, but for those that last.
  func renewed(always: borrowing SecretBytes) throws(KeychainError) -> Keybag {
    try Self.under(
      try Sealing.newKey(), metadata: try Sealing.newKey(),
      always: try guarded { () throws(SecretMemoryError) in try always.clone() },
      pepper: try guarded { () throws(SecretMemoryError) in try pepper.clone() },
      lasting: LastingKeys(names: names, prints: prints, biometrySet: biometrySet))
  }

  /// The key of the device slot.
  static func slotKey(
    _ deviceKey: borrowing SecretBytes, user: UserID
  ) throws(KeychainError) -> SecretBytes {
    try derive(deviceKey, "keybag-device-slot", user: user)
  }

  /// What stands for the device key in the passcode's slot.
  static func pepper(
    _ deviceKey: borrowing SecretBytes, user: UserID
  ) throws(KeychainError) -> SecretBytes {
    try derive(deviceKey, "keybag-passcode-pepper", user: user)
  }

  private static func derive(
    _ deviceKey: borrowing SecretBytes, _ label: String, user: UserID
  ) throws(KeychainError) -> SecretBytes {
    guard deviceKey.count == Sealing.keyBytes else {
      throw .invalidParameter("the device key has \(deviceKey.count) bytes instead of \(Sealing.keyBytes)")
    }
    return try withUnsafeBytes(of: user.rawValue.littleEndian) { context throws(KeychainError) in
      try Sealing.deriveKey(deviceKey, label: label, context: context)
    }
  }
}
