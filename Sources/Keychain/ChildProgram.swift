internal import CPosix
internal import ChildProcess
internal import Glibc
internal import SecretMemory

/// Runs one program with a secret as its input and a secret as its output: no shell, a fixed environment, nothing
/// inherited but the three standard descriptors.
enum ChildProgram {
  /// How a run ended.
  struct Result: ~Copyable {
    /// The exit status.
    let status: Int32
    let output: SecretBytes
    /// The first line it wrote on its standard error, fit for a message.
    let complaint: String
  }

  /// Runs `program` to its end, for at most `seconds`.
  ///
  /// The input goes by sealed memory file, which is wiped afterwards: nothing can block or break on it.
  /// - Throws: `.deviceKeyUnavailable` where it could not be started, was ended by a signal, took too long or wrote too
  ///   much: none of it says anything of what it was asked; `.memory`.
  static func run(
    _ program: String, _ arguments: [String], environment: [String], input: borrowing SecretBytes, limit: Int,
    seconds: Int
  ) throws(KeychainError) -> Result {
    let inputCopy = try guarded { () throws(SecretMemoryError) in try input.clone() }
    let standardInput = try guarded { () throws(SecretMemoryError) in
      try SecretFile.seal(inputCopy, name: "whorl-child-input")
    }
    defer {
      // The wiped copy is of no use; a failure leaves what closing removes anyway.
      _ = try? SecretFile.take(standardInput, limit: inputCopy.count)
      close(standardInput)
    }
    let complaints = "whorl-child-error".withCString { cposix_memfd_create($0, UInt32(cposix_MFD_CLOEXEC)) }
    guard complaints >= 0 else {
      throw .deviceKeyUnavailable("no memory file for \(program) could be made; free some memory")
    }
    defer { close(complaints) }
    var pipe: [Int32] = [-1, -1]
    guard cposix_pipe_cloexec(&pipe) == 0 else {
      throw .deviceKeyUnavailable("no pipe to \(program) could be made; close some programs and try again")
    }
    let (reading, writing) = (pipe[0], pipe[1])
    defer { close(reading) }

    let process: pid_t
    do throws(ChildProcess.Failure) {
      process = try ChildProcess.spawn(
        program, arguments, environment: environment,
        descriptors: [.duplicate(standardInput), .duplicate(writing), .duplicate(complaints)])
    } catch {
      close(writing)
      throw .deviceKeyUnavailable("\(program) could not be started (\(error.text)); install the systemd package")
    }
    close(writing)
    var output: SecretBytes?
    var failure: KeychainError?
    do throws(KeychainError) {
      output = try collect(reading, program: program, limit: limit, seconds: seconds)
    } catch {
      // Not waited for any longer; it holds nothing that a kill could damage.
      kill(process, SIGKILL)
      failure = error
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    if let failure { throw failure }
    guard status & 0x7f == 0 else {
      throw .deviceKeyUnavailable("\(program) was ended by signal \(status & 0x7f); try again later")
    }
    guard let output = output.take() else { throw .deviceKeyUnavailable("\(program) gave nothing; try again") }
    return Result(status: (status >> 8) & 0xff, output: output, complaint: firstLine(of: complaints))
  }

  /// All that the child writes, until it closes its end.
  private static func collect(
    _ file: Int32, program: String, limit: Int, seconds: Int
  ) throws(KeychainError) -> SecretBytes {
    var buffer = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: limit + 1) }
    var filled = 0
    let deadline = monotonicMilliseconds() + Int64(seconds) * 1000
    while true {
      let left = deadline - monotonicMilliseconds()
      guard left > 0 else {
        throw .deviceKeyUnavailable(
          "\(program) did not end within \(seconds) seconds; check the TPM and try again later")
      }
      var waited = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      guard poll(&waited, 1, Int32(left)) > 0 else { continue }
      let got = buffer.withUnsafeMutableBytes { memory in
        read(file, memory.baseAddress.map { $0 + filled }, memory.count - filled)
      }
      if got < 0 {
        if errno == EINTR { continue }
        throw .deviceKeyUnavailable("the output of \(program) could not be read; try again")
      }
      if got == 0 { break }
      filled += got
      guard filled <= limit else {
        throw .deviceKeyUnavailable("\(program) gave more than the \(limit) bytes expected")
      }
    }
    return try guarded { () throws(SecretMemoryError) in try buffer.prefix(filled) }
  }

  private static func monotonicMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static func firstLine(of file: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 480)
    let got = pread(file, &bytes, bytes.count, 0)
    let lines = bytes.prefix(max(got, 0)).split(separator: UInt8(ascii: "\n"))
    // systemd-creds warns of a host key of one's own, and goes on.
    let line = lines.first { !$0.suffix(13).elementsEqual("using anyway.".utf8) } ?? lines.first ?? []
    return String(decoding: line.prefix(240).map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
