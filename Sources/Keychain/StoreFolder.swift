internal import CPosix
internal import Glibc

/// A folder that is its owner's alone, with a lock held on it for as long as this value lives.
///
/// Files in it are looked at without being opened: to close a descriptor of a database would drop the locks that
/// another connection of this process holds on it.
final class StoreFolder {
  let path: String
  private let descriptor: Int32

  /// Opens and locks the folder.
  /// - Parameter create: make it, and missing folders above it, with mode 0700.
  init(path: String, create: Bool) throws(KeychainError) {
    self.path = path
    if create { try Self.make(path) }
    let opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else {
      switch errno {
      case ENOTDIR, ELOOP: throw .refusedFile("\(path) is not a folder of its own")
      default: throw systemError("\(path) could not be opened", path: path)
      }
    }
    descriptor = opened
    var status = stat()
    guard fstat(opened, &status) == 0 else { throw systemError("\(path) could not be examined", path: path) }
    guard status.st_uid == geteuid() else { throw .refusedFile("\(path) belongs to user \(status.st_uid)") }
    guard status.st_mode & 0o077 == 0 else { throw .refusedFile("\(path) is open to other users (chmod 700)") }
    try lock()
  }

  deinit { close(descriptor) }

  private static func make(_ path: String) throws(KeychainError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    guard errno == ENOENT, !parent.isEmpty else { throw systemError("\(path) could not be made", path: path) }
    try make(parent)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw systemError("\(path) could not be made", path: path)
    }
    // So that the new folder itself survives a power cut.
    let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  /// Waits up to five seconds for another process that is making its store.
  private func lock() throws(KeychainError) {
    for _ in 0..<500 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw systemError("\(path) could not be locked", path: path)
      }
      usleep(10_000)
    }
    throw .busy(path)
  }

  /// Whether there is such a file; throws where it is not a plain file of ours that is closed to others.
  func hasPlainFile(_ name: String) throws(KeychainError) -> Bool {
    let file = "\(path)/\(name)"
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return false }
      throw systemError("\(file) could not be examined", path: file)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: throw .refusedFile("\(file) is a symbolic link")
    default: throw .refusedFile("\(file) is not a plain file")
    }
    guard status.st_uid == geteuid() else { throw .refusedFile("\(file) belongs to user \(status.st_uid)") }
    guard status.st_mode & 0o077 == 0 else { throw .refusedFile("\(file) is open to other users (chmod 600)") }
    guard status.st_nlink == 1 else { throw .refusedFile("\(file) has a second name (hard link)") }
    return true
  }

  /// Makes an empty file that nobody else can open.
  func makeFile(_ name: String) throws(KeychainError) {
    let file = openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0, fchmod(file, 0o600) == 0, close(file) == 0 else {
      throw systemError("\(path)/\(name) could not be made", path: "\(path)/\(name)")
    }
  }

  /// Writes a file that nobody else can open, through to the disk.
  func write(_ bytes: [UInt8], to name: String) throws(KeychainError) {
    try makeFile(name)
    let file = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    defer { close(file) }
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress.map { $0 + done }, $0.count - done) }
      if written < 0 {
        if errno == EINTR { continue }
        throw systemError("\(path)/\(name) could not be written", path: "\(path)/\(name)")
      }
      done += written
    }
    guard fsync(file) == 0 else { throw systemError("\(path)/\(name) could not be written", path: "\(path)/\(name)") }
  }

  /// The whole of a file that `hasPlainFile` has looked at.
  func read(_ name: String, limit: Int) throws(KeychainError) -> [UInt8] {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw systemError("\(path)/\(name) could not be opened", path: "\(path)/\(name)") }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var filled = 0
    while filled < bytes.count {
      let got = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + filled }, $0.count - filled) }
      if got < 0 {
        if errno == EINTR { continue }
        throw systemError("\(path)/\(name) could not be read", path: "\(path)/\(name)")
      }
      if got == 0 { break }
      filled += got
    }
    guard filled <= limit else { throw .corrupt("\(path)/\(name)") }
    return Array(bytes[..<filled])
  }

  func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Gives a finished file its name and sees both to the disk. No other file has that name: the folder is locked.
  func publish(_ draft: String, as name: String) throws(KeychainError) {
    let file = openat(descriptor, draft, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { throw systemError("\(path)/\(draft) could not be opened", path: "\(path)/\(draft)") }
    defer { close(file) }
    guard fsync(file) == 0, renameat(descriptor, draft, descriptor, name) == 0, fsync(descriptor) == 0 else {
      throw systemError("\(path)/\(name) could not be written", path: "\(path)/\(name)")
    }
  }
}

/// The keychain's error for what errno says just now.
func systemError(_ what: String, path: String) -> KeychainError {
  let code = errno
  switch code {
  case ENOSPC, EDQUOT: return .diskFull(path)
  case EROFS: return .readOnly(path)
  default: return .io("\(what) (\(String(cString: strerror(code))))")
  }
}
