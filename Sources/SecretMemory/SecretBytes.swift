internal import CSodium

/// The bytes of one secret in guarded memory: locked where RLIMIT_MEMLOCK allows it, left out of core dumps,
/// between guard pages, and wiped when the value ends. It cannot be copied by accident, printed or encoded.
///
/// Any number of bytes from 0 on, NUL bytes among them. Safe to hand from one task to another.
public struct SecretBytes: ~Copyable, @unchecked Sendable {
  // Unchecked: this noncopyable value is the pointer's only owner, so that shared access is reading alone.
  private let pointer: UnsafeMutableRawPointer
  /// How many bytes the secret has.
  public let count: Int
  /// For tests: called with the memory after it was wiped and before it is given back.
  internal var afterWipe: (@Sendable (UnsafeRawBufferPointer) -> Void)?

  /// A secret of `count` zero bytes, to be filled in place.
  /// - Throws: `.outOfMemory`, also for a negative count; `.initialisationFailed`.
  public init(count: Int) throws(SecretMemoryError) {
    guard sodium_init() >= 0 else { throw .initialisationFailed }
    // sodium_malloc: ours until sodium_free; it locks and guards the pages itself.
    guard count >= 0, let memory = sodium_malloc(count) else { throw .outOfMemory(bytes: count) }
    self.init(owning: memory, count: count)
  }

  /// The one place that takes ownership of memory from sodium_malloc, and clears its filling.
  private init(owning memory: UnsafeMutableRawPointer, count: Int) {
    sodium_memzero(memory, count)
    pointer = memory
    self.count = count
    afterWipe = nil
  }

  /// A copy of `bytes`, whose own memory stays as it is: wiping that is the caller's business.
  /// - Throws: `.outOfMemory`, `.initialisationFailed`.
  public init(copying bytes: UnsafeRawBufferPointer) throws(SecretMemoryError) {
    try self.init(count: bytes.count)
    if let base = bytes.baseAddress { pointer.copyMemory(from: base, byteCount: bytes.count) }
  }

  /// A copy of `bytes`, whose own memory stays as it is: wiping that is the caller's business.
  /// - Throws: `.outOfMemory`, `.initialisationFailed`.
  public init(copying bytes: RawSpan) throws(SecretMemoryError) {
    try self.init(count: bytes.byteCount)
    let target = pointer
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { target.copyMemory(from: base, byteCount: source.count) }
    }
  }

  /// `count` bytes from the kernel's random number generator.
  /// - Throws: `.outOfMemory`, `.initialisationFailed`.
  public static func random(count: Int) throws(SecretMemoryError) -> SecretBytes {
    let secret = try SecretBytes(count: count)
    randombytes_buf(secret.pointer, count)
    return secret
  }

  deinit {
    sodium_memzero(pointer, count)
    afterWipe?(UnsafeRawBufferPointer(start: pointer, count: count))
    // sodium_free: consumes the memory, wiping it once more; ends the process where the guards were written over.
    sodium_free(pointer)
  }

  /// Lends the bytes for reading; the pointer must not leave `body`.
  public func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: pointer, count: count))
  }

  /// Lends the bytes for writing; the pointer must not leave `body`.
  public mutating func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeMutableRawBufferPointer(start: pointer, count: count))
  }

  /// A second secret with the same bytes, in memory of its own.
  /// - Throws: `.outOfMemory`.
  public func clone() throws(SecretMemoryError) -> SecretBytes {
    try SecretBytes(copying: UnsafeRawBufferPointer(start: pointer, count: count))
  }

  /// The first `length` bytes in memory of their own; all of them where there are fewer.
  /// - Throws: `.outOfMemory`.
  public func prefix(_ length: Int) throws(SecretMemoryError) -> SecretBytes {
    try SecretBytes(copying: UnsafeRawBufferPointer(start: pointer, count: min(max(length, 0), count)))
  }

  /// Whether both hold the same bytes, in a time that depends on nothing but their lengths.
  public static func constantTimeEqual(_ left: borrowing SecretBytes, _ right: borrowing SecretBytes) -> Bool {
    guard left.count == right.count else { return false }
    return sodium_memcmp(left.pointer, right.pointer, left.count) == 0
  }
}
