internal import CPosix
internal import Glibc

/// What becomes of the process when it crashes or its parent dies, and who may look into it.
enum ProcessLimits {
  /// A crash ends the process at once: no helper program of the Swift runtime looks into its memory first.
  static func restoreFatalSignals() {
    for fatal in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGSYS] { signal(fatal, SIG_DFL) }
  }

  /// After the last change of user, which resets most of this.
  static func apply() throws(ReaderSandbox.Failure) {
    // A crash leaves no image of a finger behind, and no other process of this user looks inside.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    try check(setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none), "RLIMIT_CORE")
    try check(cposix_prctl(Int32(cposix_PR_SET_DUMPABLE), 0), "PR_SET_DUMPABLE")
    // whorld's death also closes the socket; this is for a bridge that hangs and would not see it.
    try check(cposix_prctl(Int32(cposix_PR_SET_PDEATHSIG), UInt(SIGKILL)), "PR_SET_PDEATHSIG")
  }
}
