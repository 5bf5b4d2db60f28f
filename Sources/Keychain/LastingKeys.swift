internal import SecretMemory

/// The keys that a rekeying cannot renew, since what they made is not all in the keychain: apps keep persistent references
/// and the state of the set of fingers, the log keeps names, and prints are known by their hashes alone.
///
/// Until the first rekeying they are derived from the metadata key like the others; from then on they have a row of their
/// own among the class keys, which no version before this one opens.
struct LastingKeys: ~Copyable {
  /// Hashes names: of references, of the log, and those that secrets are bound to.
  let names: SecretBytes
  /// Hashes prints.
  let prints: SecretBytes
  /// Encrypts and sums up the registered fingers and the trusted readers.
  let biometrySet: SecretBytes

  /// Whether they have a row of their own.
  let areStored: Bool

  /// The number of their row among the class keys.
  static let number: Int64 = 64
  private static let count = 3 * Sealing.keyBytes

  init(
    names: borrowing SecretBytes, prints: borrowing SecretBytes, biometrySet: borrowing SecretBytes,
    areStored: Bool = true
  ) throws(KeychainError) {
    let ownNames = try guarded { () throws(SecretMemoryError) in try names.clone() }
    let ownPrints = try guarded { () throws(SecretMemoryError) in try prints.clone() }
    let ownSet = try guarded { () throws(SecretMemoryError) in try biometrySet.clone() }
    self.names = ownNames
    self.prints = ownPrints
    self.biometrySet = ownSet
    self.areStored = areStored
  }

  /// From their row, or from the metadata key where they have none yet.
  /// - Throws: `.tampered` where `root` does not open the row.
  static func open(
    under root: borrowing SecretBytes, metadata: borrowing SecretBytes, from database: Database, user: UserID
  ) throws(KeychainError) -> LastingKeys {
    guard try ClassKeys.exists(number, in: database) else {
      return try LastingKeys(
        names: try Sealing.deriveKey(metadata, label: "search"),
        prints: try Sealing.deriveKey(metadata, label: "prints"),
        biometrySet: try Sealing.deriveKey(metadata, label: "biometry-set"), areStored: false)
    }
    let all = try ClassKeys.open(number, root: .device, rootKey: root, from: database, user: user, count: count)
    func part(_ index: Int) throws(KeychainError) -> SecretBytes {
      try all.withUnsafeBytes { bytes throws(KeychainError) in
        let start = index * Sealing.keyBytes
        return try guarded { () throws(SecretMemoryError) in
          try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[start..<start + Sealing.keyBytes]))
        }
      }
    }
    return try LastingKeys(names: try part(0), prints: try part(1), biometrySet: try part(2))
  }

  /// Stores those of `keys`, wrapped under its root.
  static func store(_ keys: borrowing Keybag, in database: Database, user: UserID) throws(KeychainError) {
    var all = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: count) }
    all.withUnsafeMutableBytes { target in
      func put(_ key: borrowing SecretBytes, _ index: Int) {
        let start = index * Sealing.keyBytes
        key.withUnsafeBytes {
          UnsafeMutableRawBufferPointer(rebasing: target[start..<start + Sealing.keyBytes]).copyMemory(from: $0)
        }
      }
      put(keys.names, 0)
      put(keys.prints, 1)
      put(keys.biometrySet, 2)
    }
    try ClassKeys.store(all, number, root: .device, rootKey: keys.root, in: database, user: user)
  }
}
