import Glibc
import SecretMemory
import Testing

@testable import KeychainArchive

@Suite struct HostileFileTests {
  private static let items = [
    Sample(attributes: Array("one".utf8), accessControl: [1, 1, 0], secret: Array("first secret".utf8)),
    Sample(attributes: Array("two".utf8), accessControl: [1, 1, 0], secret: Array("second secret".utf8)),
  ]

  /// What reading such bytes ends with; nil where it went well.
  private func problem(of bytes: [UInt8], passphrase: String = "right") throws -> ArchiveError? {
    let file = TestFile(bytes)
    do {
      _ = try content(of: file, passphrase: passphrase)
      return nil
    } catch let error as ArchiveError {
      return error
    }
  }

  @Test func `each flipped bit is noticed`() throws {
    let good = try archive(Self.items).bytes
    try #require(try problem(of: good) == nil)
    for place in good.indices {
      for bit in 0..<8 {
        var bytes = good
        bytes[place] ^= 1 << bit
        let problem = try problem(of: bytes)
        switch place {
        case 0..<8: #expect(problem == .notAnExportFile, "byte \(place)")
        case 8..<12: #expect(problem.map(isTooNew) == true, "byte \(place)")
        case 12..<20: #expect(problem.map(isRefusedOrWrong) == true, "byte \(place)")
        case 20..<92: #expect(problem == .wrongPassphrase, "byte \(place)")
        case 92..<96: #expect(problem == .altered || problem == .truncated, "byte \(place)")
        default: #expect(problem == .altered, "byte \(place)")
        }
      }
    }
  }

  private func isTooNew(_ error: ArchiveError) -> Bool { if case .tooNew = error { true } else { false } }

  private func isRefusedOrWrong(_ error: ArchiveError) -> Bool {
    if case .refusedCost = error { true } else { error == .wrongPassphrase }
  }

  @Test func `each truncation is noticed`() throws {
    let good = try archive(Self.items).bytes
    for count in good.indices {
      let problem = try problem(of: Array(good[..<count]))
      #expect(problem == (count < 8 ? .notAnExportFile : .truncated), "\(count) bytes")
    }
  }

  @Test(arguments: [0, 1, 17, 255]) func `any byte after the end is noticed`(byte: Int) throws {
    let good = try archive(Self.items).bytes
    #expect(try problem(of: good + [UInt8(byte)]) == .altered)
  }

  /// A file of three whole chunks and a bit, and where each chunk begins and ends.
  private func longFile() throws -> (bytes: [UInt8], chunks: [Range<Int>]) {
    let bytes = try archive([Sample(attributes: [], secret: [UInt8](repeating: 9, count: 200_000))]).bytes
    let whole = 4 + 65_536 + 17
    let starts = (0..<4).map { 92 + $0 * whole }
    return (bytes, starts.map { $0..<min($0 + whole, bytes.count) })
  }

  @Test func `chunks can be neither dropped, doubled, nor exchanged`() throws {
    let (bytes, chunks) = try longFile()
    let header = Array(bytes[..<92])
    let parts = chunks.map { Array(bytes[$0]) }
    try #require(try problem(of: header + parts.joined()) == nil)
    #expect(try problem(of: header + parts[0] + parts[2] + parts[3]) == .altered)
    #expect(try problem(of: header + parts[0] + parts[0] + parts[1] + parts[2] + parts[3]) == .altered)
    #expect(try problem(of: header + parts[1] + parts[0] + parts[2] + parts[3]) == .altered)
    #expect(try problem(of: header + parts[0] + parts[1] + parts[2]) == .truncated)
    #expect(try problem(of: header + parts[3]) == .altered)
    #expect(try problem(of: header) == .truncated)
  }

  @Test func `chunks of two exports under one passphrase do not go together`() throws {
    let (one, chunks) = try longFile()
    let (other, _) = try longFile()
    for chunk in chunks {
      #expect(try problem(of: Array(one[..<chunk.lowerBound]) + other[chunk] + one[chunk.upperBound...]) == .altered)
    }
    #expect(try problem(of: Array(one[..<92] + other[92...])) == .altered)
    // The header of one with the salt and nonce of the other: its proof is another's.
    #expect(try problem(of: Array(one[..<20] + other[20..<60] + one[60...])) == .wrongPassphrase)
  }

  @Test func `what a file may ask for is bounded`() throws {
    let good = try archive([]).bytes
    func asking(_ passes: UInt32, _ memory: UInt32) -> [UInt8] {
      good[..<12] + littleEndian(passes) + littleEndian(memory) + good[20...]
    }
    for (passes, memory) in [(0, 8), (17, 8), (.max, 8), (1, 7), (1, 262_145), (1, .max)] as [(UInt32, UInt32)] {
      let found = try problem(of: asking(passes, memory))
      guard case .refusedCost = found else {
        Issue.record("\(passes) passes over \(memory) KiB: \(String(describing: found))")
        continue
      }
    }
    #expect(try problem(of: asking(1, 8)) == nil)
  }

  @Test func `a later version is told as that, whatever follows`() throws {
    let good = try archive([]).bytes
    #expect(try problem(of: good[..<8] + [2, 0]) == .tooNew("format 2"))
    #expect(try problem(of: good[..<8] + [0, 1] + good[10...]) == .tooNew("format 256"))
  }

  @Test(arguments: ["", "SQLite format 3", "name,secret\n", "WHORL", "WHORL\n\u{1A}"])
  func `other files are told as such`(text: String) throws {
    #expect(try problem(of: Array(text.utf8)) == .notAnExportFile)
  }

  /// A file whose content is these bytes, which somebody with the passphrase made.
  private func file(content: [UInt8]) throws -> [UInt8] {
    let key = try ArchiveKey.make(passphrase: try secret("right"), cost: .none)
    var header = key.header
    var stream = try ChunkStream.sealing(key, &header)
    var sealed = [UInt8](repeating: 0, count: content.count + ChunkStream.overhead)
    content.withUnsafeBytes { source in
      sealed.withUnsafeMutableBytes { stream.seal(source, isLast: true, into: $0) }
    }
    return header.bytes + key.check(of: header) + littleEndian(UInt32(sealed.count)) + sealed
  }

  @Test(
    arguments: [
      [0], [1], [1, 0], [1, 1, 0, 0, 0, 0, 0], [1, 3, 0, 0, 0, 0], [1, 3, 5, 0, 0, 0, 1], [1, 3, 255, 255, 255, 255],
      [1, 1, 255, 255, 255, 127], [1, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [1, 3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0],
      [1, 3, 0, 0, 0, 0, 0, 0],
    ] as [[UInt8]])
  func `content that makes no sense is refused, also from somebody with the passphrase`(content: [UInt8]) throws {
    #expect(try problem(of: file(content: content)) == .altered)
  }

  @Test func `records and fields of later versions are told as that`() throws {
    #expect(try problem(of: file(content: [2])) == .tooNew("a record of kind 2"))
    #expect(try problem(of: file(content: [1, 4, 0, 0, 0, 0, 0])) == .tooNew("a field of kind 4"))
    #expect(try problem(of: file(content: [1, 3, 0, 0, 0, 0, 0])) == nil)
  }

  @Test func `a short chunk that is not the last is refused`() throws {
    let key = try ArchiveKey.make(passphrase: try secret("right"), cost: .none)
    var header = key.header
    var stream = try ChunkStream.sealing(key, &header)
    var bytes: [UInt8] = []
    for (content, isLast) in [([1, 3, 0, 0], false), ([0, 0, 0], true)] as [([UInt8], Bool)] {
      var sealed = [UInt8](repeating: 0, count: content.count + ChunkStream.overhead)
      content.withUnsafeBytes { source in
        sealed.withUnsafeMutableBytes { stream.seal(source, isLast: isLast, into: $0) }
      }
      bytes += littleEndian(UInt32(sealed.count)) + sealed
    }
    #expect(try problem(of: header.bytes + key.check(of: header) + bytes) == .altered)
  }

  @Test func `random bytes after a right header are refused`() throws {
    var random = SystemRandomNumberGenerator()
    let header = Array(try archive([]).bytes[..<92])
    for _ in 0..<200 {
      let count = Int.random(in: 0..<300, using: &random)
      let tail = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let found = try problem(of: header + tail)
      #expect(found == .altered || found == .truncated)
    }
  }

  @Test func `after an error there is nothing more to read`() throws {
    let (bytes, chunks) = try longFile()
    let file = TestFile(Array(bytes[..<chunks[1].upperBound]))
    let key = try ArchiveKey.open(file.descriptor, passphrase: try secret("right"))
    let reader = try ArchiveReader(file.descriptor, key: key)
    for _ in 0..<2 { #expect(throws: ArchiveError.truncated) { _ = try reader.next() } }
  }
}
