import CPosix
import Foundation
import Synchronization
import Testing

@testable import SecretMemory

/// The bytes of a secret as an array: for comparisons in tests alone.
func array(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// A secret of those bytes.
func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }

@Suite struct SecretBytesTests {
  @Test func `a new secret of a given size holds zeros`() throws {
    #expect(array(try SecretBytes(count: 5)) == [0, 0, 0, 0, 0])
  }

  @Test(arguments: [0, 1, 300, 1 << 20])
  func `bytes come back as they went in, NUL and none at all too`(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    #expect(array(try secret(bytes)) == bytes)
    #expect(array(try SecretBytes(copying: bytes.span.bytes)) == bytes)
  }

  @Test func `a size that cannot be had is an error and no crash`() {
    #expect(throws: SecretMemoryError.outOfMemory(bytes: -1)) { _ = try SecretBytes(count: -1) }
    #expect(throws: SecretMemoryError.outOfMemory(bytes: .max)) { _ = try SecretBytes(count: .max) }
  }

  @Test func `a clone has the bytes in memory of its own`() throws {
    var original = try secret([1, 2, 3])
    let clone = try original.clone()
    original.withUnsafeMutableBytes { $0[0] = 9 }
    #expect(array(clone) == [1, 2, 3])
    #expect(array(original) == [9, 2, 3])
  }

  @Test func `a prefix is never longer than the secret nor shorter than nothing`() throws {
    let whole = try secret([1, 2, 3])
    #expect(array(try whole.prefix(2)) == [1, 2])
    #expect(array(try whole.prefix(9)) == [1, 2, 3])
    #expect(array(try whole.prefix(-1)) == [])
  }

  @Test func `secrets are equal by their bytes and their length`() throws {
    #expect(SecretBytes.constantTimeEqual(try secret([1, 2]), try secret([1, 2])))
    #expect(!SecretBytes.constantTimeEqual(try secret([1, 2]), try secret([1, 3])))
    #expect(!SecretBytes.constantTimeEqual(try secret([1, 2]), try secret([1, 2, 0])))
    #expect(SecretBytes.constantTimeEqual(try secret([]), try secret([])))
  }

  @Test func `two random secrets differ`() throws {
    #expect(!SecretBytes.constantTimeEqual(try SecretBytes.random(count: 32), try SecretBytes.random(count: 32)))
  }

  // What this shows: that deinit clears the very memory that held the bytes, whole, before giving it back. What it
  // does not: copies that the compiler or a caller made elsewhere.
  @Test func `every byte is wiped when the secret ends`() throws {
    let seen = Mutex<[UInt8]?>(nil)
    do {
      var held = try secret([UInt8](repeating: 0xAA, count: 5000))
      held.afterWipe = { memory in seen.withLock { $0 = Array(memory) } }
      #expect(seen.withLock { $0 } == nil)
    }
    #expect(seen.withLock { $0 } == [UInt8](repeating: 0, count: 5000))
  }

  @Test func `reading past the end ends the process`() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let held = try SecretBytes(count: 4096)
      // The guard page stands right behind the last byte.
      held.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress { print((base + 4096).load(as: UInt8.self)) }
      }
    }
  }

  @Test func `writing before the start ends the process when the secret ends`() async {
    await #expect(processExitsWith: .failure) {
      var held = try SecretBytes(count: 100)
      held.withUnsafeMutableBytes { bytes in
        if let base = bytes.baseAddress { (base - 1).storeBytes(of: 1, as: UInt8.self) }
      }
      _ = consume held
    }
  }

  @Test func `core dumps are forbidden and the process cannot be dumped`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try CoreDumps.forbid()
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      let getDumpable: Int32 = 3
      exit(limit.rlim_cur == 0 && limit.rlim_max == 0 && cposix_prctl(getDumpable, 0) == 0 ? 42 : 1)
    }
  }
}
