import CPosix
import Foundation
import Glibc
import Testing

@testable import SecretMemory

private let addSeals = Int32(cposix_F_ADD_SEALS)
private let sealShrink = Int32(cposix_F_SEAL_SHRINK)
private let sealGrow = Int32(cposix_F_SEAL_GROW)
private let sealWrite = Int32(cposix_F_SEAL_WRITE)
private let sealFutureWrite = Int32(cposix_F_SEAL_FUTURE_WRITE)

/// A memory file of those bytes and seals, closed when it ends.
private final class MemoryFile {
  let descriptor: Int32
  init(_ bytes: [UInt8], seals: Int32) {
    descriptor = cposix_memfd_create("test", UInt32(cposix_MFD_ALLOW_SEALING))
    _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    _ = fcntl(descriptor, addSeals, seals)
  }
  deinit { close(descriptor) }
}

@Suite struct SecretFileTests {
  private let limit = 1 << 20

  @Test(arguments: [0, 1, 300, 1 << 20])
  func `a sealed secret is taken whole, and the file then reads as zeros`(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let file = try SecretFile.seal(try secret(bytes), name: "test")
    defer { close(file) }
    let taken = try SecretFile.take(file, limit: limit)
    #expect(array(taken) == bytes)
    var left = [UInt8](repeating: 1, count: bytes.count + 1)
    #expect(pread(file, &left, left.count, 0) == bytes.count)
    #expect(left.dropLast().allSatisfy { $0 == 0 })
  }

  @Test func `a sealed file can neither grow nor shrink nor get more seals, and closes on exec`() throws {
    let file = try SecretFile.seal(try secret([1, 2, 3]), name: "test")
    defer { close(file) }
    #expect(ftruncate(file, 2) == -1)
    #expect(ftruncate(file, 4) == -1)
    #expect(fcntl(file, addSeals, sealWrite) == -1)
    #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `the file's offset neither counts nor changes`() throws {
    let file = try SecretFile.seal(try secret([1, 2, 3]), name: "test")
    defer { close(file) }
    lseek(file, 2, SEEK_SET)
    #expect(array(try SecretFile.take(file, limit: limit)) == [1, 2, 3])
    #expect(lseek(file, 0, SEEK_CUR) == 2)
  }

  @Test(arguments: [0, sealGrow, sealShrink])
  func `a memory file without both seals is refused and left as it is`(seals: Int32) {
    let file = MemoryFile([1, 2, 3], seals: seals)
    #expect(throws: SecretMemoryError.notSealed) { _ = try SecretFile.take(file.descriptor, limit: limit) }
    var left: [UInt8] = [0, 0, 0]
    pread(file.descriptor, &left, 3, 0)
    #expect(left == [1, 2, 3])
  }

  @Test(arguments: [sealWrite, sealFutureWrite])
  func `a memory file that could not be wiped is refused`(seal: Int32) {
    let file = MemoryFile([1], seals: sealGrow | sealShrink | seal)
    #expect(throws: SecretMemoryError.writeSealed) { _ = try SecretFile.take(file.descriptor, limit: limit) }
  }

  @Test func `at the limit is accepted, one byte more is refused`() throws {
    let file = MemoryFile([1, 2, 3], seals: sealGrow | sealShrink)
    #expect(throws: SecretMemoryError.tooLarge(limit: 2)) { _ = try SecretFile.take(file.descriptor, limit: 2) }
    #expect(array(try SecretFile.take(file.descriptor, limit: 3)) == [1, 2, 3])
  }

  @Test func `a sparse file of terabytes is refused without being read`() {
    let file = MemoryFile([], seals: 0)
    ftruncate(file.descriptor, 1 << 42)
    _ = fcntl(file.descriptor, addSeals, sealGrow | sealShrink)
    #expect(throws: SecretMemoryError.tooLarge(limit: limit)) { _ = try SecretFile.take(file.descriptor, limit: limit) }
  }

  @Test func `what is no memory file is refused by name`() throws {
    let name = NSTemporaryDirectory() + "whorl-\(UUID().uuidString)"
    let ordinary = open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
    unlink(name)
    let directory = open("/", O_RDONLY)
    var ends: [Int32] = [0, 0]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    defer { for file in [ordinary, directory] + ends { close(file) } }
    #expect(throws: SecretMemoryError.notMemoryFile) { _ = try SecretFile.take(ends[0], limit: limit) }
    #expect(throws: SecretMemoryError.notReadWrite) { _ = try SecretFile.take(directory, limit: limit) }
    // A tmpfs answers for seals that it does not have; a disk does not answer.
    let error = #expect(throws: SecretMemoryError.self) { _ = try SecretFile.take(ordinary, limit: limit) }
    #expect(error == .notMemoryFile || error == .notSealed)
  }

  @Test func `a descriptor without the right to read and write is refused`() {
    let file = MemoryFile([1], seals: sealGrow | sealShrink)
    for flags in [Int32(cposix_O_PATH), O_RDONLY] {
      let other = open("/proc/self/fd/\(file.descriptor)", flags)
      defer { close(other) }
      #expect(throws: SecretMemoryError.notReadWrite) { _ = try SecretFile.take(other, limit: limit) }
    }
  }

  @Test func `a number that is no open descriptor is refused`() {
    #expect(throws: SecretMemoryError.notOpen) { _ = try SecretFile.take(-1, limit: limit) }
  }
}

@Suite struct ReadToEndTests {
  /// Gives `bytes` through a pipe, in pieces that do not fit it at once.
  private func piped(_ bytes: [UInt8], limit: Int) throws -> SecretBytes {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    let (reading, writing) = (ends[0], ends[1])
    defer { close(reading) }
    Thread.detachNewThread {
      var done = 0
      while done < bytes.count {
        let written = bytes.withUnsafeBytes { write(writing, $0.baseAddress! + done, min(10_000, $0.count - done)) }
        if written < 0 { break }
        done += written
      }
      close(writing)
    }
    return try readToEnd(reading, limit: limit)
  }

  @Test(arguments: [0, 1, 4095, 4096, 4097, 8192, 100_000])
  func `everything up to the end comes, whatever its size`(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(array(try piped(bytes, limit: 100_000)) == bytes)
    #expect(array(try piped(bytes, limit: .max)) == bytes)
  }

  @Test func `more than the limit is refused`() {
    signal(SIGPIPE, SIG_IGN)
    #expect(throws: SecretMemoryError.tooLarge(limit: 3)) { _ = try piped([1, 2, 3, 4], limit: 3) }
    #expect(throws: SecretMemoryError.tooLarge(limit: 0)) { _ = try piped([1], limit: 0) }
  }

  @Test func `a descriptor that cannot be read is an error`() {
    #expect(throws: SecretMemoryError.system(call: "read", code: EBADF)) { _ = try readToEnd(-1, limit: 10) }
  }
}
