internal import CPosix
internal import Glibc

/// Removes whole keychains.
public enum KeychainRemoval {
  private static let prefix = ".removed-"

  /// Removes the keychain in `directory`, which nobody may have open any more: items, keys, registered fingers and the
  /// lockout record. Gone for good, in one step, when this returns; `removeLeftovers` then overwrites its content as far as
  /// that goes, which takes as long as it is large.
  /// - Returns: whether there was one.
  /// - Throws: `.readOnly`, `.io`; the keychain is then as it was.
  public static func remove(directory: String) throws(KeychainError) -> Bool {
    let (parent, name) = split(directory)
    let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      if errno == ENOENT { return false }
      throw systemError("\(parent) could not be opened", path: parent)
    }
    defer { close(folder) }
    let grave = prefix + String(UInt64.random(in: .min ... .max), radix: 16)
    guard renameat(folder, name, folder, grave) == 0 else {
      if errno == ENOENT { return false }
      throw systemError("\(directory) could not be removed", path: directory)
    }
    guard fsync(folder) == 0 else { throw systemError("\(parent) could not be written", path: parent) }
    return true
  }

  /// Overwrites and removes what `remove` left, now or before a crash, among the keychains in that folder.
  public static func removeLeftovers(in users: String) {
    let folder = open(users, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    defer { close(folder) }
    for name in names(in: folder) where name.hasPrefix(prefix) { wipe(name, in: folder) }
  }

  private static func split(_ path: String) -> (parent: String, name: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return (parts.dropLast().joined(separator: "/"), String(parts.last ?? ""))
  }

  /// Overwrites and removes the files of a folder, then the folder. What does not go stays: nothing looks at it.
  private static func wipe(_ name: String, in parent: Int32) {
    let folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else {
      unlinkat(parent, name, 0)
      return
    }
    for file in names(in: folder) {
      overwrite(file, in: folder)
      unlinkat(folder, file, 0)
    }
    close(folder)
    unlinkat(parent, name, AT_REMOVEDIR)
    fsync(parent)
  }

  private static func overwrite(_ name: String, in folder: Int32) {
    let file = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var status = stat()
    // A file with a second name is somebody else's too.
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else { return }
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    var left = Int(status.st_size)
    while left > 0 {
      let written = write(file, zeros, min(left, zeros.count))
      guard written > 0 else { break }
      left -= written
    }
    fsync(file)
  }

  private static func names(in folder: Int32) -> [String] {
    // A descriptor of its own: reading moves it.
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      if copy >= 0 { close(copy) }
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        String(validating: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
