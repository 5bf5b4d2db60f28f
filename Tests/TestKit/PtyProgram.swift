internal import CPosix
import Foundation
public import GLibLoop
internal import Glibc

/// A program on a terminal of its own: what it shows, what it writes to its pipe, what its echo is like.
@GLibActor
public final class PtyProgram {
  /// What a test waited for did not come.
  public struct Failed: Error, CustomStringConvertible {
    /// In words.
    public let description: String
    init(_ description: String) { self.description = description }
  }

  /// Where standard output goes.
  public enum Place: Sendable {
    /// To the terminal, into a pipe of the test's, or nowhere: it is closed.
    case terminal, pipe, closed
    /// A pipe whose reader has gone before the program starts.
    case broken
  }

  /// The program's process.
  public let pid: Int32
  /// Everything that the terminal showed so far.
  public private(set) var screen = ""
  private let master: Int32
  private let slave: Int32
  private let process: Int32
  private var outputEnd: Int32 = -1
  private var seen = 0
  private var ended: Int32?

  /// Starts the program in a session of its own.
  ///
  /// - Parameters:
  ///   - hasTerminal: whether the session has the terminal as its controlling one.
  ///   - input: what standard input gives; nil is the terminal.
  ///   - output: where standard output goes.
  public init(
    _ program: String, _ arguments: [String], environment: [String: String], hasTerminal: Bool = true,
    input: [UInt8]? = nil, output: Place = .terminal
  ) throws {
    var name = [CChar](repeating: 0, count: 64)
    master = cposix_open_terminal(&name, name.count)
    guard master >= 0 else { throw Failed("no pseudo-terminal: error \(errno)") }
    let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)

    var inputPipe: [Int32] = [-1, -1]
    var outputPipe: [Int32] = [-1, -1]
    if input != nil { cposix_pipe_cloexec(&inputPipe) }
    if output == .pipe || output == .broken { cposix_pipe_cloexec(&outputPipe) }
    if output == .broken {
      close(outputPipe[0])
      try Self.waitUntilBroken(outputPipe[1])
    }

    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // No descriptor besides the three is used: any number may be one of the pipes' here.
    if input != nil { posix_spawn_file_actions_adddup2(&actions, inputPipe[0], 0) }
    if output == .pipe || output == .broken { posix_spawn_file_actions_adddup2(&actions, outputPipe[1], 1) }
    // The first terminal that the new session's leader opens controls it.
    posix_spawn_file_actions_addopen(&actions, 2, path, hasTerminal ? O_RDWR : O_RDWR | O_NOCTTY, 0)
    if input == nil { posix_spawn_file_actions_adddup2(&actions, 2, 0) }
    if output == .terminal { posix_spawn_file_actions_adddup2(&actions, 2, 1) }
    if output == .closed { posix_spawn_file_actions_addclose(&actions, 1) }
    var every = sigset_t()
    sigfillset(&every)
    posix_spawnattr_setsigdefault(&attributes, &every)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | Int16(cposix_POSIX_SPAWN_SETSID))

    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    var settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { (words + settings).forEach { free($0) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, program, &actions, &attributes, &words, &settings)
    guard code == 0 else { throw Failed("\(program) does not start: error \(code)") }
    pid = child
    process = cposix_pidfd_open(child)
    if input != nil { close(inputPipe[0]) }
    if output == .pipe || output == .broken { close(outputPipe[1]) }
    if output == .pipe {
      outputEnd = outputPipe[0]
      _ = cposix_fcntl_int(outputEnd, F_SETFL, O_NONBLOCK)
    }
    if let input {
      // A thread: the input may be more than the pipe holds.
      let end = inputPipe[1]
      Thread.detachNewThread {
        signal(SIGPIPE, SIG_IGN)
        var rest = input[...]
        while !rest.isEmpty {
          let written = rest.withUnsafeBytes { write(end, $0.baseAddress, $0.count) }
          guard written > 0 else { break }
          rest = rest.dropFirst(written)
        }
        close(end)
      }
    }
  }

  isolated deinit {
    if ended == nil {
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    for descriptor in [master, slave, process, outputEnd] where descriptor >= 0 { close(descriptor) }
  }

  /// Whether the terminal shows what is typed.
  public var echoes: Bool {
    var settings = termios()
    tcgetattr(slave, &settings)
    return settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Whether nothing that was typed is still to be read.
  public var hasNothingLeft: Bool {
    var looked = pollfd(fd: slave, events: Int16(POLLIN), revents: 0)
    return poll(&looked, 1, 0) == 0
  }

  /// Waits until it does not.
  public func stopsEchoing() async throws {
    while echoes {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Types this.
  public func type(_ text: String) { _ = write(master, text, text.utf8.count) }

  /// Closes the reading end of standard output's pipe, and waits until nobody has it.
  public func breakPipe() throws {
    let writing = open("/proc/\(pid)/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard writing >= 0 else { throw Failed("standard output cannot be looked at: error \(errno)") }
    defer { close(writing) }
    close(outputEnd)
    outputEnd = -1
    try Self.waitUntilBroken(writing)
  }

  /// A child that another test is about to start has all descriptors of this process until its program begins, so that
  /// an end that was closed here may live on for a moment, longer on a busy machine.
  private static func waitUntilBroken(_ end: Int32) throws {
    var looked = pollfd(fd: end, events: 0, revents: 0)
    while poll(&looked, 1, 30_000) < 0, errno == EINTR {}
    guard looked.revents & Int16(POLLERR) != 0 else { throw Failed("the pipe's reading end is still open somewhere") }
  }

  /// Waits until the terminal shows the text, after what was waited for before.
  public func shows(_ text: String) async throws {
    while true {
      let rest = String(decoding: Array(screen.utf8).dropFirst(seen), as: UTF8.self)
      if let range = rest.range(of: text) {
        seen += rest[..<range.upperBound].utf8.count
        return
      }
      _ = try await glibReady(for: .readable, of: master)
      readScreen()
      if let ended { throw Failed("ended with \(ended) before it showed \(text); it showed: \(screen)") }
    }
  }

  /// Goes on with an enrolment without the password.
  public func enrolsForLogins() async throws {
    try await shows("(Enter alone: for logins only): ")
    type("\n")
  }

  private func readScreen() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let got = read(master, &buffer, buffer.count)
    if got > 0 { screen += String(decoding: buffer[..<got], as: UTF8.self) }
  }

  /// All of the standard output's pipe, until it is closed.
  public func output() async throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      _ = try await glibReady(for: .readable, of: outputEnd)
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let got = read(outputEnd, &buffer, buffer.count)
      if got < 0, errno == EAGAIN { continue }
      guard got > 0 else { return all }
      all += buffer[..<got]
    }
  }

  /// Waits for the end: the exit code, or minus the signal's number. The screen is complete afterwards.
  public func end() async throws -> Int32 {
    _ = try await glibReady(for: .readable, of: process)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    ended = code
    var before = -1
    while before != screen.utf8.count {
      before = screen.utf8.count
      readScreen()
    }
    return code
  }
}
