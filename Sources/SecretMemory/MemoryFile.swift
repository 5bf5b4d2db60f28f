internal import CPosix
internal import Glibc

/// An anonymous memory file that travels between processes, of content that is no secret (an encrypted file, say).
public enum MemoryFile {
  /// A new one, empty and close-on-exec; the caller closes it. `name` only shows in /proc.
  /// - Throws: `.system`.
  public static func make(name: String) throws(SecretMemoryError) -> Int32 {
    let flags = UInt32(cposix_MFD_CLOEXEC | cposix_MFD_ALLOW_SEALING)
    let file = name.withCString { cposix_memfd_create($0, flags) }
    guard file >= 0 else { throw .system(call: "memfd_create", code: errno) }
    return file
  }

  /// Seals it against growing, shrinking and further seals.
  /// - Throws: `.system`.
  public static func seal(_ file: Int32) throws(SecretMemoryError) {
    let seals = cposix_F_SEAL_GROW | cposix_F_SEAL_SHRINK | cposix_F_SEAL_SEAL
    guard cposix_fcntl_int(file, Int32(cposix_F_ADD_SEALS), Int32(seals)) == 0 else {
      throw .system(call: "F_ADD_SEALS", code: errno)
    }
  }

  /// How many bytes one has that another process made. Reading it waits for nobody, which is so of nothing else.
  /// - Throws: `.notOpen`, `.notReadWrite`, `.notMemoryFile`, `.notSealed`, `.tooLarge`.
  public static func size(_ file: Int32, limit: Int) throws(SecretMemoryError) -> Int {
    let flags = cposix_fcntl_int(file, F_GETFL, 0)
    guard flags >= 0 else { throw .notOpen }
    guard flags & Int32(cposix_O_PATH) == 0, flags & O_ACCMODE != O_WRONLY else { throw .notReadWrite }
    let seals = cposix_fcntl_int(file, Int32(cposix_F_GET_SEALS), 0)
    guard seals >= 0 else { throw .notMemoryFile }
    let needed = Int32(cposix_F_SEAL_GROW | cposix_F_SEAL_SHRINK)
    guard seals & needed == needed else { throw .notSealed }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system(call: "fstat", code: errno) }
    guard status.st_size <= limit else { throw .tooLarge(limit: limit) }
    return status.st_size
  }
}
