internal import CCrypto
public import SecretMemory

/// The key derivation function of ANSI X9.63 (SEC 1, 3.6.1): what turns the secret of a key agreement into a key.
public enum X963KDF: Sendable, CaseIterable {
  /// Over SHA-256.
  case sha256
  /// Over SHA-384.
  case sha384
  /// Over SHA-512.
  case sha512

  /// The most bytes that are derived at once.
  public static let mostBytes = 1 << 20

  private var hash: Hash {
    switch self {
    case .sha256: .sha256
    case .sha384: .sha384
    case .sha512: .sha512
    }
  }

  private var hashBytes: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  /// `count` bytes: the hashes of the secret, a counter from 1 on in four bytes, and `sharedInfo`, one after another.
  /// - Parameters:
  ///   - secret: what both sides have come to.
  ///   - sharedInfo: what both sides know besides; may be empty.
  ///   - count: 1 to ``mostBytes``.
  /// - Throws: `.wrongLength` for another count; `.memory`, `.library`.
  public func derive(
    from secret: borrowing SecretBytes, sharedInfo: [UInt8], count: Int
  ) throws(KeyPairError) -> SecretBytes {
    guard (1...Self.mostBytes).contains(count) else {
      throw .wrongLength("the derived key", expected: hashBytes, found: count)
    }
    try Libcrypto.start()
    let place = secret.count  // of the counter
    let blocks = (count + hashBytes - 1) / hashBytes
    var input = try SecretBytes.zeros(place + 4 + sharedInfo.count)
    input.withUnsafeMutableBytes { target in
      secret.withUnsafeBytes { target.copyBytes(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: target[(place + 4)...]).copyBytes(from: sharedInfo)
    }
    var output = try SecretBytes.zeros(blocks * hashBytes)
    for block in 0..<blocks {
      let isDone = input.withUnsafeMutableBytes { source in
        source.storeBytes(of: UInt32(block + 1).bigEndian, toByteOffset: place, as: UInt32.self)
        return output.withUnsafeMutableBytes { target in
          let start = target.baseAddress?.advanced(by: block * hashBytes).assumingMemoryBound(to: UInt8.self)
          return EVP_Digest(source.baseAddress, source.count, start, nil, hash.digest, nil) == 1
        }
      }
      guard isDone else { throw Libcrypto.failure("EVP_Digest") }
    }
    do { return try output.prefix(count) } catch { throw .memory(error) }
  }
}
