internal import SecretMemory

/// What can open a keybag slot. The number is part of the file format.
enum SlotKind: Int64, CaseIterable {
  /// The device key opens the device root.
  case device = 1
  /// The stretched passcode, together with the device key, opens the passcode root.
  case passcode = 2
  /// The recovery key opens the passcode root.
  case recovery = 3
  /// The recovery key opens the device root, for when the device key is lost.
  case recoveryOfDevice = 4
  /// The stretched passcode alone opens the device root and what stands for the device key in the passcode's slot: where
  /// the device key is sealed to a TPM that may refuse it one day.
  case rescue = 5

  var name: String {
    switch self {
    case .device: "device"
    case .passcode: "passcode"
    case .recovery: "recovery"
    case .recoveryOfDevice: "recovery of the device key"
    case .rescue: "rescue"
    }
  }

  /// Whether it has stretching parameters.
  var isStretched: Bool { self == .passcode || self == .rescue }
}

/// One slot as it stands in the file.
struct KeybagSlot {
  let number: Int64
  let kind: SlotKind
  let parameters: StretchingParameters?
  let wrapped: [UInt8]
}

/// The slots of a keybag in the database: one of each kind at most.
enum KeybagSlots {
  private static let version: Int64 = 1

  /// - Throws: `.tampered`; `.unsupported` for kinds and versions of later versions.
  static func read(from database: Database) throws(KeychainError) -> [SlotKind: KeybagSlot] {
    var slots: [SlotKind: KeybagSlot] = [:]
    try database.rows("SELECT slot, kind, version, wrapped, parameters FROM keybag") { (row) throws(KeychainError) in
      guard let number = row.integer(0), let kindNumber = row.integer(1), let version = row.integer(2),
        let wrapped = row.blob(3)
      else { throw tampered(database) }
      guard let kind = SlotKind(rawValue: kindNumber) else {
        throw .unsupported("a keybag slot of kind number \(kindNumber) in \(database.path)")
      }
      guard version == Self.version else {
        throw .unsupported("a keybag slot of version \(version) in \(database.path)")
      }
      let parameters = row.blob(4).flatMap { StretchingParameters($0) }
      guard slots[kind] == nil, kind.isStretched ? parameters != nil : row.isNull(4) else { throw tampered(database) }
      slots[kind] = KeybagSlot(number: number, kind: kind, parameters: parameters, wrapped: wrapped)
      return true
    }
    return slots
  }

  /// Puts `secret` into the slot of that kind, in the place of what was in it.
  static func write(
    _ secret: borrowing SecretBytes, kind: SlotKind, key: borrowing SecretBytes,
    parameters: StretchingParameters? = nil, in database: Database, user: UserID
  ) throws(KeychainError) {
    try remove(kind, from: database)
    // The number of the kind is as good as any.
    let number = kind.rawValue
    let wrapped = Sealing.seal(
      secret, key: key, associatedData: associatedData(number, kind, parameters, user: user))
    try database.run(
      "INSERT INTO keybag(slot, kind, version, parameters, wrapped) VALUES(?, ?, ?, ?, ?)",
      [
        .integer(number), .integer(kind.rawValue), .integer(version), .blobOrNull(parameters?.bytes), .blob(wrapped),
      ])
  }

  static func remove(_ kind: SlotKind, from database: Database) throws(KeychainError) {
    try database.run("DELETE FROM keybag WHERE kind = ?", [.integer(kind.rawValue)])
  }

  /// What the slot holds; nil where that key does not open it.
  static func open(
    _ slot: KeybagSlot, key: borrowing SecretBytes, user: UserID, count: Int = Sealing.keyBytes
  ) throws(KeychainError) -> SecretBytes? {
    guard
      let secret = try Sealing.open(
        slot.wrapped, key: key, associatedData: associatedData(slot.number, slot.kind, slot.parameters, user: user)),
      secret.count == count
    else { return nil }
    return secret
  }

  static func tampered(_ database: Database) -> KeychainError { .tampered("the keybag in \(database.path)") }

  private static func associatedData(
    _ number: Int64, _ kind: SlotKind, _ parameters: StretchingParameters?, user: UserID
  ) -> ByteWriter {
    var data = Purpose.keybagSlot.associatedData(of: user)
    data.write(number)
    data.write(kind.rawValue)
    data.write(version)
    if let parameters { data.write(parameters.bytes) }
    return data
  }
}
