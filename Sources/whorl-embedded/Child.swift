import CPosix
import ChildProcess
import EmbeddedLink
import GLibLoop
import Glibc

/// A program that runs for as long as this process does, at most.
@GLibActor
final class Child {
  let pid: pid_t
  private let process: Int32
  private var watch: FDWatch?
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private(set) var hasEnded = false

  /// - Parameters:
  ///   - environment: all of it.
  ///   - descriptors: from 1 on; 0 is /dev/null.
  ///   - ended: called once.
  init(
    _ program: String, _ arguments: [String] = [], environment: [String: String],
    descriptors: [ChildProcess.Descriptor], ended: @escaping @GLibActor () -> Void
  ) throws(StartFailure) {
    do throws(ChildProcess.Failure) {
      pid = try ChildProcess.spawn(
        "/proc/self/exe", [EmbeddedLink.runOption, "\(getpid())", program] + arguments,
        environment: environment.map { "\($0.key)=\($0.value)" }, descriptors: [.nothing] + descriptors)
    } catch {
      throw StartFailure(.cannotStart, "\(program) does not start: \(error.text)")
    }
    process = cposix_pidfd_open(pid)
    guard process >= 0 else {
      let code = errno
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
      throw StartFailure(.cannotStart, "\(program) cannot be watched: \(String(cString: strerror(code)))")
    }
    watch = FDWatch(descriptor: process, for: .readable) { [weak self] _ in
      guard let self, !hasEnded else { return }
      reap()
      ended()
    }
  }

  private func reap() {
    watch?.cancel()
    watch = nil
    while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    close(process)
    hasEnded = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  /// Asks it to end, makes it end after so many milliseconds, and waits for that.
  func end(within milliseconds: Int) async {
    guard !hasEnded else { return }
    kill(pid, SIGTERM)
    let limit = Task { @GLibActor in
      do { try await glibSleep(milliseconds: milliseconds) } catch { return }
      if !hasEnded { kill(pid, SIGKILL) }
    }
    if !hasEnded { await withCheckedContinuation { waiters.append($0) } }
    limit.cancel()
  }
}
