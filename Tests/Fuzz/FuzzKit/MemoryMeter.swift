import Glibc

private struct Counts {
  var now = 0
  var most = 0
}

// Targets run in one thread, and hooks must not allocate.
nonisolated(unsafe) private let counts = {
  let counts = UnsafeMutablePointer<Counts>.allocate(capacity: 1)
  counts.initialize(to: Counts())
  return counts
}()

/// The most memory that was allocated at a time during a run, as the sanitizer's allocator sees it.
enum MemoryMeter {
  /// What a run may take whatever its input is: what libraries keep, and buffers of a fixed size.
  static let fixed = 4 << 20
  /// What it may take for each byte of the input: the same bytes are there as an input, a row, a value and a text.
  static let perByte = 256

  static func install() {
    _ = counts
    _ = installHooks(
      { _, count in
        counts.pointee.now += count
        counts.pointee.most = max(counts.pointee.most, counts.pointee.now)
      },
      { memory in counts.pointee.now -= allocatedSize(memory) })
  }

  static func begin() { counts.pointee = Counts() }
  static func end() -> Int { counts.pointee.most }
}

@_silgen_name("__sanitizer_install_malloc_and_free_hooks")
private func installHooks(
  _ onAllocation: @convention(c) (UnsafeRawPointer?, Int) -> Void,
  _ onRelease: @convention(c) (UnsafeRawPointer?) -> Void
) -> CInt

@_silgen_name("__sanitizer_get_allocated_size")
private func allocatedSize(_ memory: UnsafeRawPointer?) -> Int
