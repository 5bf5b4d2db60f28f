internal import KeyPairs
internal import SecretMemory

/// The bytes of a key outside: what SecKeyCopyExternalRepresentation gives and SecKeyCreateWithData takes.
///
/// P-256 as on Apple's systems: ANSI X9.63, 04 || X || Y (65 bytes) for the public half, with the scalar behind it
/// (97 bytes) for the private one. Ed25519, by RFC 8032: the encoded point, or the seed, 32 bytes each.
enum ExternalForm {
  /// How many bytes a private key has.
  static func privateBytes(_ type: KeyPairType) -> Int {
    switch type {
    case .p256: type.publicKeyBytes + type.privateKeyBytes
    case .ed25519: type.privateKeyBytes
    }
  }

  static func bytes(of key: borrowing PrivateKey) throws(KeyPairError) -> SecretBytes {
    let secret = try key.copyBytes()
    guard key.type == .p256 else { return secret }
    var form = try memory(privateBytes(.p256))
    let point = key.publicKey.bytes
    form.withUnsafeMutableBytes { target in
      target.copyBytes(from: point)
      secret.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[point.count...]).copyBytes(from: $0)
      }
    }
    return form
  }

  /// - Throws: `.wrongLength`; `.invalidPrivateKey` also where the halves of a P-256 key are not of one pair.
  static func privateKey(_ type: KeyPairType, _ form: borrowing SecretBytes) throws(KeyPairError) -> PrivateKey {
    guard form.count == privateBytes(type) else {
      throw .wrongLength("the private key of type \(type.name)", expected: privateBytes(type), found: form.count)
    }
    var secret = try memory(type.privateKeyBytes)
    let point = form.withUnsafeBytes { source in
      secret.withUnsafeMutableBytes {
        $0.copyBytes(from: UnsafeRawBufferPointer(rebasing: source.suffix(type.privateKeyBytes)))
      }
      return Array(source.dropLast(type.privateKeyBytes))
    }
    let key = try PrivateKey(type, bytes: secret)
    guard type == .ed25519 || key.publicKey.bytes == point else { throw .invalidPrivateKey(type) }
    return key
  }

  private static func memory(_ count: Int) throws(KeyPairError) -> SecretBytes {
    do throws(SecretMemoryError) { return try SecretBytes(count: count) } catch { throw .memory(error) }
  }
}
