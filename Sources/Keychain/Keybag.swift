internal import SecretMemory

/// The keys of one user's keychain, in memory.
///
/// device key -> keybag slot -> root key -> class keys (one for the metadata, one for each protection class).
struct Keybag: ~Copyable {
  /// Encrypts attributes.
  let attributes: SecretBytes
  /// Hashes what is searched for.
  let search: SecretBytes
  /// Encrypts and sums up the registered fingers.
  let biometrySet: SecretBytes
  /// Hashes prints.
  let prints: SecretBytes
  /// Encrypts the lockout record.
  let lockout: SecretBytes
  /// The class key of `ProtectionClass.always`.
  let always: SecretBytes

  private static let slotVersion: Int64 = 1
  private static let keyVersion: Int64 = 1
  private static let metadataClass: Int64 = 0

  /// What can open a slot. The number is part of the file format.
  private enum SlotKind: Int64 {
    case device = 1
    case passcode = 2
    case recovery = 3

    var name: String {
      switch self {
      case .device: "device"
      case .passcode: "passcode"
      case .recovery: "recovery"
      }
    }
  }

  /// Makes the keys of a new keychain and stores them, wrapped.
  static func create(
    in database: Database, user: UserID, deviceKey: borrowing SecretBytes
  ) throws(KeychainError) {
    let root = try Sealing.newKey()
    let wrapped = Sealing.seal(
      root, key: try slotKey(deviceKey, user: user), associatedData: slotData(1, user: user, kind: .device))
    try database.run(
      "INSERT INTO keybag(slot, kind, version, parameters, wrapped) VALUES(1, ?, ?, NULL, ?)",
      [.integer(SlotKind.device.rawValue), .integer(slotVersion), .blob(wrapped)])
    for number in [metadataClass, Int64(ProtectionClass.always.rawValue)] {
      let key = try Sealing.newKey()
      try database.run(
        "INSERT INTO class_key(class, version, root, wrapped) VALUES(?, ?, ?, ?)",
        [
          .integer(number), .integer(keyVersion), .integer(SlotKind.device.rawValue),
          .blob(Sealing.seal(key, key: root, associatedData: classData(number, user: user, root: .device))),
        ])
    }
  }

  /// Unwraps the keys.
  /// - Throws: `.tampered` for another device key or an altered slot; `.unsupported` for what later versions store.
  static func open(
    from database: Database, user: UserID, deviceKey: borrowing SecretBytes
  ) throws(KeychainError) -> Keybag {
    let root = try Self.rootKey(from: database, user: user, deviceKey: deviceKey)
    var wrapped: [Int64: [UInt8]] = [:]
    try database.rows("SELECT class, version, root, wrapped FROM class_key") { (row) throws(KeychainError) in
      guard let number = row.integer(0), let version = row.integer(1), let root = row.integer(2), let key = row.blob(3)
      else { throw .tampered("the class keys in \(database.path)") }
      guard number == Self.metadataClass || number == Int64(ProtectionClass.always.rawValue) else {
        let name = UInt8(exactly: number).flatMap(ProtectionClass.init(rawValue:))?.name ?? "of number \(number)"
        throw .unsupported("the class key \(name) in \(database.path)")
      }
      guard version == Self.keyVersion else {
        throw .unsupported("a class key of version \(version) in \(database.path)")
      }
      guard root == SlotKind.device.rawValue else {
        throw .unsupported("a class key under root \(root) in \(database.path)")
      }
      wrapped[number] = key
      return true
    }
    func unwrap(_ number: Int64) throws(KeychainError) -> SecretBytes {
      guard let sealed = wrapped[number],
        let key = try Sealing.open(
          sealed, key: root, associatedData: Self.classData(number, user: user, root: .device)),
        key.count == Sealing.keyBytes
      else { throw .tampered("a class key in \(database.path)") }
      return key
    }
    let metadata = try unwrap(Self.metadataClass)
    return Keybag(
      attributes: try Sealing.deriveKey(metadata, label: "attributes"),
      search: try Sealing.deriveKey(metadata, label: "search"),
      biometrySet: try Sealing.deriveKey(metadata, label: "biometry-set"),
      prints: try Sealing.deriveKey(metadata, label: "prints"),
      lockout: try Sealing.deriveKey(metadata, label: "lockout"),
      always: try unwrap(Int64(ProtectionClass.always.rawValue)))
  }

  private static func rootKey(
    from database: Database, user: UserID, deviceKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    var slot: (number: Int64, wrapped: [UInt8])?
    try database.rows("SELECT slot, kind, version, wrapped, parameters FROM keybag") { (row) throws(KeychainError) in
      guard let number = row.integer(0), let kind = row.integer(1), let version = row.integer(2),
        let wrapped = row.blob(3), slot == nil
      else { throw .tampered("the keybag in \(database.path)") }
      guard kind == SlotKind.device.rawValue else {
        let name = SlotKind(rawValue: kind)?.name ?? "number \(kind)"
        throw .unsupported("a keybag slot of kind \(name) in \(database.path)")
      }
      guard version == slotVersion else {
        throw .unsupported("a keybag slot of version \(version) in \(database.path)")
      }
      // A device slot has none.
      guard row.isNull(4) else { throw .tampered("the keybag in \(database.path)") }
      slot = (number, wrapped)
      return true
    }
    guard let slot,
      let root = try Sealing.open(
        slot.wrapped, key: try slotKey(deviceKey, user: user),
        associatedData: slotData(slot.number, user: user, kind: .device)),
      root.count == Sealing.keyBytes
    else { throw .tampered("the keybag in \(database.path)") }
    return root
  }

  private static func slotKey(
    _ deviceKey: borrowing SecretBytes, user: UserID
  ) throws(KeychainError) -> SecretBytes {
    guard deviceKey.count == Sealing.keyBytes else {
      throw .invalidParameter("the device key has \(deviceKey.count) bytes instead of \(Sealing.keyBytes)")
    }
    return try withUnsafeBytes(of: user.rawValue.littleEndian) { context throws(KeychainError) in
      try Sealing.deriveKey(deviceKey, label: "keybag-device-slot", context: context)
    }
  }

  private static func slotData(_ slot: Int64, user: UserID, kind: SlotKind) -> ByteWriter {
    var data = Purpose.keybagSlot.associatedData(of: user)
    data.write(slot)
    data.write(kind.rawValue)
    data.write(slotVersion)
    return data
  }

  private static func classData(_ number: Int64, user: UserID, root: SlotKind) -> ByteWriter {
    var data = Purpose.classKey.associatedData(of: user)
    data.write(number)
    data.write(keyVersion)
    data.write(root.rawValue)
    return data
  }
}
