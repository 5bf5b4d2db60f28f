internal import CPosix
internal import Enclave
internal import Glibc
internal import Keychain

/// Where this daemon's bus, state and programs are, and whether it runs in private mode.
///
/// Private mode is one predicate (DESIGN section 8): neither the bus nor the state folder is the system's. Nothing
/// else switches a check off. Outside of it every `FP_*` variable, `WHORL_TPM2_DEVICE`, `WHORL_READER_PATIENCE` and `STATE_DIRECTORY` is ignored.
public struct Surroundings: Sendable {
  /// The address of the bus; nil means the system bus at its usual place.
  public let busAddress: String?
  /// Whether virtual readers, the test variables and a state folder of one's own are honoured.
  public let isPrivate: Bool
  /// The root of the enrolled prints, in fprintd's layout.
  public let printFolder: String
  /// Whorl's own state.
  public let stateFolder: String
  /// The folder of this program, where `whorl-reader` and `whorl-passcode` are.
  public let programFolder: String
  /// The variables that whorl-reader gets; empty outside of private mode.
  public let readerEnvironment: [String: String]
  /// The TPM2 that seals the device key, as systemd-creds names it; nil outside of private mode, where the machine's own
  /// does, and where no variable names one, where none does.
  let tpm2Device: String?
  /// How long readers may take to come.
  let arrivalLimits: ReaderArrivals.Limits
  /// Why private mode is off although a variable asks for it; for the log.
  public let remark: String?

  /// The variables of libfprint and umockdev that a private bridge may see.
  static let passedVariables = [
    "FP_VIRTUAL_IMAGE", "FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_STORAGE",
    "FP_VIRTUAL_DEVICE_STORAGE_NO_LIST", "FP_VIRTUAL_DEVICE_IDENT",
    "FP_DRIVERS_WHITELIST", "FP_DRIVERS_ALLOWLIST", "FP_DEVICE_EMULATION", "UMOCKDEV_DIR", "LD_PRELOAD",
  ]

  /// The variable that names a TPM2 for the device key in private mode, such as `swtpm:path=SOCKET`.
  static let tpm2Variable = "WHORL_TPM2_DEVICE"

  /// The variable that says in private mode how many seconds readers may take to come: tests on a busy machine have no use
  /// for the usual ones.
  static let patienceVariable = "WHORL_READER_PATIENCE"

  static let systemBusPaths = ["/run/dbus/system_bus_socket", "/var/run/dbus/system_bus_socket"]
  static let systemStateFolders = ["/var/lib/whorl", "/var/lib/fprint"]

  /// Why the daemon cannot start where it is.
  public struct Unusable: Error, Sendable, Equatable {
    /// One line for people.
    public let line: String
  }

  /// Reads the surroundings from a process's environment.
  /// - Throws: ``Unusable`` where a private bus comes with a state folder that is not there and cannot be made: falling
  ///   back to the system's would be a surprise.
  public init(environment: [String: String], programFolder: String) throws(Unusable) {
    self.programFolder = programFolder
    let address = environment["DBUS_SYSTEM_BUS_ADDRESS"].flatMap { $0.isEmpty ? nil : $0 }
    let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    busAddress = address
    let isMissing = state.map { access($0, F_OK) != 0 } ?? false
    if let address, let state, isMissing, Self.isPrivateBus(address), !Self.isPlaceForPrivateFolder(state) {
      throw Unusable(line: "STATE_DIRECTORY names \(state), which is not there and cannot be made; make it first.")
    }

    if let address, let state, Self.isPrivateBus(address), isMissing || Self.isPrivateFolder(state) {
      isPrivate = true
      printFolder = state
      stateFolder = state + "/.whorl"
      readerEnvironment = environment.filter { Self.passedVariables.contains($0.key) }
      tpm2Device = environment[Self.tpm2Variable].flatMap { $0.isEmpty ? nil : $0 }
      arrivalLimits =
        environment[Self.patienceVariable].flatMap { Int64($0) }.map(ReaderArrivals.Limits.init(seconds:))
        ?? ReaderArrivals.Limits()
      remark = nil
    } else {
      isPrivate = false
      printFolder = "/var/lib/fprint"
      stateFolder = "/var/lib/whorl"
      readerEnvironment = [:]
      tpm2Device = nil
      arrivalLimits = ReaderArrivals.Limits()
      let asked = environment.keys.filter {
        $0.hasPrefix("FP_") || [Self.tpm2Variable, Self.patienceVariable].contains($0)
      }.sorted()
      remark =
        asked.isEmpty
        ? nil
        : "ignoring \(asked.joined(separator: ", ")): this is not a private bus together with a private state folder"
    }
  }

  /// The readers on USB by the kernel's word; nil where readers are virtual, of which it knows nothing.
  var readersByKernel: UnlistedReaders? {
    guard isPrivate else { return UnlistedReaders() }
    return readerEnvironment["UMOCKDEV_DIR"].map { UnlistedReaders(devices: $0 + "/sys/bus/usb/devices") }
  }

  /// The machine's device key; in private mode sealed with a host key in the state folder.
  var deviceKeys: any DeviceKeySource {
    PreparedDeviceKeys(
      store: DeviceKeyStore(
        path: stateFolder + "/device-key.cred", credentialSecret: isPrivate ? stateFolder + "/host.secret" : nil,
        tpm2Device: tpm2Device),
      surroundings: self)
  }

  /// Makes the folders at the start, where they may be made then: a private state folder that is not there is made when
  /// there is something to keep, as fprintd does.
  func prepareFoldersForStart() throws(Unusable) {
    if !isPrivate || access(printFolder, F_OK) == 0 { try prepareFolders() }
  }

  /// Makes the folders for state and prints where they are missing, for their owner alone.
  func prepareFolders() throws(Unusable) {
    for folder in [printFolder, stateFolder] {
      if mkdir(folder, 0o700) != 0 && errno != EEXIST {
        throw Unusable(line: "The folder \(folder) cannot be made: \(String(cString: strerror(errno))).")
      }
    }
    if isPrivate, !Self.isPrivateFolder(printFolder) {
      throw Unusable(line: "The folder \(printFolder) has become the system's; nothing is kept there in private mode.")
    }
    // The keys' folder is believed in only where nobody else could have put it there or can write to it.
    var status = stat()
    guard lstat(stateFolder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0
    else {
      throw Unusable(line: "The folder \(stateFolder) must be whorld's own, with mode 0700; see who made it otherwise.")
    }
  }

  /// Whether an address names exactly one Unix socket, and that is not the system bus under any name.
  static func isPrivateBus(_ address: String) -> Bool {
    guard !address.contains(";"), address.hasPrefix("unix:") else { return false }
    let fields = address.dropFirst("unix:".count).split(separator: ",")
    let paths = fields.filter { $0.hasPrefix("path=") }.map { String($0.dropFirst("path=".count)) }
    // Abstract sockets, escapes and anything else that we would have to interpret as the bus library does: no.
    guard paths.count == 1, let path = paths.first, path.hasPrefix("/"), !path.contains("%"),
      fields.allSatisfy({ $0.hasPrefix("path=") || $0.hasPrefix("guid=") }),
      // A bus that is not there cannot be told from the system's.
      realPath(path) != nil
    else { return false }
    return !systemBusPaths.contains { samePlace($0, path) }
  }

  /// Whether a folder is neither the system's state, nor in it, nor around it.
  static func isPrivateFolder(_ folder: String) -> Bool {
    guard folder.hasPrefix("/"), let real = realPath(folder) else { return false }
    for system in systemStateFolders {
      let realSystem = realPath(system) ?? system
      for other in [system, realSystem]
      where real == other || real.hasPrefix(other + "/") || other.hasPrefix(real == "/" ? "/" : real + "/") {
        return false
      }
      if samePlace(system, real) { return false }
    }
    return true
  }

  /// Whether a folder that is not there yet would be a private one.
  private static func isPlaceForPrivateFolder(_ folder: String) -> Bool {
    guard folder.hasPrefix("/"), let slash = folder.lastIndex(of: "/") else { return false }
    let name = folder[folder.index(after: slash)...]
    guard !name.isEmpty, name != ".", name != "..", let parent = realPath(String(folder[..<slash]) + "/") else {
      return false
    }
    let place = (parent == "/" ? "" : parent) + "/" + name
    return !systemStateFolders.contains { place == $0 || place.hasPrefix($0 + "/") }
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Whether two names lead to the same file: bind mounts and links do not hide it.
  private static func samePlace(_ one: String, _ other: String) -> Bool {
    if one == other { return true }
    if let a = realPath(one), let b = realPath(other), a == b { return true }
    var first = stat()
    var second = stat()
    guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// The folder of the running program, from the kernel.
  public static func folderOfThisProgram() -> String? {
    guard let path = realPath("/proc/self/exe"), let slash = path.lastIndex(of: "/") else { return nil }
    return String(path[..<slash])
  }
}
