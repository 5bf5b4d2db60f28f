internal import SecretMemory

/// The trusted readers in the database: one encrypted row each, and a record of all of them together, so that one that
/// was added, removed or put back from outside is noticed. Without rows and without a record none is trusted.
///
/// The record is 41 bytes, encrypted: version, generation, digest of the rows.
enum TrustedReaderStore {
  private static let rowVersion: Int64 = 1
  private static let recordVersion: UInt8 = 1
  private static let recordName = "trusted-readers"
  /// More than anyone has; bounds what a hostile file costs.
  static let maximum = 64

  /// What is stored.
  struct Contents {
    /// In the order in which they were trusted.
    var readers: [TrustedReader] = []
    /// Grows with each change; 0 where there never was one.
    var generation: UInt64 = 0
  }

  /// - Throws: `.tampered` where a row or the record is missing, altered or not of this set.
  static func read(
    from database: Database, user: UserID, keys: borrowing Keybag
  ) throws(KeychainError) -> Contents {
    let key = try key(keys)
    var contents = Contents()
    try database.rows("SELECT number, version, id, sealed FROM trusted_reader ORDER BY number") {
      (row) throws(KeychainError) in
      guard let number = row.integer(0), let version = row.integer(1), let id = row.blob(2), let sealed = row.blob(3),
        contents.readers.count < maximum
      else { throw altered(database) }
      guard version == rowVersion else {
        throw .unsupported("a trusted reader of version \(version) in \(database.path)")
      }
      guard let plain = try Sealing.open(sealed, key: key, associatedData: rowData(number, id: id, user: user)),
        let reader = plain.withUnsafeBytes({ decode($0, id: id) })
      else { throw altered(database) }
      contents.readers.append(reader)
      return true
    }
    guard let (generation, stored) = try record(from: database, user: user, key: key) else {
      // As in a new keychain, or one from before readers were trusted.
      guard contents.readers.isEmpty else { throw altered(database) }
      return contents
    }
    guard Sealing.constantTimeEqual(stored, digest(of: contents.readers, generation, key: key)) else {
      throw altered(database)
    }
    contents.generation = generation
    return contents
  }

  /// Puts `readers` in the place of the stored ones.
  static func replace(
    with readers: [TrustedReader], after generation: UInt64, in database: Database, user: UserID,
    keys: borrowing Keybag
  ) throws(KeychainError) {
    guard readers.count <= maximum else {
      throw .invalidParameter("\(maximum) readers are trusted already; distrust some first")
    }
    let key = try key(keys)
    try database.run("DELETE FROM trusted_reader")
    var number = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'trusted_reader'") ?? 0
    guard number >= 0, number < .max - Int64(maximum) else { throw altered(database) }
    for reader in readers {
      number += 1
      let sealed = encode(reader).withUnsafeBytes {
        Sealing.seal($0, key: key, associatedData: rowData(number, id: reader.id, user: user))
      }
      try database.run(
        "INSERT INTO trusted_reader(number, version, id, sealed) VALUES(?, ?, ?, ?)",
        [.integer(number), .integer(rowVersion), .blob(reader.id), .blob(sealed)])
    }
    let next = generation &+ 1
    var writer = ByteWriter()
    writer.write(recordVersion)
    writer.write(next)
    writer.write(digest(of: readers, next, key: key))
    let sealed = writer.bytes.withUnsafeBytes {
      Sealing.seal($0, key: key, associatedData: Purpose.trustedReaders.associatedData(of: user))
    }
    try database.setRecord(recordName, sealed)
  }

  private static func record(
    from database: Database, user: UserID, key: borrowing SecretBytes
  ) throws(KeychainError) -> (generation: UInt64, digest: [UInt8])? {
    guard let sealed = try database.record(recordName) else { return nil }
    guard
      let plain = try Sealing.open(
        sealed, key: key, associatedData: Purpose.trustedReaders.associatedData(of: user)),
      let found = plain.withUnsafeBytes({ source -> (UInt64, [UInt8])? in
        var reader = ByteReader(source)
        guard reader.number(UInt8.self) == recordVersion, let generation = reader.number(UInt64.self),
          let digest = reader.field(), reader.isAtEnd
        else { return nil }
        return (generation, digest)
      })
    else { throw altered(database) }
    return found
  }

  /// A key of its own, from one that the metadata key gives.
  private static func key(_ keys: borrowing Keybag) throws(KeychainError) -> SecretBytes {
    try Sealing.deriveKey(keys.biometrySet, label: "trusted-readers")
  }

  private static func altered(_ database: Database) -> KeychainError {
    .tampered("the list of trusted readers in \(database.path)")
  }

  private static func digest(
    of readers: [TrustedReader], _ generation: UInt64, key: borrowing SecretBytes
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.write("trusted-readers".utf8)
    writer.write(generation)
    for reader in readers { writer.write(encode(reader)) }
    return Sealing.keyedHash(writer.bytes, key: key)
  }

  private static func rowData(_ number: Int64, id: [UInt8], user: UserID) -> ByteWriter {
    var data = Purpose.trustedReader.associatedData(of: user)
    data.write(number)
    data.write(rowVersion)
    data.write(id)
    return data
  }

  private static func encode(_ reader: TrustedReader) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(reader.trustedAt)
    writer.write(reader.name.utf8)
    writer.write(reader.place.encoded)
    writer.write(reader.id)
    return writer.bytes
  }

  private static func decode(_ source: UnsafeRawBufferPointer, id: [UInt8]) -> TrustedReader? {
    var reader = ByteReader(source)
    guard let trustedAt = reader.number(Int64.self), let rawName = reader.field(),
      let name = String(validating: rawName, as: UTF8.self), let form = reader.field(),
      let place = form.withUnsafeBytes({ ReaderPlace(encoded: $0) }), reader.field() == id, reader.isAtEnd
    else { return nil }
    return TrustedReader(id: id, place: place, name: name, trustedAt: trustedAt)
  }
}

extension ReaderPlace {
  fileprivate init?(encoded source: UnsafeRawBufferPointer) {
    var reader = ByteReader(source)
    var texts: [String] = []
    for _ in 0..<4 {
      guard let field = reader.field(), let text = String(validating: field, as: UTF8.self) else { return nil }
      texts.append(text)
    }
    guard let raw = reader.number(UInt8.self), let attachment = Attachment(rawValue: raw), reader.isAtEnd else {
      return nil
    }
    self.init(driver: texts[0], deviceID: texts[1], path: texts[2], hardware: texts[3], attachment: attachment)
  }
}
