internal import SecretMemory

/// The lockout record in the database.
enum LockoutStore {
  private static let version: Int64 = 1

  static func write(
    _ record: LockoutRecord, in database: Database, user: UserID, key: borrowing SecretBytes
  ) throws(KeychainError) {
    guard (0...255).contains(record.misses), (0...255).contains(record.passcodeFailures),
      record.passcodeNotBefore >= 0, record.passcodeNotBeforeSinceBoot >= 0,
      record.bootID.isEmpty || record.bootID.count == 16
    else { throw .invalidParameter("the lockout record has a number out of its range") }
    var writer = ByteWriter()
    writer.write(UInt8(record.misses))
    writer.write(UInt8(record.passcodeFailures))
    writer.write(record.passcodeNotBefore)
    writer.write(record.passcodeNotBeforeSinceBoot)
    writer.write(record.bootID)
    let sealed = writer.bytes.withUnsafeBytes {
      Sealing.seal($0, key: key, associatedData: Purpose.lockout.associatedData(of: user))
    }
    try database.run(
      "INSERT OR REPLACE INTO lockout(id, version, sealed) VALUES(1, ?, ?)", [.integer(version), .blob(sealed)])
  }

  /// nil where the record is missing or was altered.
  static func read(
    from database: Database, user: UserID, key: borrowing SecretBytes
  ) throws(KeychainError) -> LockoutRecord? {
    var sealed: [UInt8]?
    try database.rows("SELECT version, sealed FROM lockout WHERE id = 1") { (row) throws(KeychainError) in
      if row.integer(0) == version { sealed = row.blob(1) }
      return false
    }
    guard let sealed,
      let plain = try Sealing.open(sealed, key: key, associatedData: Purpose.lockout.associatedData(of: user))
    else { return nil }
    return plain.withUnsafeBytes { source in
      var reader = ByteReader(source)
      guard let misses = reader.number(UInt8.self), let failures = reader.number(UInt8.self),
        let notBefore = reader.number(Int64.self), let sinceBoot = reader.number(Int64.self),
        let bootID = reader.field(), reader.isAtEnd
      else { return nil }
      return LockoutRecord(
        misses: Int(misses), passcodeFailures: Int(failures), passcodeNotBefore: notBefore, bootID: bootID,
        passcodeNotBeforeSinceBoot: sinceBoot)
    }
  }
}
