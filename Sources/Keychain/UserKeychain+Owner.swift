internal import SecretMemory

/// The account that a keychain was made for: a uid can be given to another account later, a keychain cannot.
extension UserKeychain {
  private static let ownerName = "owner"

  /// The name of the account that the keychain belongs to; empty for an account without a name, nil where none was
  /// recorded yet (a keychain of an early version).
  /// - Throws: `.tampered` where the record was altered; what reading can meet.
  public func owner() throws(KeychainError) -> String? {
    try Self.owner(in: database, user: user, attributesKey: keys.attributes)
  }

  static func owner(
    in database: Database, user: UserID, attributesKey: borrowing SecretBytes
  ) throws(KeychainError) -> String? {
    guard let sealed = try database.record(ownerName) else { return nil }
    guard
      let plain = try Sealing.open(
        sealed, key: attributesKey, associatedData: Purpose.owner.associatedData(of: user)),
      let name = plain.withUnsafeBytes({ String(validating: $0, as: UTF8.self) })
    else { throw .tampered("the owner's name in \(database.path)") }
    return name
  }

  /// Records the account that the keychain belongs to, in place of another; on the disk when this returns.
  /// - Parameter name: empty for an account without a name.
  public func setOwner(_ name: String) throws(KeychainError) {
    try database.write { () throws(KeychainError) in
      try Self.write(owner: name, in: database, user: user, attributesKey: keys.attributes)
    }
  }

  static func write(
    owner name: String, in database: Database, user: UserID, attributesKey: borrowing SecretBytes
  ) throws(KeychainError) {
    let sealed = Array(name.utf8).withUnsafeBytes {
      Sealing.seal($0, key: attributesKey, associatedData: Purpose.owner.associatedData(of: user))
    }
    try database.setRecord(ownerName, sealed)
  }

  /// How many items there are, readable or not, invalidated ones too.
  public func itemCount() throws(KeychainError) -> Int {
    Int(try database.number("SELECT count(*) FROM item") ?? 0)
  }
}
