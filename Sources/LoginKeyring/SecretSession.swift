internal import Bus
internal import CCrypto
internal import GLibLoop
internal import SecretMemory

/// A session of the Secret Service: encrypts secrets on their way to it.
@GLibActor
final class SecretSession {
  private let path: String
  private let key: SecretBytes

  /// - Parameter key: 16 bytes.
  init(path: String, key: consuming SecretBytes) throws(LoginKeyringError) {
    guard key.count == KeyExchange.keyBytes else { throw .failed("a key of \(key.count) bytes is none") }
    self.path = path
    self.key = key
  }

  /// The secret as the service takes it, (oayays): AES-128 in CBC mode, under a new initialisation vector.
  func seal(_ secret: borrowing SecretBytes) throws(LoginKeyringError) -> BusValue {
    let blockBytes = 16
    let vector: [UInt8]
    do throws(SecretMemoryError) {
      vector = try SecretBytes.random(count: blockBytes).withUnsafeBytes { Array($0) }
    } catch { throw .failed(error.description) }
    guard let cipher = EVP_CIPHER_CTX_new() else { throw .failed("libcrypto has no memory") }
    // The key's schedule in it is cleared with it.
    defer { EVP_CIPHER_CTX_free(cipher) }
    var sealed = [UInt8](repeating: 0, count: secret.count + blockBytes)
    var written: Int32 = 0
    var rest: Int32 = 0
    let isReady = key.withUnsafeBytes {
      EVP_EncryptInit_ex(cipher, EVP_aes_128_cbc(), nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, vector)
    }
    let isDone = secret.withUnsafeBytes { bytes in
      EVP_EncryptUpdate(
        cipher, &sealed, &written, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bytes.count))
    }
    guard isReady == 1, isDone == 1 else { throw .failed("AES of libcrypto failed") }
    let isPadded = sealed.withUnsafeMutableBufferPointer { buffer in
      EVP_EncryptFinal_ex(cipher, buffer.baseAddress.map { $0 + Int(written) }, &rest)
    }
    guard isPadded == 1 else { throw .failed("AES of libcrypto failed") }
    sealed.removeLast(sealed.count - Int(written + rest))
    return .structure([.objectPath(path), .bytes(vector), .bytes(sealed), .string("text/plain")])
  }
}
