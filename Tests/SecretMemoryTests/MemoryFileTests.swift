import CPosix
import Glibc
import Testing

@testable import SecretMemory

@Suite struct MemoryFileTests {
  @Test func `one that another process sealed has a size, up to the limit`() throws {
    let file = try MemoryFile.make(name: "test")
    defer { close(file) }
    #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
    #expect(write(file, "abc", 3) == 3)
    #expect(throws: SecretMemoryError.notSealed) { _ = try MemoryFile.size(file, limit: 10) }
    try MemoryFile.seal(file)
    #expect(try MemoryFile.size(file, limit: 3) == 3)
    #expect(throws: SecretMemoryError.tooLarge(limit: 2)) { _ = try MemoryFile.size(file, limit: 2) }
    #expect(ftruncate(file, 2) == -1)
    #expect(ftruncate(file, 4) == -1)
    #expect(throws: SecretMemoryError.system(call: "F_ADD_SEALS", code: EPERM)) { try MemoryFile.seal(file) }
  }

  @Test func `nothing else is taken`() throws {
    var pipes: [Int32] = [0, 0]
    #expect(pipe(&pipes) == 0)
    let folder = open("/tmp", O_RDONLY)
    let path = "/tmp".withCString { cposix_openat(AT_FDCWD, $0, Int32(cposix_O_PATH), 0) }
    defer { for file in pipes + [folder, path] { close(file) } }
    #expect(throws: SecretMemoryError.notMemoryFile) { _ = try MemoryFile.size(pipes[0], limit: 10) }
    #expect(throws: SecretMemoryError.notMemoryFile) { _ = try MemoryFile.size(folder, limit: 10) }
    #expect(throws: SecretMemoryError.notReadWrite) { _ = try MemoryFile.size(path, limit: 10) }
    #expect(throws: SecretMemoryError.notReadWrite) { _ = try MemoryFile.size(pipes[1], limit: 10) }
    #expect(throws: SecretMemoryError.notOpen) { _ = try MemoryFile.size(-1, limit: 10) }
  }
}
