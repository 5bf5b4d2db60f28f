internal import CPosix
internal import ChildProcess
internal import GLibLoop
internal import Glibc
internal import SecretMemory

/// How a child program ended.
enum ChildEnd: Sendable, Hashable {
  /// It exited with this status.
  case exited(Int32)
  /// It was ended by this signal.
  case signalled(Int32)
  /// It did not end in time and was killed.
  case timedOut
  /// It could not be started, with the error number.
  case notStarted(Int32)
}

/// A short-lived child that gets a secret on its standard input and answers by its exit status.
@GLibActor
enum ChildProgram {
  /// Runs `program`, writes `secret` to its standard input, and waits for its end on the main loop.
  ///
  /// The child has exactly the given environment, no other descriptor than 0 to 2 (output goes nowhere), default
  /// signal actions and an empty signal mask.
  static func run(
    _ program: String, arguments: [String], environment: [String], secret: consuming SecretBytes, seconds: Int
  ) async -> ChildEnd {
    var pipe: [Int32] = [-1, -1]
    guard cposix_pipe_cloexec(&pipe) == 0 else { return .notStarted(errno) }
    let (readEnd, writeEnd) = (pipe[0], pipe[1])
    let pid: pid_t
    do throws(ChildProcess.Failure) {
      pid = try ChildProcess.spawn(
        program, arguments, environment: environment, descriptors: [.duplicate(readEnd), .nothing, .nothing])
      close(readEnd)
    } catch {
      close(readEnd)
      close(writeEnd)
      return .notStarted(error.code)
    }
    // At most a passcode, far below a pipe's capacity, so this never waits; a child that is gone already gives EPIPE
    // (SIGPIPE is ignored in whorld), which its exit status explains.
    secret.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress, !bytes.isEmpty { _ = write(writeEnd, base, bytes.count) }
    }
    close(writeEnd)
    return await end(of: pid, seconds: seconds)
  }

  /// Waits for the child by its pidfd, and kills it (that pid, which is ours until reaped) after the time.
  private static func end(of pid: pid_t, seconds: Int) async -> ChildEnd {
    let descriptor = cposix_pidfd_open(pid)
    guard descriptor >= 0 else {
      let code = errno
      kill(pid, SIGKILL)
      _ = reap(pid)
      return .notStarted(code)
    }
    defer { close(descriptor) }
    let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
    let watch = FDWatch(descriptor: descriptor, for: .readable) { _ in
      ended.yield(true)
      ended.finish()
    }
    let timer = Task { @GLibActor in
      do { try await glibSleep(milliseconds: seconds * 1000) } catch { return }
      ended.yield(false)
      ended.finish()
    }
    // Not cut short by cancellation of the caller: the child is reaped in any case, within its time.
    let inTime = await Task { @GLibActor in
      var iterator = ends.makeAsyncIterator()
      return await iterator.next() ?? false
    }.value
    watch.cancel()
    timer.cancel()
    if !inTime { kill(pid, SIGKILL) }
    let result = reap(pid)
    return inTime ? result : .timedOut
  }

  private static func reap(_ pid: pid_t) -> ChildEnd {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 {
      if errno != EINTR { return .notStarted(errno) }
    }
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}
