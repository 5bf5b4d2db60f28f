internal import CCrypto
internal import SecretMemory

/// ECDSA and key agreement on P-256, by libcrypto. What it copies of a private key lives for one call and is cleansed.
enum P256 {
  /// The most bytes of the DER of a signature: two numbers of 33 bytes with their heads.
  static let signatureBytes = 72

  /// The public key of a scalar; throws `.invalidPrivateKey` where there is none.
  static func publicKey(of scalar: borrowing SecretBytes) throws(KeyPairError) -> [UInt8] {
    guard let point = try P256Curve().point(of: scalar) else { throw .invalidPrivateKey(.p256) }
    return point
  }

  /// A scalar of which each is as likely as the others, by trying random ones (FIPS 186-4, B.4.2). One in four billion
  /// is out of range.
  static func generate() throws(KeyPairError) -> SecretBytes {
    let curve = try P256Curve()
    for _ in 0..<8 {
      let candidate = try SecretBytes.randomKey(P256Curve.scalarBytes)
      if try curve.point(of: candidate) != nil { return candidate }
    }
    throw .library("the random number generator")
  }

  /// A signature over a message's hash, or over the hash itself where the algorithm says so.
  static func sign(
    _ data: [UInt8], _ algorithm: SignatureAlgorithm, scalar: borrowing SecretBytes, point: [UInt8]
  ) throws(KeyPairError) -> [UInt8] {
    let digest = try digest(of: data, algorithm)
    let key = try privateKey(scalar, point)
    let context = try LibraryKeyContext(key)
    guard EVP_PKEY_sign_init(context.pointer) == 1,
      EVP_PKEY_CTX_set_signature_md(context.pointer, algorithm.hash.digest) == 1
    else { throw Libcrypto.failure("EVP_PKEY_sign_init") }
    var signature = [UInt8](repeating: 0, count: signatureBytes)
    var count = signature.count
    guard EVP_PKEY_sign(context.pointer, &signature, &count, digest, digest.count) == 1, count <= signature.count else {
      throw Libcrypto.failure("EVP_PKEY_sign")
    }
    return Array(signature.prefix(count))
  }

  static func verify(
    _ signature: [UInt8], of data: [UInt8], _ algorithm: SignatureAlgorithm, point: [UInt8]
  ) throws(KeyPairError) -> Bool {
    guard ECDSASignature.isDER(signature) else { throw .malformedSignature }
    let digest = try digest(of: data, algorithm)
    let key = try publicKey(point)
    let context = try LibraryKeyContext(key)
    guard EVP_PKEY_verify_init(context.pointer) == 1,
      EVP_PKEY_CTX_set_signature_md(context.pointer, algorithm.hash.digest) == 1
    else { throw Libcrypto.failure("EVP_PKEY_verify_init") }
    // What is well-formed and does not match is a "no", whatever number the library has for it.
    defer { ERR_clear_error() }
    return EVP_PKEY_verify(context.pointer, signature, signature.count, digest, digest.count) == 1
  }

  /// The X coordinate of the point that both sides come to, 32 bytes.
  static func sharedSecret(
    scalar: borrowing SecretBytes, point: [UInt8], peer: [UInt8]
  ) throws(KeyPairError) -> SecretBytes {
    let key = try privateKey(scalar, point)
    let other = try publicKey(peer)
    let context = try LibraryKeyContext(key)
    guard EVP_PKEY_derive_init(context.pointer) == 1, EVP_PKEY_derive_set_peer(context.pointer, other.pointer) == 1
    else { throw Libcrypto.failure("EVP_PKEY_derive_init") }
    var secret = try SecretBytes.zeros(P256Curve.scalarBytes)
    let isDone = secret.withUnsafeMutableBytes { target in
      var count = target.count
      return EVP_PKEY_derive(context.pointer, target.bindMemory(to: UInt8.self).baseAddress, &count) == 1
        && count == target.count
    }
    guard isDone else { throw Libcrypto.failure("EVP_PKEY_derive") }
    return secret
  }

  // MARK: - Parts

  private static func digest(
    of data: [UInt8], _ algorithm: SignatureAlgorithm
  ) throws(KeyPairError) -> [UInt8] {
    try Libcrypto.start()
    guard let expected = algorithm.dataBytes else { return try algorithm.hash(data) }
    guard data.count == expected else { throw .wrongLength("the digest", expected: expected, found: data.count) }
    return data
  }

  private static func privateKey(
    _ scalar: borrowing SecretBytes, _ point: [UInt8]
  ) throws(KeyPairError) -> LibraryKey {
    try Libcrypto.start()
    guard scalar.count == P256Curve.scalarBytes, point.count == P256Curve.pointBytes else {
      throw .invalidPrivateKey(.p256)
    }
    let pointer = scalar.withUnsafeBytes { ccrypto_p256_key(point, $0.bindMemory(to: UInt8.self).baseAddress) }
    guard let pointer else { throw Libcrypto.failure("EVP_PKEY_fromdata") }
    return LibraryKey(owning: pointer)
  }

  private static func publicKey(_ point: [UInt8]) throws(KeyPairError) -> LibraryKey {
    try Libcrypto.start()
    guard point.count == P256Curve.pointBytes, let pointer = ccrypto_p256_key(point, nil) else {
      throw Libcrypto.failure("EVP_PKEY_fromdata")
    }
    return LibraryKey(owning: pointer)
  }
}
