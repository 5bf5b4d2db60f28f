internal import CPosix
internal import Glibc
internal import Keychain

/// What keeps an account's home closed until the password is given.
struct HomeState: Sendable, Hashable {
  /// By what name people know it.
  enum Keeper: String, Sendable {
    /// An account of systemd-homed's, whatever its home is stored in.
    case homed = "systemd-homed"
    /// A folder of eCryptfs's that the login mounts.
    case ecryptfs = "eCryptfs"
    /// A folder that the file system encrypts.
    case fscrypt
    /// A volume that pam_mount mounts on the home or within it.
    case pamMount = "pam_mount"
  }

  let keeper: Keeper
  /// Whether it is closed now: a login by finger would find no home.
  let isLocked: Bool
}

/// Looks whether a home needs the login password to be there. Blocking: a home may be on a network that hangs, so only
/// `AccountDirectory` asks, on threads of its own.
///
/// It decides nothing about who may log in, only whether a finger is worth asking for. What cannot be found out counts as an
/// ordinary home: the files that are read belong in part to the user, who can spoil his own logins alone.
struct HomeLock: Sendable {
  /// What stands for `/`; another folder in private mode alone.
  var root = ""

  private static let textLimit = 1 << 18
  /// Users can mount much in their own folders, under long names.
  private static let mountsLimit = 1 << 24

  /// - Returns: nil for a home that is there without a password.
  func state(of account: Account) -> HomeState? {
    // Of half a table nothing can be said: what is missing in it would count as not mounted.
    let table = text(at: "/proc/self/mountinfo", limit: Self.mountsLimit + 1) ?? ""
    guard table.utf8.count <= Self.mountsLimit else { return nil }
    let mounts = Mounts(table)
    let home = account.home.isEmpty ? "/home/\(account.name)" : account.home
    // The name is a part of paths from here on.
    guard home.hasPrefix("/"), !account.name.contains("/"), account.name != ".." else { return nil }
    let place = resolved(home)
    return homed(account, place, mounts) ?? asUser(account) { ecryptfs(account, home, mounts) ?? fscrypt(home) }
      ?? pamMount(account, place, mounts)
  }

  // MARK: The keepers

  private func homed(_ account: Account, _ home: String, _ mounts: Mounts) -> HomeState? {
    guard exists("/var/lib/systemd/home/\(account.name).identity") else { return nil }
    return HomeState(keeper: .homed, isLocked: mounts.type(at: home) == nil)
  }

  private func ecryptfs(_ account: Account, _ home: String, _ mounts: Mounts) -> HomeState? {
    for folder in ["/home/.ecryptfs/\(account.name)/.ecryptfs", "\(home)/.ecryptfs"] {
      guard exists("\(folder)/auto-mount") else { continue }
      let named = text(at: "\(folder)/Private.mnt").flatMap { $0.split(separator: "\n").first.map(String.init) }
      let target = named.map { Self.trimmed($0) } ?? "\(home)/Private"
      let isMounted = [target, resolved(target)].contains { mounts.type(at: $0) == "ecryptfs" }
      return HomeState(keeper: .ecryptfs, isLocked: !isMounted)
    }
    return nil
  }

  private func fscrypt(_ home: String) -> HomeState? {
    let folder = open(root + home, O_RDONLY | O_NONBLOCK | Int32(cposix_O_CLOEXEC) | Int32(cposix_O_DIRECTORY))
    guard folder >= 0 else { return nil }
    defer { close(folder) }
    return switch cposix_fscrypt_state(folder) {
    case 1: HomeState(keeper: .fscrypt, isLocked: false)
    case 2: HomeState(keeper: .fscrypt, isLocked: true)
    default: nil
    }
  }

  private func pamMount(_ account: Account, _ home: String, _ mounts: Mounts) -> HomeState? {
    guard let text = text(at: "/etc/security/pam_mount.conf.xml") else { return nil }
    var found: HomeState?
    for volume in PAMMountVolume.all(in: text) where volume.isMeant(for: account) {
      let target = Self.trimmed(volume.mountPoint(for: account, home: home))
      // Elsewhere it does not stand in the way of the home.
      guard target == home || target.hasPrefix(home + "/") || home.hasPrefix(target + "/") else { continue }
      let isMounted = [target, resolved(target)].contains { mounts.type(at: $0) != nil }
      if !isMounted { return HomeState(keeper: .pamMount, isLocked: true) }
      found = HomeState(keeper: .pamMount, isLocked: false)
    }
    return found
  }

  // MARK: Parts

  /// Looks with the user's own rights: a home is often closed to others, root without further rights among them.
  private func asUser<R>(_ account: Account, _ body: () -> R) -> R {
    guard root.isEmpty, geteuid() == 0 else { return body() }
    // Of this thread alone.
    cposix_set_file_user(account.user.rawValue)
    defer { cposix_set_file_user(0) }
    return body()
  }

  /// A path without links, as mounts name it; itself where it is not there.
  private func resolved(_ path: String) -> String {
    let path = Self.trimmed(path)
    guard let found = realpath(root + path, nil) else { return path }
    defer { free(found) }
    let text = String(cString: found)
    guard !root.isEmpty, let base = realpath(root, nil) else { return text }
    defer { free(base) }
    let prefix = String(cString: base)
    return text.hasPrefix(prefix + "/") ? String(text.dropFirst(prefix.count)) : path
  }

  private static func trimmed(_ path: String) -> String {
    var path = Substring(path)
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return String(path)
  }

  private func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(root + path, &status) == 0
  }

  /// A regular file's text, up to a limit; nil where there is none to be read.
  private func text(at path: String, limit: Int = textLimit) -> String? {
    let file = open(root + path, O_RDONLY | O_NONBLOCK | Int32(cposix_O_CLOEXEC))
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(limit, 1 << 16))
    while bytes.count < limit {
      let wanted = min(part.count, limit - bytes.count)
      let got = part.withUnsafeMutableBytes { read(file, $0.baseAddress, wanted) }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      bytes += part[..<got]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// What is mounted where (proc_pid_mountinfo(5)).
private struct Mounts {
  /// File system types by mount point; of several on each other the last.
  private var types: [String: String] = [:]

  init(_ text: String) {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 6, let dash = fields[6...].firstIndex(of: "-"), dash + 1 < fields.count else { continue }
      types[Self.unescaped(fields[4])] = String(fields[dash + 1])
    }
  }

  func type(at path: String) -> String? { types[path] }

  /// Spaces and the like are written as a backslash and three octal digits.
  private static func unescaped(_ field: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(field.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
