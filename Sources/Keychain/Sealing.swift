internal import CSodium
internal import SecretMemory

/// The version of the byte forms and of the encryption; every ciphertext is bound to it.
let formatVersion: UInt8 = 1

/// What a ciphertext is for; one made for one purpose opens for no other.
enum Purpose: String {
  case keybagSlot = "keybag-slot"
  case classKey = "class-key"
  case itemAttributes = "item-attributes"
  case itemKey = "item-key"
  /// The inner wrapping of an item key, by a program's own password.
  case programItemKey = "program-item-key"
  case itemSecret = "item-secret"
  case biometryMember = "biometry-member"
  case biometrySet = "biometry-set"
  case lockout = "lockout"
  case owner = "owner"
  case trustedReader = "trusted-reader"
  case trustedReaders = "trusted-readers"

  /// The associated data of a ciphertext of this purpose and user; the caller adds what else it is bound to.
  func associatedData(of user: UserID) -> ByteWriter {
    var data = ByteWriter()
    data.write("whorl".utf8)
    data.write(formatVersion)
    data.write(rawValue.utf8)
    data.write(user.rawValue)
    return data
  }
}

/// The three things done with keys: encryption with associated data (XChaCha20-Poly1305), derivation of keys and
/// keyed hashes (BLAKE2b). All keys have 32 bytes.
enum Sealing {
  static let keyBytes = 32
  private static let nonceBytes = Int(crypto_aead_xchacha20poly1305_IETF_NPUBBYTES)
  private static let tagBytes = Int(crypto_aead_xchacha20poly1305_IETF_ABYTES)

  /// A fresh key.
  static func newKey() throws(KeychainError) -> SecretBytes {
    try guarded { () throws(SecretMemoryError) in try SecretBytes.random(count: keyBytes) }
  }

  /// `plain` encrypted under `key` with a random nonce, which stands before the ciphertext.
  static func seal(
    _ plain: borrowing SecretBytes, key: borrowing SecretBytes, associatedData: ByteWriter
  ) -> [UInt8] {
    plain.withUnsafeBytes { seal($0, key: key, associatedData: associatedData) }
  }

  static func seal(
    _ plain: UnsafeRawBufferPointer, key: borrowing SecretBytes, associatedData: ByteWriter
  ) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: nonceBytes + plain.count + tagBytes)
    let data = associatedData.bytes
    let source = plain.baseAddress?.assumingMemoryBound(to: UInt8.self)
    key.withUnsafeBytes { keyBytes in
      sealed.withUnsafeMutableBufferPointer { target in
        guard let start = target.baseAddress, let rawKey = keyBytes.bindMemory(to: UInt8.self).baseAddress else {
          return
        }
        randombytes_buf(start, nonceBytes)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
          start + nonceBytes, nil, source, UInt64(plain.count), data, UInt64(data.count), nil, start, rawKey)
      }
    }
    return sealed
  }

  /// What `seal` encrypted; nil where key, associated data or a byte of it is another.
  static func open(
    _ sealed: [UInt8], key: borrowing SecretBytes, associatedData: ByteWriter
  ) throws(KeychainError) -> SecretBytes? {
    let count = sealed.count - nonceBytes - tagBytes
    guard count >= 0 else { return nil }
    var plain = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: count) }
    let data = associatedData.bytes
    let isGenuine = plain.withUnsafeMutableBytes { target in
      key.withUnsafeBytes { keyBytes in
        sealed.withUnsafeBufferPointer { source in
          guard let start = source.baseAddress, let rawKey = keyBytes.bindMemory(to: UInt8.self).baseAddress else {
            return false
          }
          return crypto_aead_xchacha20poly1305_ietf_decrypt(
            target.bindMemory(to: UInt8.self).baseAddress, nil, nil, start + nonceBytes,
            UInt64(source.count - nonceBytes), data, UInt64(data.count), start, rawKey) == 0
        }
      }
    }
    guard isGenuine else { return nil }
    return plain
  }

  /// The key that belongs to `label` and `context` under `parent`.
  static func deriveKey(
    _ parent: borrowing SecretBytes, label: String, context: UnsafeRawBufferPointer = .init(start: nil, count: 0)
  ) throws(KeychainError) -> SecretBytes {
    var prefix = ByteWriter()
    prefix.write("whorl key".utf8)
    prefix.write(formatVersion)
    prefix.write(label.utf8)
    let head = prefix.bytes
    // The context may be secret, so that it is joined to the label in guarded memory.
    var input = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: head.count + context.count) }
    input.withUnsafeMutableBytes { target in
      target.copyBytes(from: head)
      UnsafeMutableRawBufferPointer(rebasing: target[head.count...]).copyMemory(from: context)
    }
    var key = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: keyBytes) }
    key.withUnsafeMutableBytes { target in
      input.withUnsafeBytes { source in hash(source, key: parent, into: target) }
    }
    return key
  }

  /// A hash of `bytes` that only the holder of `key` can make or check.
  static func keyedHash(_ bytes: [UInt8], key: borrowing SecretBytes, count: Int = 32) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    result.withUnsafeMutableBytes { target in
      bytes.withUnsafeBytes { source in hash(source, key: key, into: target) }
    }
    return result
  }

  private static func hash(
    _ source: UnsafeRawBufferPointer, key: borrowing SecretBytes, into target: UnsafeMutableRawBufferPointer
  ) {
    key.withUnsafeBytes { rawKey in
      guard let result = target.bindMemory(to: UInt8.self).baseAddress else { return }
      _ = crypto_generichash(
        result, target.count,
        source.bindMemory(to: UInt8.self).baseAddress, UInt64(source.count),
        rawKey.bindMemory(to: UInt8.self).baseAddress, rawKey.count)
    }
  }

  /// Whether both are the same, in a time that depends on their lengths alone.
  static func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && sodium_memcmp(left, right, left.count) == 0
  }

  /// `count` random bytes that are no secret.
  static func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
  }
}

/// Runs `body`, its errors as the keychain's.
func guarded<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(KeychainError) -> R {
  do throws(SecretMemoryError) {
    return try body()
  } catch {
    throw .memory(error)
  }
}
