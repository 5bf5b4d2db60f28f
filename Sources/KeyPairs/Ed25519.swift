internal import CSodium
internal import SecretMemory

/// Ed25519 by libsodium, which keeps what it computes of a private key off the stack and the heap.
enum Ed25519 {
  private static let signatureBytes = Int(crypto_sign_BYTES)

  /// The public key of a seed of 32 bytes.
  static func publicKey(of seed: borrowing SecretBytes) throws(KeyPairError) -> [UInt8] {
    let expanded = try expand(seed)
    // libsodium's secret key is the seed and the public key behind it.
    return expanded.withUnsafeBytes { Array($0.suffix(Int(crypto_sign_PUBLICKEYBYTES))) }
  }

  /// Whether the bytes are a point that an honest seed can have: canonical, of the prime-order group, not its neutral
  /// element.
  static func isPublicKey(_ bytes: [UInt8]) -> Bool {
    bytes.count == Int(crypto_sign_PUBLICKEYBYTES) && sodium_init() >= 0
      && crypto_core_ed25519_is_valid_point(bytes) == 1
  }

  static func sign(_ message: [UInt8], seed: borrowing SecretBytes) throws(KeyPairError) -> [UInt8] {
    let expanded = try expand(seed)
    var signature = [UInt8](repeating: 0, count: signatureBytes)
    let status = expanded.withUnsafeBytes { key -> Int32 in
      guard let key = key.bindMemory(to: UInt8.self).baseAddress else { return -1 }
      return crypto_sign_detached(&signature, nil, message, UInt64(message.count), key)
    }
    guard status == 0 else { throw .library("crypto_sign_detached") }
    return signature
  }

  static func verify(
    _ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]
  ) throws(KeyPairError) -> Bool {
    guard signature.count == signatureBytes else {
      throw .wrongLength("the signature", expected: signatureBytes, found: signature.count)
    }
    guard sodium_init() >= 0 else { throw .library("sodium_init") }
    return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
  }

  private static func expand(_ seed: borrowing SecretBytes) throws(KeyPairError) -> SecretBytes {
    var expanded = try SecretBytes.zeros(Int(crypto_sign_SECRETKEYBYTES))
    var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
    let status = expanded.withUnsafeMutableBytes { target in
      seed.withUnsafeBytes { seed -> Int32 in
        guard let target = target.bindMemory(to: UInt8.self).baseAddress, seed.count == Int(crypto_sign_SEEDBYTES),
          let seed = seed.bindMemory(to: UInt8.self).baseAddress
        else { return -1 }
        return crypto_sign_seed_keypair(&publicKey, target, seed)
      }
    }
    guard status == 0 else { throw .library("crypto_sign_seed_keypair") }
    return expanded
  }
}

extension SecretBytes {
  /// So many zero bytes.
  static func zeros(_ count: Int) throws(KeyPairError) -> SecretBytes {
    do throws(SecretMemoryError) { return try SecretBytes(count: count) } catch { throw .memory(error) }
  }

  /// So many random bytes, from the kernel.
  static func randomKey(_ count: Int) throws(KeyPairError) -> SecretBytes {
    do throws(SecretMemoryError) { return try SecretBytes.random(count: count) } catch { throw .memory(error) }
  }
}
