internal import CPosix
internal import Glibc

/// An open file or folder; closed with its owner.
struct OpenFile: ~Copyable {
  let descriptor: Int32
  /// For texts only; the file is reached by its descriptor.
  let path: String

  init(_ descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// The file's kind, owner, mode and size.
  func status() throws(PrintStoreError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(operation: "look at", path: path, code: errno) }
    return status
  }

  /// Brings the file, or the names in the folder, to the disk.
  func sync() throws(PrintStoreError) {
    while fsync(descriptor) != 0 {
      // EINVAL: this file system has nothing to wait for.
      if errno == EINVAL { return }
      guard errno == EINTR else { throw .system(operation: "write", path: path, code: errno) }
    }
  }

  func write(_ bytes: [UInt8]) throws(PrintStoreError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        // An array that is not empty has an address.
        raw.baseAddress.map { Glibc.write(descriptor, $0 + done, raw.count - done) } ?? 0
      }
      if count > 0 {
        done += count
      } else if errno != EINTR {
        throw .system(operation: "write", path: path, code: errno)
      }
    }
  }

  /// The content, as far as `limit` and one byte more.
  func read(limit: Int) throws(PrintStoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &buffer, min(buffer.count, limit + 1 - bytes.count))
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 {
        break
      } else if errno != EINTR {
        throw .system(operation: "read", path: path, code: errno)
      }
    }
    return bytes
  }
}

/// Kinds of files, by the bits of `st_mode`.
enum FileKind {
  static func isFolder(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }
  static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

  /// The kind in words.
  static func text(_ status: stat) -> String {
    switch status.st_mode & S_IFMT {
    case S_IFLNK: "a symbolic link"
    case S_IFDIR: "a folder"
    case S_IFREG: "a file"
    case S_IFIFO: "a named pipe"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }

  /// Why a file or folder with this status could have been changed by somebody else; nil where it could not.
  static func fault(_ status: stat) -> String? {
    if status.st_uid != 0, status.st_uid != geteuid() { return "belongs to user number \(status.st_uid)" }
    if status.st_mode & 0o022 != 0 { return "can be written by others" }
    return nil
  }
}
