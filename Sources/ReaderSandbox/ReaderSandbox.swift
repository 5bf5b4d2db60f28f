internal import CPosix
internal import Glibc
public import ReaderLink

/// What the bridge gives up before it touches a device: everything but the readers, libfprint and its socket.
///
/// The order matters. The account is looked up while files can still be read; a change of user resets the death signal
/// and what other processes may read, so these come after it; paths come before the filter of system calls, which
/// knows no call that opens them.
public enum ReaderSandbox {
  /// The variables that name the sockets of libfprint's virtual readers.
  public static let socketVariables = [
    "FP_VIRTUAL_IMAGE", "FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_STORAGE", "FP_VIRTUAL_DEVICE_STORAGE_NO_LIST",
  ]

  /// Where the bridge runs.
  public enum Place: Sendable {
    /// On the system: as root, it becomes a user of its own.
    case system
    /// In whorld's private mode (virtual readers, tests): the user stays, and what the virtual readers or umockdev need
    /// is allowed, for the variables in `environment` that name them.
    case ownFolder(environment: [String: String])
  }

  /// Why the bridge did not shed everything, and so must not go on.
  public struct Failure: Error, Sendable {
    /// What it ends with.
    public let exit: BridgeExit
    /// One line for people.
    public let line: String
  }

  /// The account that the bridge becomes on the system; its group is the one that the udev rules give the readers.
  static let accountName = "whorl-reader"

  /// Sheds everything, for good. Must come before any thread is started; at a failure the process must end.
  ///
  /// - Parameters:
  ///   - place: where it runs.
  ///   - kept: the highest descriptor that stays open.
  ///   - nodes: the only readers' nodes that may be opened; nil for all there are and will be.
  public static func enter(
    _ place: Place, keepingDescriptorsUpTo kept: Int32, only nodes: [String]? = nil
  ) throws(Failure) {
    let account: Account? =
      switch place {
      case .system: try Account.toBecome()
      case .ownFolder: nil
      }
    // Nothing that the parent or a lookup forgot to close comes along.
    try check(close_range(UInt32(kept) + 1, UInt32.max, 0), "close_range")
    try requireSingleThread()
    ProcessLimits.restoreFatalSignals()
    try Privileges.shed(becoming: account)
    try ProcessLimits.apply()
    let exemptions = Exemptions(place)
    try PathRules.apply(exemptions, only: nodes)
    try CallFilter.apply(exemptions)
  }

  /// Some rights are a thread's own: another thread would keep them.
  private static func requireSingleThread() throws(Failure) {
    var status = stat()
    guard stat("/proc/self/task", &status) == 0 else { throw .call("stat of /proc/self/task") }
    guard status.st_nlink == 3 else {
      throw Failure(exit: .notShed, line: "whorl-reader cannot shed its rights: it has threads already")
    }
  }
}

extension ReaderSandbox.Failure {
  /// A system call that failed just now.
  static func call(_ name: String) -> Self {
    Self(
      exit: .notShed, line: "whorl-reader cannot shed its rights: \(name): \(String(cString: strerror(errno)))")
  }
}

/// Throws where a system call gave anything but 0.
func check(_ result: Int32, _ name: @autoclosure () -> String) throws(ReaderSandbox.Failure) {
  if result != 0 { throw .call(name()) }
}
