import CPosix
import GLibLoop
internal import Glibc

/// A new file, readable to its owner alone, that appears under its name only once it is whole and on the disk.
@GLibActor
final class OutputFile {
  /// Where to write.
  let descriptor: Int32
  private let path: String
  private let temporary: String
  private let overwrites: Bool
  private var isThere = false

  /// Begins a file beside its place. A file of that name is refused here already, unless it is to be replaced.
  init(_ path: String, overwrites: Bool) throws(CommandFailure) {
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw CommandFailure(
          .failed,
          "\(Escaping.quoted(path)) is no regular file; name another one, or write to standard output, which is -")
      }
      guard overwrites else { throw Self.exists(path) }
    }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let name = ".whorl-export-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    temporary = folder + name
    self.path = path
    self.overwrites = overwrites
    let flags = O_WRONLY | O_CREAT | O_EXCL | Int32(cposix_O_NOFOLLOW) | Int32(cposix_O_CLOEXEC)
    descriptor = temporary.withCString { cposix_openat(AT_FDCWD, $0, flags, 0o600) }
    guard descriptor >= 0 else { throw Self.cannot("be made", path, errno) }
  }

  isolated deinit {
    if !isThere { unlink(temporary) }
    close(descriptor)
  }

  /// Puts the file in its place.
  func finish() throws(CommandFailure) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw Self.cannot("be written", path, errno) }
    }
    try put()
    isThere = true
    // Best effort: the file is whole in any case.
    let slash = path.lastIndex(of: "/")
    let folder = open(slash.map { String(path[...$0]) } ?? ".", O_RDONLY | Int32(cposix_O_DIRECTORY))
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  private func put() throws(CommandFailure) {
    if overwrites {
      guard rename(temporary, path) == 0 else { throw Self.cannot("be put in its place", path, errno) }
      return
    }
    if cposix_rename_new(temporary, path) == 0 { return }
    switch errno {
    case EEXIST: throw Self.exists(path)
    case EINVAL, ENOSYS, ENOTSUP: break
    default: throw Self.cannot("be put in its place", path, errno)
    }
    // A file system that does not know how: the name is taken by an empty file first, which the whole one replaces.
    let flags = O_WRONLY | O_CREAT | O_EXCL | Int32(cposix_O_CLOEXEC)
    let place = path.withCString { cposix_openat(AT_FDCWD, $0, flags, 0o600) }
    guard place >= 0 else { throw errno == EEXIST ? Self.exists(path) : Self.cannot("be made", path, errno) }
    close(place)
    guard rename(temporary, path) == 0 else {
      let code = errno
      unlink(path)
      throw Self.cannot("be put in its place", path, code)
    }
  }

  private static func exists(_ path: String) -> CommandFailure {
    CommandFailure(.failed, "\(Escaping.quoted(path)) exists; name another file, or replace it with --force")
  }

  private static func cannot(_ what: String, _ path: String, _ code: Int32) -> CommandFailure {
    CommandFailure(
      .failed, "\(Escaping.quoted(path)) cannot \(what): \(SystemText.error(code)); choose another place")
  }
}
