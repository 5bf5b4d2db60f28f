internal import CPosix
internal import Glibc

/// What the bridge gives up before it touches a device. A filter on its system calls and a user of its own come later.
enum Hardening {
  /// Where whorld leaves its end of the socket pair.
  static let linkDescriptor: Int32 = 3

  /// Sheds what can be shed; the name of the call that failed, or nil.
  static func apply() -> String? {
    // A crash ends the process at once: no helper program of the Swift runtime looks into its memory first.
    for fatal in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { signal(fatal, SIG_DFL) }
    // Nothing that the parent forgot to close comes along.
    if close_range(UInt32(linkDescriptor) + 1, UInt32.max, 0) != 0 { return "close_range" }
    if cposix_prctl(Int32(cposix_PR_SET_NO_NEW_PRIVS), 1) != 0 { return "no_new_privs" }
    // A crash leaves no image of a finger behind, and no other process of this user looks inside.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    if setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) != 0 { return "RLIMIT_CORE" }
    if cposix_prctl(Int32(cposix_PR_SET_DUMPABLE), 0) != 0 { return "PR_SET_DUMPABLE" }
    // whorld's death also closes the socket; this is for a bridge that hangs and would not see it.
    if cposix_prctl(Int32(cposix_PR_SET_PDEATHSIG), UInt(SIGKILL)) != 0 { return "PR_SET_PDEATHSIG" }
    return nil
  }

  /// Lets the standard error lead nowhere: libusb and drivers write there past every log handler. How the process ends
  /// is all that whorld is told; the exit codes are those of sysexits.h.
  static func muteStandardError() {
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard nowhere >= 0 else { return }
    dup2(nowhere, 2)
    close(nowhere)
  }

  static func isSocket(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// One line on the standard error.
  static func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  }
}
