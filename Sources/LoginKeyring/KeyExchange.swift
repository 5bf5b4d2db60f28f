internal import CCrypto
internal import Glibc
internal import SecretMemory

/// Our half of the Secret Service's Diffie-Hellman exchange, so that no password crosses the session bus in the clear, where
/// every program of the session can listen.
///
/// The group is the specification's (1024 bits, RFC 2409's second): enough against listeners, no help against a program
/// that stands in gnome-keyring's place.
struct KeyExchange: ~Copyable {
  /// The name of what both sides do.
  static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
  private static let numberBytes = 128
  static let keyBytes = 16

  /// What the other side is told.
  let publicNumber: [UInt8]
  private let privateNumber: Number

  private init(publicNumber: [UInt8], privateNumber: consuming Number) {
    self.publicNumber = publicNumber
    self.privateNumber = privateNumber
  }

  /// Our half of a new one.
  static func begin() throws(LoginKeyringError) -> KeyExchange {
    let random: SecretBytes
    do throws(SecretMemoryError) { random = try SecretBytes.random(count: numberBytes) } catch {
      throw .failed(error.description)
    }
    let privateNumber = try random.withUnsafeBytes { bytes throws(LoginKeyringError) in try Number(bytes) }
    let result = try power(of: try Number([2]), privateNumber)
    let publicNumber = try result.withBytes(numberBytes) { bytes throws(LoginKeyringError) in Array(bytes) }
    return KeyExchange(publicNumber: publicNumber, privateNumber: privateNumber)
  }

  /// The key that both sides come to.
  /// - Throws: `.failed` where the other side's number is none of the group's.
  func key(with theirs: [UInt8]) throws(LoginKeyringError) -> SecretBytes {
    guard (1...Self.numberBytes).contains(theirs.count) else { throw .failed("its key exchange is none") }
    let base = try Number(theirs)
    let prime = try Self.prime()
    // 0, 1 and p-1 would give a key that everybody knows.
    guard BN_num_bits(base.pointer) > 1, BN_sub_word(prime.pointer, 1) == 1, BN_cmp(base.pointer, prime.pointer) < 0
    else { throw .failed("its key exchange is none") }
    let shared = try Self.power(of: base, privateNumber)
    return try shared.withBytes(Self.numberBytes) { bytes throws(LoginKeyringError) in
      // HKDF of SHA-256, without salt and info; one block of it is more than the key's 16 bytes.
      var middle = try Self.authenticationCode(
        [UInt8](repeating: 0, count: 32), bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
      defer { explicit_bzero(&middle, middle.count) }
      var last = try Self.authenticationCode(middle, [1], 1)
      defer { explicit_bzero(&last, last.count) }
      do throws(SecretMemoryError) {
        let all = try SecretBytes(copying: last.span.bytes)
        return try all.prefix(Self.keyBytes)
      } catch { throw .failed(error.description) }
    }
  }

  private static func authenticationCode(
    _ key: [UInt8], _ data: UnsafePointer<UInt8>?, _ count: Int
  ) throws(LoginKeyringError) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    guard HMAC(EVP_sha256(), key, Int32(key.count), data, count, &code, nil) != nil else {
      throw .failed("HMAC of libcrypto failed")
    }
    return code
  }

  private static func prime() throws(LoginKeyringError) -> Number {
    // Ours from now on.
    guard let pointer = BN_get_rfc2409_prime_1024(nil) else { throw Number.failure }
    return Number(owning: pointer)
  }

  private static func power(
    of base: borrowing Number, _ exponent: borrowing Number
  ) throws(LoginKeyringError) -> Number {
    let prime = try prime()
    guard let result = BN_new() else { throw Number.failure }
    let number = Number(owning: result)
    guard let scratch = BN_CTX_new() else { throw Number.failure }
    // Its numbers are cleared with it.
    defer { BN_CTX_free(scratch) }
    guard
      BN_mod_exp_mont_consttime(
        number.pointer, base.pointer, exponent.pointer, prime.pointer, scratch, nil) == 1
    else { throw Number.failure }
    return number
  }
}

/// A number of libcrypto's, cleared when it ends.
private struct Number: ~Copyable {
  static let failure = LoginKeyringError.failed("libcrypto has no memory")

  let pointer: OpaquePointer

  /// Takes the pointer over.
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  /// From the most significant byte on.
  init(_ bytes: UnsafeRawBufferPointer) throws(LoginKeyringError) {
    guard let pointer = BN_bin2bn(bytes.baseAddress, Int32(bytes.count), nil) else { throw Self.failure }
    self.pointer = pointer
  }

  init(_ bytes: [UInt8]) throws(LoginKeyringError) {
    guard let pointer = BN_bin2bn(bytes, Int32(bytes.count), nil) else { throw Self.failure }
    self.pointer = pointer
  }

  deinit { BN_clear_free(pointer) }

  /// Lends the number in so many bytes, in guarded memory.
  func withBytes<R: ~Copyable>(
    _ count: Int, _ body: (UnsafeRawBufferPointer) throws(LoginKeyringError) -> R
  ) throws(LoginKeyringError) -> R {
    var bytes: SecretBytes
    do throws(SecretMemoryError) { bytes = try SecretBytes(count: count) } catch { throw .failed(error.description) }
    let written = bytes.withUnsafeMutableBytes { BN_bn2binpad(pointer, $0.baseAddress, Int32($0.count)) }
    guard written == count else { throw Self.failure }
    return try bytes.withUnsafeBytes(body)
  }
}
