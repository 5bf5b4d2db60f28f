/// The public half of a key pair: checks signatures, and is the other side of a key agreement. No secret.
public struct PublicKey: Hashable, Sendable {
  /// The kind of key.
  public let type: KeyPairType
  /// Its bytes, `type.publicKeyBytes` of them: the uncompressed point of ANSI X9.63 (P-256), or the encoded point of
  /// RFC 8032 (Ed25519).
  public let bytes: [UInt8]

  /// The key of these bytes.
  /// - Throws: `.wrongLength`; `.invalidPublicKey` where they are no point that an honest private key has.
  public init(_ type: KeyPairType, bytes: [UInt8]) throws(KeyPairError) {
    guard bytes.count == type.publicKeyBytes else {
      throw .wrongLength("the public key of type \(type.name)", expected: type.publicKeyBytes, found: bytes.count)
    }
    let isValid =
      switch type {
      case .p256: try P256Curve().isPoint(bytes)
      case .ed25519: Ed25519.isPublicKey(bytes)
      }
    guard isValid else { throw .invalidPublicKey(type) }
    self.init(type, known: bytes)
  }

  /// The key of a private key of ours.
  init(_ type: KeyPairType, known bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }

  /// Whether `signature` is the private key's over `data`.
  /// - Parameter data: the message, or its hash where the algorithm says so.
  /// - Throws: `.unsuitable` for a key of another kind; `.wrongLength` for a digest or an Ed25519 signature of another
  ///   length; `.malformedSignature` for an ECDSA signature that is no DER.
  public func verify(
    _ signature: [UInt8], of data: [UInt8], by algorithm: SignatureAlgorithm
  ) throws(KeyPairError) -> Bool {
    guard algorithm.keyType == type else { throw .unsuitable(algorithm, type) }
    switch type {
    case .ed25519: return try Ed25519.verify(signature, of: data, publicKey: bytes)
    case .p256: return try P256.verify(signature, of: data, algorithm, point: bytes)
    }
  }

  /// What Apple calls the application label of both halves: the SHA-1 of the public key's bytes, 20 bytes.
  /// - Throws: `.library`.
  public func applicationLabel() throws(KeyPairError) -> [UInt8] { try Hash.sha1(bytes) }
}
