import CPosix
import Foundation
import Glibc

/// A program that a test started, with its output collected. Killed and reaped when the last reference goes.
public final class RunningProgram: Sendable {
  /// How a program ended.
  public enum End: Sendable, Equatable {
    /// It exited with this status.
    case exited(Int32)
    /// A signal ended it.
    case signalled(Int32)
  }

  /// Everything about a program that ended.
  public struct Result: Sendable {
    /// How it ended.
    public let end: End
    /// Its standard output.
    public let output: [UInt8]
    /// Its standard error.
    public let errors: [UInt8]
    /// The exit status; nil after a signal.
    public var status: Int32? { if case .exited(let status) = end { status } else { nil } }
    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// Standard error as text.
    public var errorText: String { String(decoding: errors, as: UTF8.self) }
  }

  /// Which output.
  public enum Stream: Sendable {
    /// Standard output.
    case output
    /// Standard error.
    case errors
  }

  /// The process; valid until the program's end was waited for.
  public let pid: Int32
  /// The program's name, for error texts.
  public let name: String

  private let record: Record

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - program: its path.
  ///   - arguments: without the program's name.
  ///   - environment: exactly this; the test's own where nil.
  ///   - input: what it reads from standard input, which then ends; where nil, `write` and `closeInput` feed it.
  ///   - user: the uid and gid to run as, through `setpriv` (needs root); the test's own where nil.
  public init(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String? = nil,
    user: UInt32? = nil
  ) throws {
    name = (program as NSString).lastPathComponent
    var command = [program] + arguments
    if let user {
      command = ["/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "--"] + command
    }
    // Writing to a child that has ended is EPIPE, not the end of all tests. Every start says so again, since nothing
    // of the test runner's own does; children get the default action back below.
    Glibc.signal(SIGPIPE, SIG_IGN)
    let pipes = try (Pipe(), Pipe(), Pipe())
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, pipes.0.readEnd, 0)
    posix_spawn_file_actions_adddup2(&actions, pipes.1.writeEnd, 1)
    posix_spawn_file_actions_adddup2(&actions, pipes.2.writeEnd, 2)
    var every = sigset_t()
    sigfillset(&every)
    posix_spawnattr_setsigdefault(&attributes, &every)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    cposix_spawn_closefrom(&actions, 3)
    // A session of its own: the terminal that the tests were started from is not the program's.
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | Int32(cposix_POSIX_SPAWN_SETSID)))
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    var settings: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { (words + settings).forEach { free($0) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, command[0], &actions, &attributes, &words, &settings)
    pipes.0.closeReadEnd()
    pipes.1.closeWriteEnd()
    pipes.2.closeWriteEnd()
    guard code == 0 else {
      pipes.0.closeWriteEnd()
      pipes.1.closeReadEnd()
      pipes.2.closeReadEnd()
      throw TestKitError.posix("start \(command[0])", code)
    }
    pid = child
    let record = Record(input: pipes.0.writeEnd)
    self.record = record
    Self.collect(.output, from: pipes.1.readEnd, into: record)
    Self.collect(.errors, from: pipes.2.readEnd, into: record)
    let process = child
    Thread.detachNewThread { Self.reap(process, record) }
    if let input {
      try write(input)
      closeInput()
    }
  }

  deinit {
    signal(SIGKILL)
    closeInput()
  }

  /// Starts a program and waits for its end.
  public static func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String? = "",
    user: UInt32? = nil, seconds: Int = 60
  ) async throws -> Result {
    try await RunningProgram(program, arguments, environment: environment, input: input, user: user)
      .wait(seconds: seconds)
  }

  /// Writes to the program's standard input; what a program that is gone does not read is lost.
  public func write(_ text: String) throws {
    let bytes = Array(text.utf8)
    try record.locked { record in
      guard record.input >= 0 else { throw TestKitError("the input of \(name) is closed already") }
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          Glibc.write(record.input, $0.baseAddress.map { $0 + sent }, bytes.count - sent)
        }
        if count >= 0 { sent += count } else if errno == EPIPE { return } else if errno != EINTR { break }
      }
    }
  }

  /// Ends the program's standard input.
  public func closeInput() {
    record.locked { record in
      if record.input >= 0 { close(record.input) }
      record.input = -1
    }
  }

  /// What the program has written so far.
  public func text(_ stream: Stream = .output) -> String {
    record.locked { String(decoding: $0.bytes(stream), as: UTF8.self) }
  }

  /// Whether the program has not ended yet.
  public var isRunning: Bool { record.locked { $0.end == nil } }

  /// Sends a signal, unless the program has ended.
  public func signal(_ number: Int32) {
    record.locked { if $0.end == nil { _ = kill(pid, number) } }
  }

  /// Waits for the program's end and for all of its output. Kills it and throws when that takes too long.
  public func wait(seconds: Int = 60) async throws -> Result {
    try await offPool { [self] in
      let result = record.wait(seconds: seconds) { record -> Result? in
        guard let end = record.end, record.open.isEmpty else { return nil }
        return Result(end: end, output: record.bytes(.output), errors: record.bytes(.errors))
      }
      if let result { return result }
      signal(SIGKILL)
      throw TestKitError("\(name) did not end within \(seconds) s; it wrote:\n\(everything)")
    }
  }

  /// Waits until the program has written `words` (after the first `skipping` bytes of that stream), and gives the
  /// whole text so far. Throws when the program ends before or too much time passes.
  @discardableResult
  public func waitFor(_ words: String, in stream: Stream = .output, skipping: Int = 0, seconds: Int = 60) async throws
    -> String
  {
    try await offPool { [self] in
      let found = record.wait(seconds: seconds) { record -> String?? in
        let bytes = record.bytes(stream)
        if String(decoding: bytes.dropFirst(skipping), as: UTF8.self).contains(words) {
          return String(decoding: bytes, as: UTF8.self)
        }
        return record.open.contains(stream) ? nil : .some(nil)
      }
      switch found {
      case .some(.some(let text)): return text
      case .some(.none): throw TestKitError("\(name) ended without writing \"\(words)\"; it wrote:\n\(everything)")
      case nil:
        throw TestKitError("\(name) did not write \"\(words)\" within \(seconds) s; it wrote:\n\(everything)")
      }
    }
  }

  /// Both outputs, for error texts.
  private var everything: String { text(.output) + text(.errors) }

  private static func collect(_ stream: Stream, from handle: Int32, into record: Record) {
    Thread.detachNewThread {
      var buffer = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = read(handle, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        let bytes = Array(buffer[..<max(0, count)])
        record.locked { record in
          record.collected[stream, default: []] += bytes
          if count <= 0 { record.open.remove(stream) }
        }
        if count <= 0 { break }
      }
      close(handle)
    }
  }

  /// Waits for the process without reaping it, records that, and only then reaps: so nobody signals a recycled pid.
  private static func reap(_ pid: pid_t, _ record: Record) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let status = information._sifields._sigchld.si_status
    record.locked { $0.end = information.si_code == CLD_EXITED ? .exited(status) : .signalled(status) }
    var reaped: Int32 = 0
    while waitpid(pid, &reaped, 0) < 0, errno == EINTR {}
  }

  /// What is known about the program.
  ///
  /// `@unchecked Sendable` holds because `locked` and `wait` are the only ways in and hold the condition's lock.
  private final class Record: @unchecked Sendable {
    private let condition = NSCondition()
    var collected: [Stream: [UInt8]] = [:]
    var open: Set<Stream> = [.output, .errors]
    var end: End?
    var input: Int32

    init(input: Int32) { self.input = input }

    func bytes(_ stream: Stream) -> [UInt8] { collected[stream] ?? [] }

    func locked<R>(_ body: (Record) throws -> R) rethrows -> R {
      condition.lock()
      defer {
        condition.broadcast()
        condition.unlock()
      }
      return try body(self)
    }

    /// Looks again at each change until `look` finds something; nil when it does not within that time.
    func wait<R>(seconds: Int, _ look: (Record) -> R?) -> R? {
      let limit = Date(timeIntervalSinceNow: TimeInterval(seconds))
      condition.lock()
      defer { condition.unlock() }
      while true {
        if let found = look(self) { return found }
        if !condition.wait(until: limit) { return look(self) }
      }
    }
  }

  private struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard cposix_pipe_cloexec(&ends) == 0 else { throw TestKitError.posix("pipe") }
      (readEnd, writeEnd) = (ends[0], ends[1])
    }

    func closeReadEnd() { close(readEnd) }
    func closeWriteEnd() { close(writeEnd) }
  }
}
