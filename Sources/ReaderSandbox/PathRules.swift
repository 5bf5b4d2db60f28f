internal import CPosix
internal import Glibc

/// Which paths can be opened, and how: landlock(7). Nothing can be written but device nodes, nothing created.
///
/// An older kernel knows less of it, and one without Landlock nothing: then the user of its own and the filter of system
/// calls remain.
enum PathRules {
  /// What can be done with a path.
  struct Access: OptionSet {
    let rawValue: UInt64
    static let execute = Self(rawValue: 1 << 0)
    static let writeFile = Self(rawValue: 1 << 1)
    static let readFile = Self(rawValue: 1 << 2)
    static let readFolder = Self(rawValue: 1 << 3)
    static let removeFile = Self(rawValue: 1 << 5)
    static let makeSocket = Self(rawValue: 1 << 9)
    static let deviceControl = Self(rawValue: 1 << 15)

    static let read: Self = [.readFile, .readFolder]
    static let device: Self = [.readFile, .writeFile, .deviceControl]
    /// What makes sense for a path that is no folder.
    static let ofFiles: Self = [.execute, .writeFile, .readFile, .deviceControl, Self(rawValue: 1 << 14)]
  }

  /// What a version of Landlock can forbid.
  struct Powers: Equatable {
    var files: UInt64
    var network: UInt64
    var scopes: UInt64

    init(version: Int32) {
      switch version {
      case ..<2: files = (1 << 13) - 1
      case 2: files = (1 << 14) - 1  // moving between folders
      case 3, 4: files = (1 << 15) - 1  // truncating
      default: files = (1 << 16) - 1  // ioctl of devices
      }
      network = version >= 4 ? 0b11 : 0  // TCP: bind, connect
      scopes = version >= 6 ? 0b11 : 0  // abstract sockets and signals to the outside
    }
  }

  /// What libfprint, libusb, libudev, NSS (uru4000) and the loader read, as seen with strace.
  private static let readable = [
    "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/sys", "/run/udev",
    "/dev/urandom", "/proc/sys/crypto/fips_enabled",
  ]

  /// The kernel's version of Landlock; below 1 where it has none.
  static var version: Int32 { cposix_landlock_version() }

  /// Restricts this thread and those that it starts.
  /// - Parameter nodes: the only readers' nodes that can be opened; nil for all.
  static func apply(_ exemptions: Exemptions, only nodes: [String]?) throws(ReaderSandbox.Failure) {
    guard version >= 1 else { return }
    let powers = Powers(version: version)
    let ruleset = try makeRuleset(powers)
    defer { close(ruleset) }
    for (path, access) in rules(exemptions, nodes) { try allow(access, path, in: ruleset, powers) }
    try check(cposix_landlock_restrict(ruleset), "landlock_restrict_self")
  }

  static func makeRuleset(_ powers: Powers) throws(ReaderSandbox.Failure) -> Int32 {
    let ruleset = cposix_landlock_create(powers.files, powers.network, powers.scopes)
    guard ruleset >= 0 else { throw .call("landlock_create_ruleset") }
    return ruleset
  }

  private static func rules(_ exemptions: Exemptions, _ nodes: [String]?) -> [(String, Access)] {
    var rules = readable.map { ($0, Access.read) }
    rules += [("/dev", .readFolder), ("/dev/null", .device)]
    // libfprint looks for what is not on USB once, at the start, as we do; USB devices come and go below their folder.
    rules.append(("/dev/bus/usb", nodes == nil ? [.device, .readFolder] : .readFolder))
    rules += (nodes ?? deviceNodes()).map { ($0, .device) }
    rules += exemptions.socketFolders.map { ($0, [.makeSocket, .removeFile] as Access) }
    if let folder = exemptions.mockFolder {
      rules.append((folder, [.device, .readFolder, .makeSocket, .removeFile]))
      rules.append(("/dev/pts", .device))
    }
    return rules
  }

  /// The nodes of readers that are not on USB.
  private static func deviceNodes() -> [String] {
    guard let folder = opendir("/dev") else { return [] }
    defer { closedir(folder) }
    var nodes: [String] = []
    while let entry = readdir(folder) {
      guard entry.pointee.d_type == UInt8(DT_CHR) else { continue }
      // d_name is a tuple of characters that ends with a 0.
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix("spidev") || name.hasPrefix("hidraw") { nodes.append("/dev/" + name) }
    }
    return nodes
  }

  /// Allows something below a path; a path that is not there needs no rule.
  private static func allow(
    _ access: Access, _ path: String, in ruleset: Int32, _ powers: Powers
  ) throws(ReaderSandbox.Failure) {
    let descriptor = cposix_open_path(path)
    guard descriptor >= 0 else {
      if [ENOENT, EACCES, ENOTDIR].contains(errno) { return }
      throw .call("open of \(path)")
    }
    defer { close(descriptor) }
    var status = stat()
    try check(fstat(descriptor, &status), "fstat of \(path)")
    let fitting = status.st_mode & S_IFMT == S_IFDIR ? access : access.intersection(.ofFiles)
    let allowed = fitting.rawValue & powers.files
    if allowed != 0 { try check(cposix_landlock_allow(ruleset, descriptor, allowed), "landlock_add_rule of \(path)") }
  }
}
