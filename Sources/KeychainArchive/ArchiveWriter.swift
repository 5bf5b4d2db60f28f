public import SecretMemory

/// Writes an export file, one item after another, in bounded memory. Not for two tasks at once.
///
/// What is written is no export file before `finish`. After an error nothing more is to be written.
public final class ArchiveWriter {
  private let file: Int32
  private let limit: Int
  private var stream: ChunkStream
  /// What the next chunk will hold.
  private var plain: SecretBytes
  private var filled = 0
  private var sealed: [UInt8]
  private var written = 0
  /// How many items were written.
  public private(set) var count = 0

  /// A writer to an open file from its offset on, which writes the header at once. The file stays the caller's.
  /// - Parameter limit: the most bytes to write.
  /// - Throws: `.io`, `.memory`, `.tooLarge`.
  public init(
    to file: Int32, key: borrowing ArchiveKey, limit: Int = ArchiveLimits.fileBytes
  ) throws(ArchiveError) {
    self.file = file
    self.limit = limit
    var header = key.header
    stream = try ChunkStream.sealing(key, &header)
    plain = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: ArchiveLimits.chunkBytes) }
    sealed = [UInt8](repeating: 0, count: 4 + ArchiveLimits.chunkBytes + ChunkStream.overhead)
    try put(header.bytes + key.check(of: header))
  }

  /// Writes one item.
  /// - Throws: `.tooLarge` where a part has more bytes than `ArchiveLimits` allows (nothing of it was written then), or
  ///   the whole file; `.io`.
  public func write(
    attributes: [UInt8], accessControl: [UInt8] = [], secret: borrowing SecretBytes
  ) throws(ArchiveError) {
    try check(attributes.count, ArchiveLimits.attributeBytes, "the attributes of an item")
    try check(accessControl.count, ArchiveLimits.accessControlBytes, "the access control of an item")
    try check(secret.count, ArchiveLimits.secretBytes, "a secret")
    try append([RecordMark.item])
    try appendField(RecordMark.attributes, attributes)
    if !accessControl.isEmpty { try appendField(RecordMark.accessControl, accessControl) }
    try append([RecordMark.secret] + littleEndian(UInt32(secret.count)))
    try secret.withUnsafeBytes { bytes throws(ArchiveError) in try append(bytes) }
    try append([RecordMark.end])
    count += 1
  }

  /// Writes the end mark; the file is whole when this returns (and on the disk when the caller has seen to that).
  /// - Throws: `.tooLarge`, `.io`.
  public func finish() throws(ArchiveError) { try flush(isLast: true) }

  private func check(_ count: Int, _ limit: Int, _ what: String) throws(ArchiveError) {
    guard count <= limit else { throw .tooLarge(what, limit: limit) }
  }

  private func appendField(_ tag: UInt8, _ bytes: [UInt8]) throws(ArchiveError) {
    try append([tag] + littleEndian(UInt32(bytes.count)))
    try append(bytes)
  }

  private func append(_ bytes: [UInt8]) throws(ArchiveError) {
    try bytes.withRaw { bytes throws(ArchiveError) in try append(bytes) }
  }

  private func append(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // A full chunk goes out when it turns out not to be the last.
      if filled == plain.count { try flush(isLast: false) }
      let part = rest.prefix(plain.count - filled)
      let offset = filled
      plain.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[offset...]).copyBytes(from: part) }
      filled += part.count
      rest = rest.dropFirst(part.count)
    }
  }

  private func flush(isLast: Bool) throws(ArchiveError) {
    let count = filled
    let length = count + ChunkStream.overhead
    sealed.replaceSubrange(0..<4, with: littleEndian(UInt32(length)))
    plain.withUnsafeBytes { source in
      sealed.withUnsafeMutableBytes { target in
        stream.seal(
          UnsafeRawBufferPointer(rebasing: source[..<count]), isLast: isLast,
          into: UnsafeMutableRawBufferPointer(rebasing: target[4...]))
      }
    }
    filled = 0
    try put(sealed[..<(4 + length)])
  }

  private func put(_ bytes: some RandomAccessCollection<UInt8>) throws(ArchiveError) {
    written += bytes.count
    guard written <= limit else { throw .tooLarge("the export file", limit: limit) }
    try Array(bytes).withRaw { bytes throws(ArchiveError) in try FileAccess.write(bytes, to: file) }
  }
}
