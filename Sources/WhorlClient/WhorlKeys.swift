/// The kind of a key pair. Names that this version does not know pass through.
public struct WhorlKeyType: RawRepresentable, Hashable, Sendable {
  /// The name on the bus.
  public let rawValue: String
  /// The type of this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The NIST curve P-256: ECDSA and key agreement. The public key has 65 bytes: 04 || X || Y.
  public static let p256 = WhorlKeyType(rawValue: "ec-p256")
  /// Ed25519: signatures alone. The public key has 32 bytes.
  public static let ed25519 = WhorlKeyType(rawValue: "ed25519")
}

/// How to sign. Names that this version does not know pass through.
public struct WhorlSignatureAlgorithm: RawRepresentable, Hashable, Sendable {
  /// The name on the bus.
  public let rawValue: String
  /// The algorithm of this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Ed25519 over a message; 64 bytes.
  public static let ed25519 = WhorlSignatureAlgorithm(rawValue: "ed25519")
  /// ECDSA over a message's SHA-256, in DER, as the following.
  public static let ecdsaSHA256 = WhorlSignatureAlgorithm(rawValue: "ecdsa-sha256")
  /// ECDSA over a message's SHA-384.
  public static let ecdsaSHA384 = WhorlSignatureAlgorithm(rawValue: "ecdsa-sha384")
  /// ECDSA over a message's SHA-512.
  public static let ecdsaSHA512 = WhorlSignatureAlgorithm(rawValue: "ecdsa-sha512")
  /// ECDSA over a SHA-256 that is given.
  public static let ecdsaDigestSHA256 = WhorlSignatureAlgorithm(rawValue: "ecdsa-digest-sha256")
  /// ECDSA over a SHA-384 that is given.
  public static let ecdsaDigestSHA384 = WhorlSignatureAlgorithm(rawValue: "ecdsa-digest-sha384")
  /// ECDSA over a SHA-512 that is given.
  public static let ecdsaDigestSHA512 = WhorlSignatureAlgorithm(rawValue: "ecdsa-digest-sha512")
}

/// How to agree on a shared secret. Names that this version does not know pass through.
public struct WhorlKeyAgreementAlgorithm: RawRepresentable, Hashable, Sendable {
  /// The name on the bus.
  public let rawValue: String
  /// The algorithm of this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The X coordinate of the shared point of P-256, 32 bytes.
  public static let ecdh = WhorlKeyAgreementAlgorithm(rawValue: "ecdh")
}
