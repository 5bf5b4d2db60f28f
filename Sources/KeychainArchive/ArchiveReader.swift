internal import SecretMemory

/// Reads an export file, one item after another, in bounded memory. Not for two tasks at once.
///
/// Items come before the file's end is known to be genuine: only when `next` gives nil are they all there, and none of
/// them should have an effect before. After an error there is nothing more to read.
public final class ArchiveReader {
  private let file: Int32
  private var offset = ArchiveHeader.byteCount
  private var stream: ChunkStream
  private var sealed: [UInt8]
  private var plain: SecretBytes
  /// The part of `plain` that was not taken yet.
  private var position = 0
  private var filled = 0
  private var isAtLastChunk = false
  private var failure: ArchiveError?

  /// A reader of a file that can be read at any place; its offset neither counts nor changes. It stays the caller's.
  /// - Throws: `.memory`, `.altered`.
  public init(_ file: Int32, key: borrowing ArchiveKey) throws(ArchiveError) {
    self.file = file
    stream = try ChunkStream.opening(key)
    plain = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: ArchiveLimits.chunkBytes) }
    sealed = [UInt8](repeating: 0, count: ArchiveLimits.chunkBytes + ChunkStream.overhead)
  }

  /// Looks at the beginning of a file, for which no passphrase is needed.
  /// - Parameter file: can be read at any place; its offset neither counts nor changes.
  /// - Throws: `.notAnExportFile`, `.truncated`, `.tooNew`, `.refusedCost`, `.io`.
  public static func checkStart(of file: Int32) throws(ArchiveError) {
    _ = try ArchiveHeader(ArchiveHeader.start(of: file))
  }

  /// The next item; nil where all were read and the end mark is genuine.
  /// - Throws: `.truncated`, `.altered`, `.tooNew`, `.io`, `.memory`.
  public func next() throws(ArchiveError) -> ArchiveRecord? {
    if let failure { throw failure }
    do throws(ArchiveError) { return try record() } catch {
      failure = error
      throw error
    }
  }

  private func record() throws(ArchiveError) -> ArchiveRecord? {
    guard try hasMore() else { return nil }
    let kind = try byte()
    guard kind == RecordMark.item else { throw kind == RecordMark.end ? .altered : .tooNew("a record of kind \(kind)") }
    var attributes: [UInt8] = []
    var accessControl: [UInt8] = []
    var secret: SecretBytes?
    var last: UInt8 = 0
    while true {
      let tag = try byte()
      if tag == RecordMark.end { break }
      guard tag > last else { throw .altered }
      last = tag
      switch tag {
      case RecordMark.attributes: attributes = try field(limit: ArchiveLimits.attributeBytes)
      case RecordMark.accessControl: accessControl = try field(limit: ArchiveLimits.accessControlBytes)
      case RecordMark.secret: secret = try secretField()
      default: throw .tooNew("a field of kind \(tag)")
      }
    }
    guard let whole = secret.take() else { throw .altered }
    return ArchiveRecord(attributes: attributes, accessControl: accessControl, secret: whole)
  }

  private func length(limit: Int) throws(ArchiveError) -> Int {
    var length = 0
    for place in 0..<4 { length |= Int(try byte()) << (8 * place) }
    // Whoever wrote it had the passphrase; it is refused all the same.
    guard length <= limit else { throw .altered }
    return length
  }

  private func field(limit: Int) throws(ArchiveError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: try length(limit: limit))
    try bytes.withMutableRaw { target throws(ArchiveError) in try fill(target) }
    return bytes
  }

  private func secretField() throws(ArchiveError) -> SecretBytes {
    let count = try length(limit: ArchiveLimits.secretBytes)
    var secret = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: count) }
    try secret.withUnsafeMutableBytes { target throws(ArchiveError) in try fill(target) }
    return secret
  }

  private func byte() throws(ArchiveError) -> UInt8 {
    var result: UInt8 = 0
    try withUnsafeMutableBytes(of: &result) { target throws(ArchiveError) in try fill(target) }
    return result
  }

  /// - Throws: `.altered` where the content ends in the middle.
  private func fill(_ target: UnsafeMutableRawBufferPointer) throws(ArchiveError) {
    var rest = target[...]
    while !rest.isEmpty {
      guard try hasMore() else { throw .altered }
      let range = position..<min(filled, position + rest.count)
      plain.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: rest).copyBytes(from: $0[range]) }
      position = range.upperBound
      rest = rest.dropFirst(range.count)
    }
  }

  /// Whether there is another byte, for which the next chunk is opened where need be.
  private func hasMore() throws(ArchiveError) -> Bool {
    while position == filled {
      guard !isAtLastChunk else { return false }
      try openChunk()
    }
    return true
  }

  private func openChunk() throws(ArchiveError) {
    var lengthBytes = [UInt8](repeating: 0, count: 4)
    try read(&lengthBytes, 4)
    let length = lengthBytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard (ChunkStream.overhead...sealed.count).contains(length) else { throw .altered }
    try read(&sealed, length)
    let isLast = try sealed.withRaw { source throws(ArchiveError) in
      try plain.withUnsafeMutableBytes { target throws(ArchiveError) in
        try stream.open(UnsafeRawBufferPointer(rebasing: source[..<length]), into: target)
      }
    }
    (position, filled, isAtLastChunk) = (0, length - ChunkStream.overhead, isLast)
    if isLast {
      var one: [UInt8] = [0]
      let more = try one.withMutableRaw { target throws(ArchiveError) in
        try FileAccess.read(file, at: offset, into: target)
      }
      guard more == 0 else { throw .altered }
    } else {
      guard filled == ArchiveLimits.chunkBytes else { throw .altered }
    }
  }

  private func read(_ buffer: inout [UInt8], _ count: Int) throws(ArchiveError) {
    let got = try buffer.withMutableRaw { target throws(ArchiveError) in
      try FileAccess.read(file, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]))
    }
    guard got == count else { throw .truncated }
    offset += count
  }
}
