internal import Glibc

/// Reading and writing a whole buffer.
enum FileAccess {
  /// Fills `buffer` from that place in the file, whatever its own offset is; gives how many bytes there were.
  static func read(
    _ file: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> Int {
    var done = 0
    while done < buffer.count {
      let got = pread(file, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
      if got < 0 {
        if errno == EINTR { continue }
        throw .io(call: "pread", code: errno)
      }
      if got == 0 { break }
      done += got
    }
    return done
  }

  /// Writes all of `bytes` where the file's offset is.
  static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(ArchiveError) {
    var done = 0
    while done < bytes.count {
      let written = Glibc.write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      if written < 0 {
        if errno == EINTR { continue }
        throw .io(call: "write", code: errno)
      }
      done += written
    }
  }
}

extension Array<UInt8> {
  /// As `withUnsafeBytes`, and `withUnsafeMutableBytes`, with the error that `body` throws and no other.
  func withRaw<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { bytes throws(E) in try body(UnsafeRawBufferPointer(bytes)) }
  }

  mutating func withMutableRaw<R, E: Error>(_ body: (UnsafeMutableRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeMutableBufferPointer { bytes throws(E) in try body(UnsafeMutableRawBufferPointer(bytes)) }
  }
}
