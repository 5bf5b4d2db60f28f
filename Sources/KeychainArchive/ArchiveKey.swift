internal import CSodium
public import SecretMemory

/// What a passphrase makes of an export file's header: the key of its chunks, and what proves that it is the right one.
///
/// Making one takes about a second of a processor and 256 MiB, or what a file asks for within `ArchiveCost`'s bounds:
/// nothing for a thread that others wait for.
public struct ArchiveKey: ~Copyable, Sendable {
  static let keyBytes = 32
  static let checkBytes = 32

  let header: ArchiveHeader
  /// The check key, then the chunks' key.
  private let keys: SecretBytes

  private init(_ header: ArchiveHeader, _ keys: consuming SecretBytes) {
    self.header = header
    self.keys = keys
  }

  /// The key for a file to be written.
  /// - Throws: `.badPassphrase`, `.memory`.
  public static func make(
    passphrase: borrowing SecretBytes, cost: ArchiveCost = .standard
  ) throws(ArchiveError) -> ArchiveKey {
    let salt = randomBytes(ArchiveHeader.saltBytes)
    let nonce = [UInt8](repeating: 0, count: ArchiveHeader.nonceBytes)
    let header = ArchiveHeader(cost: cost, salt: salt, nonce: nonce)
    return ArchiveKey(header, try derive(passphrase, header))
  }

  /// The key of a file that is there, read from its beginning wherever its offset is.
  /// - Throws: `.notAnExportFile`, `.tooNew`, `.refusedCost`, `.truncated`, `.wrongPassphrase`, `.badPassphrase`,
  ///   `.io`, `.memory`.
  public static func open(_ file: Int32, passphrase: borrowing SecretBytes) throws(ArchiveError) -> ArchiveKey {
    let start = try ArchiveHeader.start(of: file)
    let header = try ArchiveHeader(start)
    let key = ArchiveKey(header, try derive(passphrase, header))
    guard key.isCheck(Array(start[ArchiveHeader.checkedByteCount...]), of: header) else { throw .wrongPassphrase }
    return key
  }

  /// The 32 bytes that follow a header made with this key.
  func check(of header: ArchiveHeader) -> [UInt8] {
    let input = header.bytes
    var result = [UInt8](repeating: 0, count: Self.checkBytes)
    keys.withUnsafeBytes { raw in
      guard let key = raw.bindMemory(to: UInt8.self).baseAddress else { return }
      _ = crypto_generichash(&result, Self.checkBytes, input, UInt64(input.count), key, Self.keyBytes)
    }
    return result
  }

  private func isCheck(_ bytes: [UInt8], of header: ArchiveHeader) -> Bool {
    bytes.count == Self.checkBytes && sodium_memcmp(bytes, check(of: header), Self.checkBytes) == 0
  }

  /// Lends the key of the chunks: 32 bytes.
  func withChunkKey<R: ~Copyable, E: Error>(_ body: (UnsafePointer<UInt8>?) throws(E) -> R) throws(E) -> R {
    try keys.withUnsafeBytes { raw throws(E) in
      try body(raw.bindMemory(to: UInt8.self).baseAddress.map { $0 + Self.keyBytes })
    }
  }

  private static func derive(
    _ passphrase: borrowing SecretBytes, _ header: ArchiveHeader
  ) throws(ArchiveError) -> SecretBytes {
    guard (1...ArchiveLimits.passphraseBytes).contains(passphrase.count) else {
      throw .badPassphrase(limit: ArchiveLimits.passphraseBytes)
    }
    var keys = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: 2 * keyBytes) }
    let memory = Int(header.cost.memoryKiB) << 10
    let isDerived = keys.withUnsafeMutableBytes { target in
      passphrase.withUnsafeBytes { source in
        guard let result = target.bindMemory(to: UInt8.self).baseAddress,
          let words = source.bindMemory(to: CChar.self).baseAddress
        else { return false }
        return crypto_pwhash(
          result, UInt64(target.count), words, UInt64(source.count), header.salt, UInt64(header.cost.passes), memory,
          crypto_pwhash_alg_argon2id13()) == 0
      }
    }
    // It fails for lack of memory and for nothing else that is not checked above.
    guard isDerived else { throw .memory(.outOfMemory(bytes: memory)) }
    return keys
  }

  private static func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
  }
}
