internal import SecretMemory

/// The set of registered fingers as a whole: what makes a member that was added, removed or put back from outside
/// visible, and what the keys of items bound to the set depend on.
///
/// 73 bytes, encrypted: version, generation, digest of the members, and a random epoch that is new with each change.
/// To revive an item one would have to put back this record, the members and the item, all from before the change.
struct BiometrySetRecord: ~Copyable {
  private static let version: UInt8 = 1
  private static let count = 73

  let generation: UInt64
  let digest: [UInt8]
  /// The whole record; bytes 9 to 72 (digest and epoch) go into the items' keys.
  private let bytes: SecretBytes

  /// The record of the next generation, over members of that digest.
  init(generation: UInt64, digest: [UInt8]) throws(KeychainError) {
    let epoch = try Sealing.newKey()
    var bytes = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: Self.count) }
    bytes.withUnsafeMutableBytes { target in
      target[0] = Self.version
      target.storeBytes(of: generation.littleEndian, toByteOffset: 1, as: UInt64.self)
      UnsafeMutableRawBufferPointer(rebasing: target[9..<41]).copyBytes(from: digest.prefix(32))
      epoch.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[41..<73]).copyMemory(from: $0) }
    }
    self.generation = generation
    self.digest = digest
    self.bytes = bytes
  }

  /// nil where it was altered.
  init?(sealed: [UInt8], key: borrowing SecretBytes, user: UserID) throws(KeychainError) {
    guard
      let bytes = try Sealing.open(
        sealed, key: key, associatedData: Purpose.biometrySet.associatedData(of: user)),
      bytes.count == Self.count
    else { return nil }
    let (version, generation, digest) = bytes.withUnsafeBytes { source in
      (source[0], source.loadUnaligned(fromByteOffset: 1, as: UInt64.self), Array(source[9..<41]))
    }
    guard version == Self.version else { return nil }
    self.generation = UInt64(littleEndian: generation)
    self.digest = digest
    self.bytes = bytes
  }

  func sealed(key: borrowing SecretBytes, user: UserID) -> [UInt8] {
    Sealing.seal(bytes, key: key, associatedData: Purpose.biometrySet.associatedData(of: user))
  }

  /// The key that wraps the keys of items bound to the set as it is now.
  func wrappingKey(under classKey: borrowing SecretBytes) throws(KeychainError) -> SecretBytes {
    try bytes.withUnsafeBytes { source throws(KeychainError) in
      try Sealing.deriveKey(
        classKey, label: "item-key biometry-current-set", context: UnsafeRawBufferPointer(rebasing: source[9...]))
    }
  }
}
