internal import SecretMemory

/// The class keys in the database, each wrapped under one of two roots.
enum ClassKeys {
  /// What wraps a class key. The number is part of the file format.
  enum Root: Int64 {
    /// The device root, which the device key opens.
    case device = 1
    /// The passcode root, which takes the passcode or the recovery key.
    case passcode = 2
  }

  /// The number of the key that metadata is encrypted under.
  static let metadata: Int64 = 0
  private static let version: Int64 = 1

  /// The number of a protection class's key.
  static func number(_ protection: ProtectionClass) -> Int64 { Int64(protection.keyClass.rawValue) }

  /// The protection classes whose keys are under the passcode root.
  static let ofPasscode: [ProtectionClass] = [.afterFirstUnlock, .whenUnlocked, .whenPasscodeSet]

  static func create(
    _ number: Int64, root: Root, rootKey: borrowing SecretBytes, in database: Database, user: UserID
  ) throws(KeychainError) {
    try store(try Sealing.newKey(), number, root: root, rootKey: rootKey, in: database, user: user)
  }

  /// Puts a key in the place of the one there was.
  static func store(
    _ key: borrowing SecretBytes, _ number: Int64, root: Root, rootKey: borrowing SecretBytes, in database: Database,
    user: UserID
  ) throws(KeychainError) {
    try database.run(
      "INSERT OR REPLACE INTO class_key(class, version, root, wrapped) VALUES(?, ?, ?, ?)",
      [
        .integer(number), .integer(version), .integer(root.rawValue),
        .blob(Sealing.seal(key, key: rootKey, associatedData: associatedData(number, root, user: user))),
      ])
  }

  /// Throws where there is a class key that no version up to this one has.
  static func check(_ database: Database) throws(KeychainError) {
    try database.rows("SELECT class, version, root FROM class_key") { (row) throws(KeychainError) in
      guard let number = row.integer(0), let version = row.integer(1), let root = row.integer(2) else {
        throw .tampered("the class keys in \(database.path)")
      }
      guard version == Self.version else {
        throw .unsupported("a class key of version \(version) in \(database.path)")
      }
      let expected: Root? =
        if number == metadata || number == Self.number(.always) || number == LastingKeys.number { .device } else {
          ofPasscode.contains { Self.number($0) == number } ? .passcode : nil
        }
      guard let expected else { throw .unsupported("the class key of number \(number) in \(database.path)") }
      guard root == expected.rawValue else {
        throw .unsupported("a class key under root \(root) in \(database.path)")
      }
      return true
    }
  }

  static func exists(_ number: Int64, in database: Database) throws(KeychainError) -> Bool {
    try database.number("SELECT count(*) FROM class_key WHERE class = ?", [.integer(number)]) != 0
  }

  static func remove(_ number: Int64, from database: Database) throws(KeychainError) {
    try database.run("DELETE FROM class_key WHERE class = ?", [.integer(number)])
  }

  /// - Throws: `.tampered` where it is missing or the root does not open it.
  static func open(
    _ number: Int64, root: Root, rootKey: borrowing SecretBytes, from database: Database, user: UserID,
    count: Int = Sealing.keyBytes
  ) throws(KeychainError) -> SecretBytes {
    guard let wrapped = try database.blob("SELECT wrapped FROM class_key WHERE class = ?", [.integer(number)]),
      let key = try Sealing.open(wrapped, key: rootKey, associatedData: associatedData(number, root, user: user)),
      key.count == count
    else { throw .tampered("a class key in \(database.path)") }
    return key
  }

  static func associatedData(_ number: Int64, _ root: Root, user: UserID) -> ByteWriter {
    var data = Purpose.classKey.associatedData(of: user)
    data.write(number)
    data.write(version)
    data.write(root.rawValue)
    return data
  }
}
