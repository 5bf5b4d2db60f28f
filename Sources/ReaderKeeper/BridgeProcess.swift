internal import CPosix
internal import ChildProcess
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
  /// Why it refused to start, where it did.
  private(set) var refusal: BridgeExit?

  let pid: pid_t
  private var exitWatch: FDWatch?
  private var exitDescriptor: Int32

  /// Starts the program with exactly this environment; it finds its end of the socket pair on descriptor 3.
  ///
  /// Its standard error is ours until it has shed its rights, so that the log tells what stopped it before.
  init(program: String, arguments: [String], environment: [String: String]) throws(ReaderError) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Self.failure("cannot start \(program)", errno)
    }
    do throws(ChildProcess.Failure) {
      pid = try ChildProcess.spawn(
        program, arguments, environment: environment.map { "\($0.key)=\($0.value)" },
        descriptors: [.nothing, .nothing, .duplicate(STDERR_FILENO), .duplicate(ends[1])], ownGroup: true)
      close(ends[1])
    } catch {
      close(ends[0])
      close(ends[1])
      throw Self.failure("cannot start \(program)", error.code)
    }
    stream = ByteStream(descriptor: ends[0], queueLimit: 2 * LinkLimits.requestBytes)
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
    let (signal, code) = (status & 0x7f, (status >> 8) & 0xff)
    refusal = signal == 0 ? BridgeExit(rawValue: code).flatMap { $0.isRefusal ? $0 : nil } : nil
    ending =
      switch (signal, BridgeExit(rawValue: code)) {
      case (0, let exit?) where exit != .closed: "ended with exit code \(code): \(exit.text)"
      case (0, _): "ended with exit code \(code)"
      case (SIGSYS, _): "was stopped by its sandbox at a system call that no driver makes"
      default: "was ended by signal \(signal)"
      }
    releaseWatch()
    exited.fire()
  }

  private func releaseWatch() {
    exitWatch?.cancel()
    exitWatch = nil
    if exitDescriptor >= 0 { close(exitDescriptor) }
    exitDescriptor = -1
  }

  /// Ends it within that time, in good order where it lets that happen in the first part of it; whether it is gone. One
  /// that the kernel holds does not even die of SIGKILL: it is left alone, and reaped whenever it ends.
  func end(milliseconds: Int) async -> Bool {
    stream.close()
    let force = min(500, milliseconds / 2)
    if await exited.wait(milliseconds: milliseconds - force) { return true }
    kill()
    if await exited.wait(milliseconds: force) { return true }
    keepUntilReaped()
    return false
  }

  /// Keeps this object for as long as the process lives.
  func keepUntilReaped() {
    // By name, for the task would not hold it otherwise.
    Task { [self] in await exited.wait() }
  }

  isolated deinit {
    // Whoever lets a process go has waited for its end or keeps it; if not, it must not run on. Never waits.
    if ending == nil {
      Glibc.kill(pid, SIGKILL)
      waitpid(pid, nil, WNOHANG)
    }
    releaseWatch()
  }

  private static func failure(_ what: String, _ code: Int32) -> ReaderError {
    .bridgeFailed("\(what): \(String(cString: strerror(code)))")
  }
}
