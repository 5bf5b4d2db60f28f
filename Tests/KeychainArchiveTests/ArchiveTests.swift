import Glibc
import SecretMemory
import Testing

@testable import KeychainArchive

@Suite struct ArchiveTests {
  private static let items = [
    Sample(attributes: Array("service and account".utf8), accessControl: [1, 1, 1, 2], secret: Array("hunter2".utf8)),
    Sample(attributes: [], secret: []),
    Sample(attributes: [0, 255], accessControl: [9], secret: [0, 0, 0]),
  ]

  @Test func `what is written comes back, in order`() throws {
    #expect(try content(of: archive(Self.items)) == Self.items)
  }

  @Test func `an export of nothing is a whole file`() throws {
    #expect(try content(of: archive([])) == [])
  }

  @Test(arguments: [0, 1, 65_500, 65_535, 65_536, 65_537, 131_072, 1 << 20])
  func `secrets of every size come back`(count: Int) throws {
    let items = [
      Sample(attributes: [1], secret: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }),
      Sample(attributes: [2], secret: [3]),
    ]
    #expect(try content(of: archive(items)) == items)
  }

  @Test func `a record that ends exactly with a chunk is the last one of its file`() throws {
    // Kind, two fields with tag and length, end: 12 bytes beside what is in them.
    let items = [Sample(attributes: [1, 2, 3, 4], secret: [UInt8](repeating: 5, count: 65_536 - 16))]
    let file = try archive(items)
    #expect(file.bytes.count == 92 + 4 + 65_536 + 17)
    #expect(try content(of: file) == items)
  }

  @Test func `what is larger than an item may be is refused and leaves the file usable`() throws {
    let file = TestFile()
    let key = try ArchiveKey.make(passphrase: try secret("right"), cost: .none)
    let writer = try ArchiveWriter(to: file.descriptor, key: key)
    #expect(throws: ArchiveError.tooLarge("a secret", limit: 1 << 20)) {
      try writer.write(attributes: [], secret: try SecretBytes(count: 1 << 20 + 1))
    }
    #expect(throws: ArchiveError.tooLarge("the attributes of an item", limit: 256 << 10)) {
      try writer.write(attributes: [UInt8](repeating: 0, count: 256 << 10 + 1), secret: try secret("s"))
    }
    try writer.write(attributes: [7], secret: try secret("s"))
    try writer.finish()
    #expect(try content(of: file) == [Sample(attributes: [7], secret: Array("s".utf8))])
  }

  @Test func `a file does not grow beyond its limit`() throws {
    let file = TestFile()
    let key = try ArchiveKey.make(passphrase: try secret("right"), cost: .none)
    let writer = try ArchiveWriter(to: file.descriptor, key: key, limit: 100_000)
    #expect(throws: ArchiveError.tooLarge("the export file", limit: 100_000)) {
      for _ in 0..<10 { try writer.write(attributes: [], secret: try SecretBytes(count: 50_000)) }
    }
    #expect(file.bytes.count <= 100_000)
  }

  @Test func `ten thousand items go through in little memory`() async {
    // In a process of its own, whose memory nothing else uses.
    await #expect(processExitsWith: .success) {
      let file = TestFile()
      let key = try ArchiveKey.make(passphrase: try secret("right"), cost: .none)
      let before = try peakMemory()
      let writer = try ArchiveWriter(to: file.descriptor, key: key)
      for number in 0..<10_000 {
        try writer.write(
          attributes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1000),
          accessControl: [1, 1, 0], secret: try secret([UInt8](repeating: 1, count: 1000)))
      }
      try writer.finish()
      try #require(writer.count == 10_000)
      let reader = try ArchiveReader(
        file.descriptor, key: try ArchiveKey.open(file.descriptor, passphrase: try secret("right")))
      var count = 0
      while let record = try reader.next() {
        try #require(record.attributes.first == UInt8(truncatingIfNeeded: count))
        count += 1
      }
      try #require(count == 10_000)
      // The file, of 20 MB, is the kernel's.
      let used = try peakMemory() - before
      try #require(used < 4 << 20, "\(used) bytes more")
    }
  }

  @Test func `another passphrase is told from a damaged file`() throws {
    let file = try archive(Self.items)
    #expect(throws: ArchiveError.wrongPassphrase) { try content(of: file, passphrase: "wrong") }
    #expect(throws: ArchiveError.wrongPassphrase) { try content(of: file, passphrase: "right ") }
  }

  @Test(arguments: [0, 1025]) func `a passphrase has 1 to 1024 bytes`(count: Int) throws {
    let passphrase = String(repeating: "x", count: count)
    #expect(throws: ArchiveError.badPassphrase(limit: 1024)) { try archive([], passphrase: passphrase) }
    let file = try archive([])
    #expect(throws: ArchiveError.badPassphrase(limit: 1024)) { try content(of: file, passphrase: passphrase) }
  }

  @Test func `the longest passphrase counts to its end`() throws {
    let long = String(repeating: "x", count: 1024)
    let file = try archive(Self.items, passphrase: long)
    #expect(try content(of: file, passphrase: long) == Self.items)
    #expect(throws: ArchiveError.wrongPassphrase) { try content(of: file, passphrase: String(long.dropLast())) }
  }

  @Test func `the standard cost is what the documentation says`() throws {
    let file = try archive(Self.items, cost: .standard)
    #expect(Array(file.bytes[12..<20]) == [3, 0, 0, 0, 0, 0, 4, 0])
    #expect(try content(of: file) == Self.items)
  }

  @Test func `two exports of the same have nothing in common`() throws {
    let (one, other) = (try archive(Self.items).bytes, try archive(Self.items).bytes)
    #expect(one[..<20] == other[..<20])
    #expect(one[20..<60] != other[20..<60])
    #expect(one[96...] != other[96...])
  }

  @Test func `the offset of a file that is read neither counts nor changes`() throws {
    let file = try archive(Self.items)
    lseek(file.descriptor, 5, SEEK_SET)
    #expect(try content(of: file) == Self.items)
    #expect(lseek(file.descriptor, 0, SEEK_CUR) == 5)
  }

  @Test func `what cannot be written or read is an error of its call`() throws {
    let key = try ArchiveKey.make(passphrase: try secret("right"), cost: .none)
    #expect(throws: ArchiveError.io(call: "write", code: EBADF)) { _ = try ArchiveWriter(to: -1, key: key) }
    #expect(throws: ArchiveError.io(call: "pread", code: EBADF)) {
      _ = try ArchiveKey.open(-1, passphrase: try secret("right"))
    }
  }
}

/// The most memory that this process's pages ever took, in bytes.
private func peakMemory() throws -> Int {
  var usage = rusage()
  try #require(getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0)
  return usage.ru_maxrss << 10
}
