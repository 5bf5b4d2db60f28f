internal import CPosix
internal import CSeccomp
internal import Glibc
internal import ReaderLink

/// Which system calls can be made, and with which arguments: seccomp(2), through libseccomp, on every thread.
///
/// The kernel looks at whole 64-bit arguments. All rules here allow, so junk in the upper half of an argument that the
/// kernel reads 32 bits of can only lead to a refusal.
struct CallFilter {
  /// A condition on an argument.
  private struct Condition {
    let argument: UInt32
    var mask: UInt64 = .max
    let value: UInt64
  }

  private let context: scmp_filter_ctx

  /// Restricts the process for good.
  static func apply(_ exemptions: Exemptions) throws(ReaderSandbox.Failure) {
    guard let context = seccomp_init(cseccomp_errno(EPERM)) else { throw failure("seccomp_init", ENOMEM) }
    defer { seccomp_release(context) }
    let filter = CallFilter(context: context)
    try filter.set(SCMP_FLTATR_ACT_BADARCH, to: UInt32(cseccomp_KILL_PROCESS))
    try filter.set(SCMP_FLTATR_CTL_TSYNC, to: 1)
    try filter.addRules(exemptions)
    let result = seccomp_load(context)
    if result != 0 { throw failure("seccomp_load", -result) }
  }

  private func addRules(_ exemptions: Exemptions) throws(ReaderSandbox.Failure) {
    for name in CallLists.fatal { try add(UInt32(cseccomp_KILL_PROCESS), name, []) }
    for name in CallLists.allowed { try allow(name) }
    try addOpening()
    try addMemory()
    try addThreads()
    try addDescriptors()
    try addSockets(exemptions)
  }

  /// Nothing is created or cut short, also where the kernel knows no Landlock.
  private func addOpening() throws(ReaderSandbox.Failure) {
    let temporary: UInt64 = 0o20_000_000  // __O_TMPFILE
    let making = UInt64(O_CREAT) | UInt64(O_TRUNC) | temporary
    try allow("openat", Condition(argument: 2, mask: making, value: 0))
    try allow("open", Condition(argument: 1, mask: making, value: 0))
  }

  /// Memory is never both writable and executable, and what was written is never made executable.
  private func addMemory() throws(ReaderSandbox.Failure) {
    let (write, execute) = (UInt64(PROT_WRITE), UInt64(PROT_EXEC))
    for value in [0, write, execute] { try allow("mmap", Condition(argument: 2, mask: write | execute, value: value)) }
    try allow("mprotect", Condition(argument: 2, mask: execute, value: 0))
  }

  /// Threads, and no processes.
  private func addThreads() throws(ReaderSandbox.Failure) {
    let thread: UInt64 = 0x100 | 0x800 | 0x10000  // CLONE_VM, CLONE_SIGHAND, CLONE_THREAD
    let spaces: UInt64 = 0x7e02_0080  // CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
    try allow("clone", Condition(argument: 0, mask: thread | spaces, value: thread))
    // Its flags are in memory, where no filter sees them; libc takes clone instead.
    try add(cseccomp_errno(ENOSYS), "clone3", [])
    // abort(3) and libc's own messages between threads.
    try allow("tgkill", Condition(argument: 0, value: UInt64(getpid())))
    for option in [cposix_PR_SET_NAME, cposix_PR_GET_NAME] {
      try allow("prctl", Condition(argument: 0, value: UInt64(option)))
    }
    // getrlimit(3): of this process, without setting anything.
    try allow("prlimit64", Condition(argument: 0, value: 0), Condition(argument: 2, value: 0))
  }

  private func addDescriptors() throws(ReaderSandbox.Failure) {
    for command in [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC] {
      try allow("fcntl", Condition(argument: 1, value: UInt64(command)))
    }
    // By the kind of device, in the second byte: USB, SPI, HID.
    for kind in ["U", "k", "H"] as [Unicode.Scalar] {
      try allow("ioctl", Condition(argument: 1, mask: 0xff00, value: UInt64(kind.value) << 8))
    }
    // isatty(3), FIONREAD, FIONBIO.
    for request: UInt64 in [0x5401, 0x541b, 0x5421] { try allow("ioctl", Condition(argument: 1, value: request)) }
  }

  /// The one new socket on the system: the kernel's and udev's messages about devices.
  private func addSockets(_ exemptions: Exemptions) throws(ReaderSandbox.Failure) {
    let deviceEvents: UInt64 = 15  // NETLINK_KOBJECT_UEVENT
    try allow("socket", Condition(argument: 0, value: UInt64(AF_NETLINK)), Condition(argument: 2, value: deviceEvents))
    if exemptions.hasVirtualReaders || exemptions.mockFolder != nil {
      try allow("socket", Condition(argument: 0, value: UInt64(AF_UNIX)))
    }
    if exemptions.hasVirtualReaders { for name in CallLists.virtualReaders { try allow(name) } }
    if exemptions.mockFolder != nil { for name in CallLists.mockedDevices { try allow(name) } }
  }

  private func allow(_ name: String, _ conditions: Condition...) throws(ReaderSandbox.Failure) {
    try add(UInt32(cseccomp_ALLOW), name, conditions)
  }

  /// A name that this architecture or this libseccomp does not know needs no rule: it is refused anyway.
  private func add(_ action: UInt32, _ name: String, _ conditions: [Condition]) throws(ReaderSandbox.Failure) {
    let number = seccomp_syscall_resolve_name(name)
    guard number >= 0 else { return }
    let comparisons = conditions.map { condition in
      condition.mask == .max
        ? scmp_arg_cmp(arg: condition.argument, op: SCMP_CMP_EQ, datum_a: condition.value, datum_b: 0)
        : scmp_arg_cmp(
          arg: condition.argument, op: SCMP_CMP_MASKED_EQ, datum_a: condition.mask, datum_b: condition.value)
    }
    let result = seccomp_rule_add_array(context, action, number, UInt32(comparisons.count), comparisons)
    if result != 0 { throw Self.failure("seccomp rule for \(name)", -result) }
  }

  private func set(_ attribute: scmp_filter_attr, to value: UInt32) throws(ReaderSandbox.Failure) {
    let result = seccomp_attr_set(context, attribute, value)
    if result != 0 { throw Self.failure("seccomp_attr_set", -result) }
  }

  private static func failure(_ what: String, _ code: Int32) -> ReaderSandbox.Failure {
    ReaderSandbox.Failure(
      exit: .notShed, line: "whorl-reader cannot shed its rights: \(what): \(String(cString: strerror(code)))")
  }
}
