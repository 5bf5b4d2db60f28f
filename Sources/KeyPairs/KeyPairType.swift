/// The kinds of key pairs.
public enum KeyPairType: Sendable, CaseIterable {
  /// The NIST curve P-256 (secp256r1): ECDSA and key agreement.
  case p256
  /// Ed25519 (RFC 8032): signatures alone.
  case ed25519

  /// The name, such as `ec-p256`.
  public var name: String {
    switch self {
    case .p256: "ec-p256"
    case .ed25519: "ed25519"
    }
  }

  /// How many bytes a private key has: the scalar, big-endian (P-256), or the seed (Ed25519).
  public var privateKeyBytes: Int { 32 }

  /// How many bytes a public key has: the uncompressed point of ANSI X9.63, 04 || X || Y (P-256), or the encoded point of
  /// RFC 8032 (Ed25519).
  public var publicKeyBytes: Int {
    switch self {
    case .p256: 65
    case .ed25519: 32
    }
  }

  /// The size of the key as people count it, in bits.
  public var sizeInBits: Int { 256 }
}
