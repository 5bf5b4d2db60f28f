internal import CPosix
internal import Glibc

/// A secret on its way between two processes: an anonymous memory file, sealed against growing and shrinking.
///
/// It is never mapped: the receiver copies it into memory of its own and then overwrites the file with zeros, so
/// that neither side can change what the other works on, nor find it later. Memory files can be swapped out until
/// then; only an encrypted swap protects from that.
public enum SecretFile {
  /// A memory file that holds `secret`, sealed against growing, shrinking and further seals; close-on-exec, its
  /// offset at 0. `name` only shows in /proc. The caller closes it.
  /// - Throws: `.system` where the kernel refuses.
  public static func seal(_ secret: borrowing SecretBytes, name: String) throws(SecretMemoryError) -> Int32 {
    let flags = UInt32(cposix_MFD_CLOEXEC | cposix_MFD_ALLOW_SEALING)
    let file = name.withCString { cposix_memfd_create($0, flags) }
    guard file >= 0 else { throw .system(call: "memfd_create", code: errno) }
    do throws(SecretMemoryError) {
      try secret.withUnsafeBytes { bytes throws(SecretMemoryError) in try write(bytes, to: file) }
      let seals = cposix_F_SEAL_GROW | cposix_F_SEAL_SHRINK | cposix_F_SEAL_SEAL
      guard cposix_fcntl_int(file, Int32(cposix_F_ADD_SEALS), Int32(seals)) == 0 else {
        throw .system(call: "F_ADD_SEALS", code: errno)
      }
    } catch {
      close(file)
      throw error
    }
    return file
  }

  /// The secret in a memory file that another process made, after which the file reads as zeros.
  ///
  /// The descriptor stays open: the caller closes it. The file's offset neither counts nor changes.
  /// - Parameter limit: the most bytes to accept.
  /// - Throws: `.notOpen`, `.notReadWrite`, `.notMemoryFile`, `.notSealed`, `.writeSealed` or `.tooLarge` before
  ///   anything is read; `.outOfMemory`; `.system` where reading or wiping failed, in which case nothing is given.
  public static func take(_ file: Int32, limit: Int) throws(SecretMemoryError) -> SecretBytes {
    let flags = cposix_fcntl_int(file, F_GETFL, 0)
    guard flags >= 0 else { throw .notOpen }
    guard flags & Int32(cposix_O_PATH) == 0, flags & O_ACCMODE == O_RDWR else { throw .notReadWrite }
    let seals = cposix_fcntl_int(file, Int32(cposix_F_GET_SEALS), 0)
    guard seals >= 0 else { throw .notMemoryFile }
    let needed = Int32(cposix_F_SEAL_GROW | cposix_F_SEAL_SHRINK)
    guard seals & needed == needed else { throw .notSealed }
    let writeSeals = Int32(cposix_F_SEAL_WRITE | cposix_F_SEAL_FUTURE_WRITE)
    guard seals & writeSeals == 0 else { throw .writeSealed }

    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system(call: "fstat", code: errno) }
    guard status.st_size <= limit else { throw .tooLarge(limit: limit) }
    var secret = try SecretBytes(count: status.st_size)
    try secret.withUnsafeMutableBytes { buffer throws(SecretMemoryError) in try read(buffer, from: file) }
    try wipe(file, count: status.st_size)
    return secret
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SecretMemoryError) {
    var done = 0
    while done < bytes.count {
      let written = pwrite(file, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(done))
      if written < 0 {
        if errno == EINTR { continue }
        throw .system(call: "pwrite", code: errno)
      }
      done += written
    }
  }

  private static func read(_ buffer: UnsafeMutableRawBufferPointer, from file: Int32) throws(SecretMemoryError) {
    var done = 0
    while done < buffer.count {
      let got = pread(file, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(done))
      if got < 0 {
        if errno == EINTR { continue }
        throw .system(call: "pread", code: errno)
      }
      // The size is sealed, so that an early end cannot be; it must not be an endless loop either.
      guard got > 0 else { throw .system(call: "pread", code: EIO) }
      done += got
    }
  }

  private static func wipe(_ file: Int32, count: Int) throws(SecretMemoryError) {
    let zeros = [UInt8](repeating: 0, count: min(count, 65_536))
    var done = 0
    while done < count {
      let written = zeros.withUnsafeBytes {
        pwrite(file, $0.baseAddress, min($0.count, count - done), off_t(done))
      }
      if written < 0 {
        if errno == EINTR { continue }
        throw .system(call: "pwrite", code: errno)
      }
      done += written
    }
  }
}
