internal import CPosix
import GLibLoop
internal import Glibc

/// The signals that end or stop a command, taken in turn on the loop and never in a handler.
@GLibActor
final class SignalWatch {
  enum Arrival: Sendable, Equatable {
    /// Ctrl-C and its like.
    case end
    /// Ctrl-Z.
    case stop
    /// The process goes on after a stop.
    case goOn
  }

  private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private var descriptor: Int32
  private var watch: FDWatch?

  /// Blocks the signals for the calling thread and all that it starts: call it before there is any other thread.
  nonisolated static func blockSignals() {
    var set = all
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  private nonisolated static var all: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT] { sigaddset(&set, signal) }
    return set
  }

  /// Calls `handler` for each signal that ``blockSignals()`` holds back.
  init(_ handler: @escaping @GLibActor (Arrival) -> Void) {
    var set = Self.all
    descriptor = signalfd(-1, &set, Int32(cposix_SFD_CLOEXEC | cposix_SFD_NONBLOCK))
    guard descriptor >= 0 else { return }
    watch = FDWatch(descriptor: descriptor, for: .readable) { [descriptor] _ in
      var info = signalfd_siginfo()
      while read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) == MemoryLayout<signalfd_siginfo>.size {
        switch Int32(bitPattern: info.ssi_signo) {
        case SIGTSTP: handler(.stop)
        case SIGCONT: handler(.goOn)
        default: handler(.end)
        }
      }
    }
  }

  /// Stops this process as Ctrl-Z would have, until it is told to go on.
  func stopProcess() {
    var stop = sigset_t()
    sigemptyset(&stop)
    sigaddset(&stop, SIGTSTP)
    raise(SIGTSTP)
    // The default action is the kernel's: it happens here, and what follows when the process goes on.
    pthread_sigmask(SIG_UNBLOCK, &stop, nil)
    pthread_sigmask(SIG_BLOCK, &stop, nil)
  }

  isolated deinit {
    watch?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }
}
