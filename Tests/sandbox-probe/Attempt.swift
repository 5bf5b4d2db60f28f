import CPosix
import Glibc

// Swift has no name for these.
@_silgen_name("fork") private func newProcess() -> pid_t
@_silgen_name("ptrace") private func follow(_ request: Int, _ process: pid_t, _ address: Int, _ data: Int) -> Int

/// What a driver that was taken over might try, and a few things that must go on working.
enum Attempt: String {
  case read, list, write, create, truncate, delete, makeFolder, permissions
  case socket, busConnection, deviceEvents, listen
  case execute, fork, thread, kill, trace, becomeRoot, dumpable, writableCode, madeCode, library, limits, abort

  /// 0 where it worked; otherwise errno says why not.
  func perform(_ argument: String) -> Int32 {
    switch self {
    case .read: opened(argument, O_RDONLY)
    case .list: opened(argument, O_RDONLY | Int32(cposix_O_DIRECTORY))
    case .write: opened(argument, O_WRONLY)
    case .create: opened(argument, O_WRONLY | O_CREAT)
    case .truncate: opened(argument, O_WRONLY | O_TRUNC)
    case .delete: unlink(argument)
    case .makeFolder: mkdir(argument, 0o700)
    case .permissions: chmod(argument, 0o777)
    case .socket: descriptor(Glibc.socket(Int32(argument) ?? 0, Int32(SOCK_DGRAM.rawValue), 0))
    case .busConnection: connected(argument)
    case .deviceEvents: descriptor(Glibc.socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 15))
    case .listen: listening(argument)
    case .execute: executed()
    case .fork: forked()
    case .thread: started()
    case .kill: Glibc.kill(getppid(), 0)
    case .trace: traced()
    case .becomeRoot: setresuid(0, 0, 0)
    case .dumpable: cposix_prctl(Int32(cposix_PR_SET_DUMPABLE), 1)
    case .writableCode: mapped(PROT_READ | PROT_WRITE | PROT_EXEC)
    case .madeCode: madeExecutable()
    case .library: dlopen(argument, RTLD_NOW) == nil ? -1 : 0
    case .limits: limited()
    case .abort: Glibc.abort()
    }
  }

  private func descriptor(_ number: Int32) -> Int32 { number < 0 ? -1 : 0 }

  private func opened(_ path: String, _ flags: Int32) -> Int32 { descriptor(open(path, flags, 0o600)) }

  private func connected(_ path: String) -> Int32 {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    return socket < 0 ? -1 : withAddress(path) { Glibc.connect(socket, $0, $1) }
  }

  private func listening(_ path: String) -> Int32 {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0, withAddress(path, { Glibc.bind(socket, $0, $1) }) == 0 else { return -1 }
    return Glibc.listen(socket, 1)
  }

  private func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  private func executed() -> Int32 {
    var words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
    return execv("/bin/true", &words)
  }

  private func forked() -> Int32 {
    let child = newProcess()
    if child == 0 { _exit(0) }
    return child < 0 ? -1 : 0
  }

  private func started() -> Int32 {
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, { _ in nil }, nil)
    errno = code
    return code == 0 && pthread_join(thread, nil) == 0 ? 0 : -1
  }

  // PTRACE_SEIZE, which does not stop the parent.
  private func traced() -> Int32 { descriptor(Int32(truncatingIfNeeded: follow(0x4206, getppid(), 0, 0))) }

  private func mapped(_ protection: Int32) -> Int32 {
    mmap(nil, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0
  }

  private func madeExecutable() -> Int32 {
    guard let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page != MAP_FAILED
    else { return -1 }
    return mprotect(page, 4096, PROT_READ | PROT_EXEC)
  }

  private func limited() -> Int32 {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    return getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 && limit.rlim_max == 0 ? 0 : -1
  }
}
