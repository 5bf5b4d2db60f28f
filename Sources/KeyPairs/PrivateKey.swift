public import SecretMemory

/// The private half of a key pair, in guarded memory. It signs, and agrees on secrets; its bytes leave it only to be
/// stored.
public struct PrivateKey: ~Copyable, Sendable {
  /// The public half.
  public let publicKey: PublicKey
  private let secret: SecretBytes

  /// The kind of key.
  public var type: KeyPairType { publicKey.type }

  /// A new key, from the kernel's random numbers.
  /// - Throws: `.memory`, `.library`.
  public static func generate(_ type: KeyPairType) throws(KeyPairError) -> PrivateKey {
    switch type {
    case .p256: try PrivateKey(type, bytes: try P256.generate())
    case .ed25519: try PrivateKey(type, bytes: try SecretBytes.randomKey(type.privateKeyBytes))
    }
  }

  /// The key of these bytes: the scalar, big-endian (P-256), or the seed (Ed25519), 32 of them.
  /// - Throws: `.wrongLength`; `.invalidPrivateKey` for a scalar that is zero or not below the order of the curve.
  public init(_ type: KeyPairType, bytes: consuming SecretBytes) throws(KeyPairError) {
    guard bytes.count == type.privateKeyBytes else {
      throw .wrongLength("the private key of type \(type.name)", expected: type.privateKeyBytes, found: bytes.count)
    }
    let point =
      switch type {
      case .p256: try P256.publicKey(of: bytes)
      case .ed25519: try Ed25519.publicKey(of: bytes)
      }
    publicKey = PublicKey(type, known: point)
    secret = bytes
  }

  /// Its bytes, to be stored; ends the key.
  public consuming func takeBytes() -> SecretBytes { secret }

  /// A copy of its bytes, for keys that their owner may take elsewhere.
  /// - Throws: `.memory`.
  public func copyBytes() throws(KeyPairError) -> SecretBytes {
    do { return try secret.clone() } catch { throw .memory(error) }
  }

  /// A signature over `data`.
  ///
  /// Ed25519 gives the same for the same data, 64 bytes; ECDSA another one each time, DER of at most 72 bytes.
  /// - Parameter data: the message, or its hash where the algorithm says so.
  /// - Throws: `.unsuitable` for a key of another kind; `.wrongLength` for a digest of another length; `.memory`,
  ///   `.library`.
  public func sign(_ data: [UInt8], by algorithm: SignatureAlgorithm) throws(KeyPairError) -> [UInt8] {
    guard algorithm.keyType == type else { throw .unsuitable(algorithm, type) }
    switch type {
    case .ed25519: return try Ed25519.sign(data, seed: secret)
    case .p256: return try P256.sign(data, algorithm, scalar: secret, point: publicKey.bytes)
    }
  }

  /// The secret that this key and `peer`'s private half come to: the X coordinate of their point, 32 bytes.
  /// - Throws: `.noAgreement` where one of them is no key for that; `.memory`, `.library`.
  public func sharedSecret(with peer: PublicKey) throws(KeyPairError) -> SecretBytes {
    for type in [type, peer.type] where type != .p256 { throw .noAgreement(type) }
    return try P256.sharedSecret(scalar: secret, point: publicKey.bytes, peer: peer.bytes)
  }
}
