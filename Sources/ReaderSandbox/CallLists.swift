/// The system calls of a bridge, by name. What is on neither list fails with EPERM, which libraries bear.
enum CallLists {
  /// What libfprint, libusb, libudev, NSS, GLib, the Swift runtime and libc need, whatever the arguments.
  static let allowed = [
    // Descriptors that are open.
    "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "dup", "dup2", "dup3", "fstat",
    "fstatfs", "getdents64", "fadvise64",
    // Looking at paths; opening them is in CallFilter.
    "stat", "lstat", "newfstatat", "statx", "statfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
    "getcwd",
    // Waiting.
    "poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2",
    "timerfd_create", "timerfd_settime", "timerfd_gettime", "pipe2", "nanosleep", "clock_nanosleep", "restart_syscall",
    // Sockets that are open: the link, and udev's.
    "bind", "recvfrom", "recvmsg", "sendto", "sendmsg", "getsockopt", "setsockopt", "getsockname", "getpeername",
    "shutdown",
    // Memory.
    "brk", "munmap", "mremap", "madvise", "membarrier",
    // Threads.
    "futex", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "sched_yield", "sched_getaffinity",
    "sched_getattr", "sched_getparam", "sched_getscheduler", "getcpu", "exit", "exit_group", "rt_sigaction",
    "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    // Asking about itself and the time.
    "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
    "getrusage", "times", "clock_gettime",
    "clock_getres", "gettimeofday", "time", "uname", "sysinfo", "getrandom",
  ]

  /// What no driver ever does and only somebody who has taken one over tries: the process ends.
  static let fatal = [
    "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "kcmp", "pidfd_getfd", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "unshare", "setns", "bpf", "perf_event_open", "keyctl", "add_key",
    "request_key", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "iopl", "ioperm",
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid",
    "capset", "personality", "open_by_handle_at", "modify_ldt", "memfd_secret", "quotactl",
    "acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "syslog", "vhangup", "mknod", "mknodat",
  ]

  /// What libfprint's virtual readers need besides: a socket to listen on.
  static let virtualReaders = ["listen", "accept", "accept4", "unlink", "unlinkat"]
  /// What umockdev's preloaded library needs besides: sockets to its server.
  static let mockedDevices = ["connect", "unlink", "unlinkat"]
}
