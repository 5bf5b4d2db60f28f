internal import CPosix
internal import GLibLoop
internal import Glibc
internal import ReaderLink

/// One whorl-reader process: started, spoken to over a socket pair, killed by its pid and by nothing wider, reaped.
@GLibActor
final class BridgeProcess {
  let stream: ByteStream
  /// Fires when the process has ended and was reaped.
  let exited = Signal()
  /// How it ended, for people; nil while it runs.
  private(set) var ending: String?

  let pid: pid_t
  private var exitWatch: FDWatch?
  private var exitDescriptor: Int32

  /// Where the bridge finds its end of the socket pair.
  private static let linkDescriptor: Int32 = 3

  /// Starts the program with exactly this environment.
  init(program: String, environment: [String: String]) throws(ReaderError) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Self.failure("cannot start \(program)", errno)
    }
    let result = Self.spawn(program, environment, link: ends[1])
    close(ends[1])
    guard case .success(let pid) = result else {
      close(ends[0])
      if case .failure(let code) = result { throw Self.failure("cannot start \(program)", code.number) }
      throw .bridgeFailed("cannot start \(program)")
    }
    self.pid = pid
    stream = ByteStream(descriptor: ends[0], queueLimit: 2 * LinkLimits.messageBytes)
    // By descriptor and not by signal: the pid stays ours until waitpid below, so that kill never hits another process.
    exitDescriptor = cposix_pidfd_open(pid)
    guard exitDescriptor >= 0 else {
      let code = errno
      Glibc.kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
      throw Self.failure("cannot watch \(program)", code)
    }
    exitWatch = FDWatch(descriptor: exitDescriptor, for: .readable) { [weak self] _ in self?.reap() }
  }

  /// Ends it at once; a stopped process too. Does nothing when it has ended.
  func kill() {
    if ending == nil { Glibc.kill(pid, SIGKILL) }
  }

  private func reap() {
    var status: Int32 = 0
    guard ending == nil, waitpid(pid, &status, WNOHANG) == pid else { return }
    let signal = status & 0x7f
    ending = signal == 0 ? "ended with exit code \((status >> 8) & 0xff)" : "was ended by signal \(signal)"
    releaseWatch()
    exited.fire()
  }

  private func releaseWatch() {
    exitWatch?.cancel()
    exitWatch = nil
    if exitDescriptor >= 0 { close(exitDescriptor) }
    exitDescriptor = -1
  }

  isolated deinit {
    // Whoever lets a process go has waited for its end; if not, it must not stay behind.
    if ending == nil {
      Glibc.kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    releaseWatch()
  }

  // MARK: Starting

  private struct ErrorNumber: Error { var number: Int32 }

  private static func failure(_ what: String, _ code: Int32) -> ReaderError {
    .bridgeFailed("\(what): \(String(cString: strerror(code)))")
  }

  private static func spawn(
    _ program: String, _ environment: [String: String], link: Int32
  ) -> Result<pid_t, ErrorNumber> {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The link first, for it may itself sit on a number that the next lines use.
    posix_spawn_file_actions_adddup2(&actions, link, linkDescriptor)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addclosefrom_np(&actions, linkDescriptor + 1)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Nothing of our handling of signals comes along, and a Ctrl-C on our terminal is ours alone.
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, program, &actions, &attributes, &arguments, &variables)
    return code == 0 ? .success(pid) : .failure(ErrorNumber(number: code))
  }
}
