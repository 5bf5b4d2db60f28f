internal import CPosix
internal import Glibc

/// What keeps this process's memory from core files and from other processes of the same user.
public enum CoreDumps {
  /// Forbids core dumps, and tracing and reading of memory by processes without CAP_SYS_PTRACE, until the process
  /// ends or executes another program.
  /// - Throws: `.system` where the kernel refuses.
  public static func forbid() throws(SecretMemoryError) {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
      throw .system(call: "setrlimit", code: errno)
    }
    guard cposix_prctl(Int32(cposix_PR_SET_DUMPABLE), 0) == 0 else {
      throw .system(call: "prctl", code: errno)
    }
  }
}
