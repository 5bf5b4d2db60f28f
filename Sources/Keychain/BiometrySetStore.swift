internal import SecretMemory

/// The registered fingers and the record that vouches for them.
struct BiometrySet: ~Copyable {
  /// In the order of their enrolment.
  let members: [BiometrySetMember]
  let record: BiometrySetRecord
}

/// The registered fingers in the database: one encrypted row each, and the record of the set as a whole.
enum BiometrySetStore {
  private static let memberVersion: Int64 = 1
  private static let setName = "biometry-set"
  /// Ten fingers on each of more readers than anyone has; bounds what a hostile file costs.
  static let maximumMembers = 640

  static func create(in database: Database, user: UserID, keys: borrowing Keybag) throws(KeychainError) {
    try write(
      BiometrySetRecord(generation: 1, digest: digest(of: [], key: keys.biometrySet)), in: database, user: user,
      keys: keys)
  }

  /// - Throws: `.tampered` where a member or the record is missing, altered or not of this set.
  static func read(
    from database: Database, user: UserID, keys: borrowing Keybag
  ) throws(KeychainError) -> BiometrySet {
    var members: [BiometrySetMember] = []
    var encoded: [[UInt8]] = []
    try database.rows("SELECT number, version, id, sealed FROM biometry_member ORDER BY number") {
      (row) throws(KeychainError) in
      guard let number = row.integer(0), let version = row.integer(1), let id = row.blob(2), let sealed = row.blob(3),
        members.count < maximumMembers
      else { throw altered(database) }
      guard version == memberVersion else {
        throw .unsupported("a registered finger of version \(version) in \(database.path)")
      }
      guard
        let plain = try Sealing.open(
          sealed, key: keys.biometrySet, associatedData: memberData(number, id: id, user: user)),
        let member = plain.withUnsafeBytes({ decode($0, id: id) })
      else { throw altered(database) }
      members.append(member)
      encoded.append(encode(member))
      return true
    }
    guard let record = try record(from: database, user: user, keys: keys),
      Sealing.constantTimeEqual(record.digest, digest(of: encoded, key: keys.biometrySet))
    else { throw altered(database) }
    return BiometrySet(members: members, record: record)
  }

  /// Puts `members` in the place of the stored ones, under a record of the next generation.
  static func replace(
    with members: [BiometrySetMember], after generation: UInt64, in database: Database, user: UserID,
    keys: borrowing Keybag
  ) throws(KeychainError) {
    guard members.count <= maximumMembers else {
      throw .invalidParameter("\(maximumMembers) fingers are registered already; delete some first")
    }
    try database.run("DELETE FROM biometry_member")
    var number = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'biometry_member'") ?? 0
    guard number >= 0, number < .max - Int64(maximumMembers) else { throw altered(database) }
    for member in members {
      number += 1
      let sealed = encode(member).withUnsafeBytes {
        Sealing.seal($0, key: keys.biometrySet, associatedData: memberData(number, id: member.id, user: user))
      }
      try database.run(
        "INSERT INTO biometry_member(number, version, id, sealed) VALUES(?, ?, ?, ?)",
        [.integer(number), .integer(memberVersion), .blob(member.id), .blob(sealed)])
    }
    try write(
      BiometrySetRecord(
        generation: generation &+ 1, digest: digest(of: members.map(encode), key: keys.biometrySet)),
      in: database, user: user, keys: keys)
  }

  /// The stored generation, or a random one where the record is lost, so that the domain state is new all the same.
  static func generation(
    in database: Database, user: UserID, keys: borrowing Keybag
  ) throws(KeychainError) -> UInt64 {
    guard let record = try record(from: database, user: user, keys: keys) else {
      return UInt64.random(in: 1 << 32...1 << 62)
    }
    return record.generation
  }

  private static func record(
    from database: Database, user: UserID, keys: borrowing Keybag
  ) throws(KeychainError) -> BiometrySetRecord? {
    guard let sealed = try database.record(setName) else { return nil }
    return try BiometrySetRecord(sealed: sealed, key: keys.biometrySet, user: user)
  }

  private static func write(
    _ record: borrowing BiometrySetRecord, in database: Database, user: UserID, keys: borrowing Keybag
  ) throws(KeychainError) {
    try database.setRecord(setName, record.sealed(key: keys.biometrySet, user: user))
  }

  private static func altered(_ database: Database) -> KeychainError {
    .tampered("the set of registered fingers in \(database.path)")
  }

  static func digest(of members: [[UInt8]], key: borrowing SecretBytes) -> [UInt8] {
    var writer = ByteWriter()
    writer.write("members".utf8)
    for member in members { writer.write(member) }
    return Sealing.keyedHash(writer.bytes, key: key)
  }

  static func memberData(_ number: Int64, id: [UInt8], user: UserID) -> ByteWriter {
    var data = Purpose.biometryMember.associatedData(of: user)
    data.write(number)
    data.write(memberVersion)
    data.write(id)
    return data
  }

  static func encode(_ member: BiometrySetMember) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(member.finger)
    writer.write(member.enrolledAt)
    writer.write(member.printDigest)
    writer.write(member.reader.utf8)
    writer.write(member.id)
    return writer.bytes
  }

  static func decode(_ source: UnsafeRawBufferPointer, id: [UInt8]) -> BiometrySetMember? {
    var reader = ByteReader(source)
    guard let finger = reader.number(UInt8.self), let enrolledAt = reader.number(Int64.self),
      let printDigest = reader.field(), let name = reader.field(),
      let readerName = String(validating: name, as: UTF8.self), reader.field() == id, reader.isAtEnd
    else { return nil }
    return BiometrySetMember(
      id: id, finger: finger, reader: readerName, printDigest: printDigest, enrolledAt: enrolledAt)
  }
}
