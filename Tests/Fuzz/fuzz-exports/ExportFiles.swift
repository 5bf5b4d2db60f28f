import CPosix
import Glibc
import SecretMemory

@testable import FuzzKit
@testable import KeychainArchive

/// Export files, under a fixed passphrase at the least cost.
final class ExportFiles {
  private let file: Int32
  private let key: ArchiveKey

  init() throws {
    file = cposix_memfd_create("fuzz", UInt32(cposix_MFD_CLOEXEC))
    require(file >= 0, "a memory file can be had")
    key = try ArchiveKey.make(passphrase: try Self.passphrase(), cost: .none)
  }

  deinit { close(file) }

  private static func passphrase() throws -> SecretBytes { try secret(Array("fuzz".utf8)) }

  // MARK: - What an input is

  /// The file itself.
  func raw(_ bytes: [UInt8]) throws {
    do throws(ArchiveError) {
      let header = try ArchiveHeader(bytes)
      require(header.bytes == Array(bytes.prefix(60)), "a header is written as it was read")
      require(
        (1...16).contains(header.cost.passes) && (8...256 << 10).contains(header.cost.memoryKiB),
        "no file has more than 16 passes over 256 MiB")
      // More would be the end of fuzzing.
      guard header.cost.passes <= 2, header.cost.memoryKiB <= 16 else { return }
    } catch { return requireLine(error.description) }
    put(bytes)
    _ = try read()
  }

  /// What is encrypted: a stream of records, cut into chunks.
  func records(_ input: inout FuzzInput) throws {
    var cuts: [Int] = []
    for _ in 0..<input.choice(4) { cuts.append(Int(input.number(UInt16.self))) }
    let (hasEnd, tail) = (!input.flag(), input.bytes(input.choice(3)))
    let (fillerAt, fillerCount) = (Int(input.number(UInt16.self)), 8 * Int(input.number(UInt16.self)))
    var plain = input.all()
    plain.insert(contentsOf: [UInt8](repeating: 0, count: fillerCount), at: min(fillerAt, plain.count))
    let chunks = Self.chunks(plain, cuts)
    try write(chunks, hasEnd: hasEnd)
    let end = lseek(file, 0, SEEK_END)
    require(pwrite(file, tail, tail.count, end) == tail.count, "a memory file takes what it is given")
    let samples = try read()
    let isWhole =
      hasEnd && tail.isEmpty && chunks.dropLast().allSatisfy { $0.count == 64 << 10 }
      && chunks.allSatisfy { $0.count <= 64 << 10 }
    require(samples == (isWhole ? Sample.all(in: plain) : nil), "a file is read as it was written, or refused")
  }

  /// Items that the writer writes; then the same file with one byte changed, or cut short.
  func writtenAndAltered(_ input: inout FuzzInput) throws {
    var samples: [Sample] = []
    let isCut = input.flag()
    let (place, change) = (Int(input.number(UInt16.self)), input.byte())
    while !input.isEmpty, samples.count < 50 {
      samples.append(
        Sample(attributes: input.field(), accessControl: input.bytes(input.choice(64)), secret: input.field()))
    }
    put([])
    let writer = try ArchiveWriter(to: file, key: key)
    for sample in samples {
      try writer.write(
        attributes: sample.attributes, accessControl: sample.accessControl, secret: try secret(sample.secret))
    }
    try writer.finish()
    require(try read() == samples, "what was written is read")
    let count = Int(lseek(file, 0, SEEK_END))
    // The costs that stand there must not become large ones.
    guard place < count, isCut || change != 0, isCut || !(12..<20).contains(place) else { return }
    if isCut {
      ftruncate(file, place)
    } else {
      var byte: UInt8 = 0
      pread(file, &byte, 1, place)
      byte ^= change
      pwrite(file, &byte, 1, place)
    }
    require(try read() == nil, "a file that was altered or cut at \(place) is refused")
  }

  // MARK: - The file

  private func put(_ bytes: [UInt8]) {
    ftruncate(file, 0)
    lseek(file, 0, SEEK_SET)
    require(Glibc.write(file, bytes, bytes.count) == bytes.count, "a memory file takes what it is given")
  }

  private static func chunks(_ plain: [UInt8], _ cuts: [Int]) -> [[UInt8]] {
    guard cuts.isEmpty else {
      var rest = plain[...]
      return (cuts + [plain.count]).map { count in
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
      }
    }
    guard !plain.isEmpty else { return [[]] }
    return stride(from: 0, to: plain.count, by: 64 << 10).map { Array(plain[$0..<min($0 + 64 << 10, plain.count)]) }
  }

  private func write(_ chunks: [[UInt8]], hasEnd: Bool) throws {
    var header = key.header
    var stream = try ChunkStream.sealing(key, &header)
    var bytes = header.bytes + key.check(of: header)
    for (index, chunk) in chunks.enumerated() {
      let count = chunk.count + ChunkStream.overhead
      bytes += littleEndian(UInt32(count))
      var sealed = [UInt8](repeating: 0, count: count)
      chunk.withUnsafeBytes { source in
        sealed.withUnsafeMutableBytes { target in
          stream.seal(source, isLast: hasEnd && index == chunks.count - 1, into: target)
        }
      }
      bytes += sealed
    }
    put(bytes)
  }

  /// All items; nil where the file is refused.
  private func read() throws -> [Sample]? {
    let passphrase = try Self.passphrase()
    var samples: [Sample] = []
    do throws(ArchiveError) {
      let key = try ArchiveKey.open(file, passphrase: passphrase)
      let reader = try ArchiveReader(file, key: key)
      while let record = try reader.next() { samples.append(Sample(record)) }
      return samples
    } catch {
      requireLine(error.description)
      switch error {
      case .io, .memory, .badPassphrase, .tooLarge: require(false, "a file is read or refused: \(error)")
      default: break
      }
      return nil
    }
  }

  // MARK: - Seeds

  static func seeds(_ raw: UInt8, _ records: UInt8, _ altered: UInt8) throws -> [[UInt8]] {
    let samples = [
      Sample(attributes: ImportedItems.attributes, accessControl: ImportedItems.accessControl, secret: [1, 2, 3]),
      Sample(attributes: [], secret: []),
    ]
    let files = try ExportFiles()
    let stream = samples.flatMap(\.bytes)
    try files.write([stream], hasEnd: true)
    var whole = [UInt8](repeating: 0, count: Int(lseek(files.file, 0, SEEK_END)))
    pread(files.file, &whole, whole.count, 0)
    var result = [[raw] + whole, [records] + [UInt8](repeating: 0, count: 7) + stream]
    // One item with a secret of 100,000 zeros, which goes over into a second chunk.
    var long = FuzzOutput([records, 0, 0, 0])
    long.write(UInt16(10))
    long.write(UInt16(12_500))
    long.write(all: [1, 1, 0, 0, 0, 0, 3, 0xA0, 0x86, 1, 0, 0])
    result.append(long.bytes)
    var written = FuzzOutput([altered, 0, 92, 0, 1])
    for sample in samples {
      written.write(field: sample.attributes)
      written.write(UInt8(sample.accessControl.count))
      written.write(all: sample.accessControl)
      written.write(field: sample.secret)
    }
    return result + [written.bytes]
  }
}
