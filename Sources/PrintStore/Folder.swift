internal import CPosix
internal import Glibc

/// An open folder of the store. Everything below it is reached from its descriptor, and no link is ever followed.
struct Folder: ~Copyable {
  private let file: OpenFile

  var path: String { file.path }

  private init(_ descriptor: Int32, path: String) { file = OpenFile(descriptor, path: path) }

  /// Opens the root of the store; nil where there is none. `create` makes it, but not what is above it.
  static func root(_ path: String, create: Bool) throws(PrintStoreError) -> Folder? {
    guard !path.utf8.contains(0), path.utf8.first == UInt8(ascii: "/") else {
      throw .invalidName(what: "the store's folder", name: path, reason: "it is not an absolute path")
    }
    return try open(AT_FDCWD, path, path: path, create: create)
  }

  /// Opens a folder in this one; nil where there is none.
  func folder(_ name: String, create: Bool) throws(PrintStoreError) -> Folder? {
    let folder = try Self.open(file.descriptor, name, path: "\(path)/\(name)", create: create)
    if folder != nil, create { try sync() }
    return folder
  }

  private static func open(
    _ parent: Int32, _ name: String, path: String, create: Bool
  ) throws(PrintStoreError) -> Folder? {
    if create, mkdirat(parent, name, 0o700) != 0, errno != EEXIST {
      // The parent was removed a moment ago.
      if errno == ENOENT { return nil }
      throw .system(operation: "make", path: path, code: errno)
    }
    let descriptor = cposix_openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      let code = errno
      if code == ENOENT { return nil }
      var status = stat()
      if code == ENOTDIR || code == ELOOP, fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
        !FileKind.isFolder(status)
      {
        throw .outOfPlace(path: path, found: FileKind.text(status), wanted: "a folder")
      }
      throw .system(operation: "open", path: path, code: code)
    }
    let folder = Folder(descriptor, path: path)
    if let fault = FileKind.fault(try folder.file.status()) { throw .insecure(path: path, reason: fault) }
    return folder
  }

  /// What lies under this name, links not followed; nil where there is nothing.
  func status(_ name: String) throws(PrintStoreError) -> stat? {
    var status = stat()
    if fstatat(file.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
    if errno == ENOENT { return nil }
    throw .system(operation: "look at", path: "\(path)/\(name)", code: errno)
  }

  /// What lies under this name must be an ordinary file; nil where there is nothing.
  func regularStatus(_ name: String) throws(PrintStoreError) -> stat? {
    guard let status = try status(name) else { return nil }
    guard FileKind.isRegular(status) else {
      throw .outOfPlace(path: "\(path)/\(name)", found: FileKind.text(status), wanted: "a file")
    }
    return status
  }

  /// The names in the folder that are UTF-8, in no order.
  func names() throws(PrintStoreError) -> [String] {
    // A descriptor of its own: reading moves it.
    let descriptor = cposix_openat(file.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard descriptor >= 0, let stream = fdopendir(descriptor) else {
      let code = errno
      if descriptor >= 0 { close(descriptor) }
      // Removed a moment ago.
      if code == ENOENT { return [] }
      throw .system(operation: "list", path: path, code: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        String(validating: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, name != ".", name != ".." { names.append(name) }
      errno = 0
    }
    guard errno == 0 else { throw .system(operation: "list", path: path, code: errno) }
    return names
  }

  /// Opens an ordinary file for reading; nil where there is none. Never waits, whatever the file is.
  func read(_ name: String) throws(PrintStoreError) -> OpenFile? {
    // Looked at before it is opened, for opening a device can already do something.
    guard try regularStatus(name) != nil else { return nil }
    let path = "\(path)/\(name)"
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let descriptor = cposix_openat(file.descriptor, name, flags, 0)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(operation: "open", path: path, code: errno)
    }
    let opened = OpenFile(descriptor, path: path)
    let status = try opened.status()
    guard FileKind.isRegular(status) else {
      throw .outOfPlace(path: path, found: FileKind.text(status), wanted: "a file")
    }
    return opened
  }

  /// Makes a new file that only its owner may read; nil where the folder was removed a moment ago.
  func create(_ name: String) throws(PrintStoreError) -> OpenFile? {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = cposix_openat(file.descriptor, name, flags, 0o600)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(operation: "make", path: "\(path)/\(name)", code: errno)
    }
    return OpenFile(descriptor, path: "\(path)/\(name)")
  }

  /// Gives a file another name, over an old file of that name; false where the file is gone.
  func rename(_ old: String, to new: String) throws(PrintStoreError) -> Bool {
    if renameat(file.descriptor, old, file.descriptor, new) == 0 { return true }
    if errno == ENOENT { return false }
    throw .system(operation: "write", path: "\(path)/\(new)", code: errno)
  }

  /// Removes a name that is no folder's; false where there was none.
  @discardableResult
  func remove(_ name: String) throws(PrintStoreError) -> Bool {
    if unlinkat(file.descriptor, name, 0) == 0 { return true }
    if errno == ENOENT { return false }
    throw .system(operation: "delete", path: "\(path)/\(name)", code: errno)
  }

  /// Removes a folder where it is empty; false where it stays, or is gone.
  func removeIfEmpty(_ name: String) throws(PrintStoreError) -> Bool {
    if unlinkat(file.descriptor, name, AT_REMOVEDIR) == 0 { return true }
    if [ENOTEMPTY, EEXIST, ENOENT].contains(errno) { return false }
    throw .system(operation: "delete", path: "\(path)/\(name)", code: errno)
  }

  /// Whether names may be removed from the folder: not where it is immutable or its file system read-only.
  func requireWritable() throws(PrintStoreError) {
    guard faccessat(file.descriptor, ".", W_OK, 0) == 0 else {
      throw .system(operation: "change", path: path, code: errno)
    }
  }

  /// Brings the names in the folder to the disk.
  func sync() throws(PrintStoreError) { try file.sync() }
}
