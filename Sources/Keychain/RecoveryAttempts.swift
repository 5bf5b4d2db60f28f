internal import CPosix
internal import Glibc

/// The wrong passcodes at a keychain that is out of reach, its lockout record with it: a small file beside it, which goes
/// when the keychain is removed. Like what it stands in for, it binds nobody who can write there.
public struct RecoveryAttempts {
  private static let version: UInt8 = 1
  private static let size = 256

  private let path: String
  private let folder: String

  /// The attempts at the keychain in that folder, which need not be there yet.
  public init(folder: String) {
    self.folder = folder
    path = folder + "/recovery-attempts"
  }

  /// What is recorded; that of nothing where there is no file. One that cannot be made sense of counts as one that was
  /// altered: a single attempt, then the delay of ten.
  /// - Throws: `.io` where it cannot be read.
  public func record() throws(KeychainError) -> LockoutRecord {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return LockoutRecord() }
      throw systemError("\(path) could not be opened", path: path)
    }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.size)
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { throw systemError("\(path) could not be read", path: path) }
    return bytes.prefix(count).withUnsafeBytes { source in
      var reader = ByteReader(source)
      guard reader.number(UInt8.self) == Self.version, let failures = reader.number(UInt8.self),
        let notBefore = reader.number(Int64.self), let sinceBoot = reader.number(Int64.self),
        let bootID = reader.field(), reader.isAtEnd, notBefore >= 0, sinceBoot >= 0
      else { return .failSafe }
      return LockoutRecord(
        passcodeFailures: Int(failures), passcodeNotBefore: notBefore, bootID: bootID,
        passcodeNotBeforeSinceBoot: sinceBoot)
    }
  }

  /// Records that; on the disk when this returns. One without failures leaves no file.
  /// - Throws: `.diskFull`, `.readOnly`, `.io`.
  public func store(_ record: LockoutRecord) throws(KeychainError) {
    guard record.passcodeFailures > 0 else {
      guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else {
        throw systemError("\(path) could not be removed", path: path)
      }
      return try sync()
    }
    var writer = ByteWriter()
    writer.write(Self.version)
    writer.write(UInt8(clamping: record.passcodeFailures))
    writer.write(record.passcodeNotBefore)
    writer.write(record.passcodeNotBeforeSinceBoot)
    writer.write(record.bootID)
    let new = path + ".new"
    let flags = O_WRONLY | O_CREAT | O_TRUNC | Int32(cposix_O_NOFOLLOW) | Int32(cposix_O_CLOEXEC)
    let file = new.withCString { cposix_openat(AT_FDCWD, $0, flags, 0o600) }
    guard file >= 0 else { throw systemError("\(new) could not be made", path: path) }
    defer { close(file) }
    let bytes = writer.bytes
    guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0, rename(new, path) == 0 else {
      throw systemError("\(path) could not be written", path: path)
    }
    try sync()
  }

  private func sync() throws(KeychainError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw systemError("\(folder) could not be written", path: folder) }
  }
}
