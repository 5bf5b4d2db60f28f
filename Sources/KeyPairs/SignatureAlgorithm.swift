/// How to sign. The raw value is the name on the bus.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
  /// Ed25519 over a message (PureEdDSA of RFC 8032); 64 bytes.
  case ed25519 = "ed25519"
  /// ECDSA over a message's SHA-256; DER, as `kSecKeyAlgorithmECDSASignatureMessageX962SHA256`.
  case ecdsaSHA256 = "ecdsa-sha256"
  /// ECDSA over a message's SHA-384; DER, as `kSecKeyAlgorithmECDSASignatureMessageX962SHA384`.
  case ecdsaSHA384 = "ecdsa-sha384"
  /// ECDSA over a message's SHA-512; DER, as `kSecKeyAlgorithmECDSASignatureMessageX962SHA512`.
  case ecdsaSHA512 = "ecdsa-sha512"
  /// ECDSA over a SHA-256 that is given (32 bytes); DER, as `kSecKeyAlgorithmECDSASignatureDigestX962SHA256`.
  case ecdsaDigestSHA256 = "ecdsa-digest-sha256"
  /// ECDSA over a SHA-384 that is given (48 bytes); DER, as `kSecKeyAlgorithmECDSASignatureDigestX962SHA384`.
  case ecdsaDigestSHA384 = "ecdsa-digest-sha384"
  /// ECDSA over a SHA-512 that is given (64 bytes); DER, as `kSecKeyAlgorithmECDSASignatureDigestX962SHA512`.
  case ecdsaDigestSHA512 = "ecdsa-digest-sha512"

  /// The kind of key that signs so.
  public var keyType: KeyPairType { self == .ed25519 ? .ed25519 : .p256 }

  /// How many bytes what is signed must have; nil for a message of any length.
  public var dataBytes: Int? {
    switch self {
    case .ecdsaDigestSHA256: 32
    case .ecdsaDigestSHA384: 48
    case .ecdsaDigestSHA512: 64
    case .ed25519, .ecdsaSHA256, .ecdsaSHA384, .ecdsaSHA512: nil
    }
  }

  /// The same signature asked for by the message's hash, where the algorithm signs one: a message of any size is then small
  /// to send. The algorithm and the data themselves where it does not.
  /// - Throws: `.library`.
  public func digested(_ data: [UInt8]) throws(KeyPairError) -> (algorithm: SignatureAlgorithm, data: [UInt8]) {
    switch self {
    case .ecdsaSHA256: (.ecdsaDigestSHA256, try hash(data))
    case .ecdsaSHA384: (.ecdsaDigestSHA384, try hash(data))
    case .ecdsaSHA512: (.ecdsaDigestSHA512, try hash(data))
    case .ed25519, .ecdsaDigestSHA256, .ecdsaDigestSHA384, .ecdsaDigestSHA512: (self, data)
    }
  }

  /// The hash that ECDSA signs.
  var hash: Hash {
    switch self {
    case .ed25519, .ecdsaSHA512, .ecdsaDigestSHA512: .sha512
    case .ecdsaSHA256, .ecdsaDigestSHA256: .sha256
    case .ecdsaSHA384, .ecdsaDigestSHA384: .sha384
    }
  }
}

/// How to agree on a shared secret. The raw value is the name on the bus.
public enum KeyAgreementAlgorithm: String, Sendable, CaseIterable {
  /// The X coordinate of the shared point of P-256, 32 bytes, as `kSecKeyAlgorithmECDHKeyExchangeStandard`. To be put
  /// through a key derivation function before it is used as a key.
  case ecdh = "ecdh"
}
