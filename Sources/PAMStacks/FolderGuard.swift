internal import Glibc

/// Where root writes below somebody's folder, links that are changed at that moment could lead the edit anywhere. So root writes
/// only where nobody else can put anything on the way.
enum FolderGuard {
  private static let linkLimit = 40

  /// - Parameter folder: may not be there yet; what is there of the way to it counts then.
  /// - Throws: `.othersWrite` for the first folder or link that is not root's alone. Nothing for others than root, who can
  ///   do no more than they could anyway.
  static func requireRootAlone(_ folder: String) throws(ServiceFile.Problem) {
    guard geteuid() == 0 else { return }
    var rest = parts(folder)
    var current = ""
    if !folder.hasPrefix("/") {
      guard let here = getcwd(nil, 0) else { throw .failed("find \(folder)", errno) }
      defer { free(here) }
      rest = parts(String(cString: here)) + rest
    }
    var links = 0
    try require("/", isLast: rest.isEmpty)
    while !rest.isEmpty {
      let next = "\(current)/\(rest.removeFirst())"
      var status = stat()
      guard lstat(next, &status) == 0 else {
        // What is to be made there becomes root's, if the folder is.
        guard errno == ENOENT else { throw .failed("look at \(next)", errno) }
        return try require(current.isEmpty ? "/" : current, isLast: true)
      }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        try require(next, isLast: rest.isEmpty)
        current = next
        continue
      }
      links += 1
      guard links <= linkLimit else { throw .failed("look at \(next)", ELOOP) }
      guard status.st_uid == 0, let target = ServiceFile.target(of: next) else { throw .othersWrite(next) }
      rest = parts(target) + rest
      if target.hasPrefix("/") { current = "" }
    }
  }

  private static func require(_ folder: String, isLast: Bool) throws(ServiceFile.Problem) {
    var status = stat()
    guard lstat(folder, &status) == 0 else { throw .failed("look at \(folder)", errno) }
    let mode = status.st_mode
    // In a folder such as /tmp nobody takes away or renames what is root's.
    let isShared = mode & 0o002 != 0 || (mode & 0o020 != 0 && status.st_gid != 0)
    guard status.st_uid == 0, !isShared || (mode & S_ISVTX != 0 && !isLast) else { throw .othersWrite(folder) }
  }

  private static func parts(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }
}
