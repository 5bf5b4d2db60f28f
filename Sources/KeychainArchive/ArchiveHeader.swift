/// The first 60 bytes of an export file; 32 more prove that the passphrase is right and that none of these was changed.
/// ARCHITECTURE.md, "The export file", has them byte by byte.
struct ArchiveHeader {
  static let byteCount = 92
  static let checkedByteCount = 60
  static let saltBytes = 16
  static let nonceBytes = 24
  /// "WHORL", then what a transfer as text would change, and what ends a file for `type` and `more`.
  static let magic: [UInt8] = [0x57, 0x48, 0x4F, 0x52, 0x4C, 0x0D, 0x0A, 0x1A]
  private static let version: UInt16 = 1
  /// Argon2id, version 1.3, one lane.
  private static let argon2id: UInt8 = 1
  /// libsodium's secretstream: XChaCha20-Poly1305 in chunks.
  private static let secretStream: UInt8 = 1

  let cost: ArchiveCost
  let salt: [UInt8]
  /// Where the stream of chunks begins.
  var nonce: [UInt8]

  init(cost: ArchiveCost, salt: [UInt8], nonce: [UInt8]) {
    self.cost = cost
    self.salt = salt
    self.nonce = nonce
  }

  /// The 60 bytes.
  var bytes: [UInt8] {
    var result = Self.magic
    result += littleEndian(Self.version)
    result += [Self.argon2id, Self.secretStream]
    result += littleEndian(cost.passes)
    result += littleEndian(cost.memoryKiB)
    return result + salt + nonce
  }

  /// The beginning of a file, as far as it goes.
  /// - Throws: `.io`.
  static func start(of file: Int32) throws(ArchiveError) -> [UInt8] {
    var start = [UInt8](repeating: 0, count: byteCount)
    let got = try start.withMutableRaw { buffer throws(ArchiveError) in
      try FileAccess.read(file, at: 0, into: buffer)
    }
    start.removeLast(start.count - got)
    return start
  }

  /// Reads them back from the beginning of a file.
  /// - Throws: `.notAnExportFile`, `.truncated`, `.tooNew`, `.refusedCost`.
  init(_ start: [UInt8]) throws(ArchiveError) {
    guard start.count >= Self.magic.count, start.starts(with: Self.magic) else { throw .notAnExportFile }
    // The version first: a later one may be shorter.
    guard start.count >= 10 else { throw .truncated }
    let version = number(start, at: 8, UInt16.self)
    guard version == Self.version else { throw .tooNew("format \(version)") }
    guard start.count >= Self.byteCount else { throw .truncated }
    guard start[10] == Self.argon2id else { throw .tooNew("key derivation \(start[10])") }
    guard start[11] == Self.secretStream else { throw .tooNew("encryption \(start[11])") }
    cost = try ArchiveCost(passes: number(start, at: 12, UInt32.self), memoryKiB: number(start, at: 16, UInt32.self))
    salt = Array(start[20..<36])
    nonce = Array(start[36..<60])
  }
}

/// The bytes of a number, the least significant first.
func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

/// The number at that place, which must be there.
private func number<Number: FixedWidthInteger>(_ bytes: [UInt8], at offset: Int, _: Number.Type) -> Number {
  bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
}
