internal import CCrypto

/// The hashes of libcrypto that keys need.
enum Hash {
  case sha1, sha256, sha384, sha512

  /// OpenSSL's own constant, never freed.
  var digest: OpaquePointer? {
    switch self {
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    case .sha384: EVP_sha384()
    case .sha512: EVP_sha512()
    }
  }

  /// The hash of `bytes`.
  func callAsFunction(_ bytes: [UInt8]) throws(KeyPairError) -> [UInt8] {
    try Libcrypto.start()
    var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard EVP_Digest(bytes, bytes.count, &result, &count, digest, nil) == 1 else {
      throw Libcrypto.failure("EVP_Digest")
    }
    return Array(result.prefix(Int(count)))
  }
}
