internal import Glibc

/// All that `file` (a pipe, a terminal, a file) gives until its end, straight into guarded memory.
///
/// Waits for the writer; what the kernel's own pipe or terminal buffer held is beyond its reach.
/// - Parameter limit: the most bytes to accept.
/// - Throws: `.tooLarge` where there are more than `limit` bytes; `.outOfMemory`; `.system` where reading failed.
public func readToEnd(_ file: Int32, limit: Int) throws(SecretMemoryError) -> SecretBytes {
  let limit = min(limit, 1 << 40)  // so that one more than the limit is still a number
  var buffer = try SecretBytes(count: min(4096, limit + 1))
  var filled = 0
  while true {
    if filled == buffer.count {
      guard filled <= limit else { throw .tooLarge(limit: limit) }
      var larger = try SecretBytes(count: min(buffer.count * 2, limit + 1))
      buffer.withUnsafeBytes { old in larger.withUnsafeMutableBytes { $0.copyMemory(from: old) } }
      buffer = larger
    }
    let got = buffer.withUnsafeMutableBytes { memory in
      read(file, memory.baseAddress.map { $0 + filled }, memory.count - filled)
    }
    if got < 0 {
      if errno == EINTR { continue }
      throw .system(call: "read", code: errno)
    }
    if got == 0 { break }
    filled += got
  }
  guard filled <= limit else { throw .tooLarge(limit: limit) }
  return try buffer.prefix(filled)
}
