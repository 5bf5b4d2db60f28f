internal import Glibc
internal import ReaderLink

/// Why prints could not be read or written. `description` is one line for people.
public enum PrintStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A user, driver or device name that cannot be a folder's name; nothing was touched.
  case invalidName(what: String, name: String, reason: String)
  /// The bytes to be saved are no print; nothing was touched.
  case notAPrint(reason: String)
  /// The file is there and holds no whole print; it was left as it is.
  case damaged(path: String, reason: String)
  /// Something else lies where a print file or a folder belongs, such as a symbolic link; it was left as it is.
  case outOfPlace(path: String, found: String, wanted: String)
  /// A file or folder that others may change, so its prints cannot be trusted; it was left as it is.
  case insecure(path: String, reason: String)
  /// The kernel refused, with the error number of that call.
  case system(operation: String, path: String, code: Int32)

  /// What happened, to which thing, and what to do next, in one line.
  public var description: String {
    switch self {
    case .invalidName(let what, let name, let reason):
      "\(what) \"\(name.printable)\" cannot name a folder of prints: \(reason)"
    case .notAPrint(let reason):
      "the reader gave no usable print (\(reason)); enrol the finger again"
    case .damaged(let path, let reason):
      "the print \(Self.shown(path)) is damaged (\(reason)); delete this finger and enrol it again"
    case .outOfPlace(let path, let found, let wanted):
      "\(Self.shown(path)) is \(found) and not \(wanted); move it away"
    case .insecure(let path, let reason):
      "\(Self.shown(path)) \(reason), so prints in it are not trusted; give it to root and let only root write there"
    case .system(let operation, let path, let code):
      "cannot \(operation) \(Self.shown(path)): \(Self.text(code))"
    }
  }

  /// A path whose names hold no character that would break the line.
  private static func shown(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "/")
  }

  private static func text(_ code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "the disk is full; free some space and try again"
    case EROFS: "the file system is mounted read-only"
    case EACCES, EPERM: "permission denied; only the daemon, as root, may do that"
    case EMFILE, ENFILE: "too many open files; try again later"
    case EIO: "the disk reports an error; check it"
    default: String(cString: strerror(code))
    }
  }
}
