internal import CPosix
internal import ChildProcess
internal import Glibc

/// A `whorl agent --terminal` that this process has started. It is known by a descriptor, so that nothing is ever done to
/// another child of the program, whatever that does with its children.
struct AgentProcess: Sendable {
  /// So many milliseconds it may take until the daemon knows it, and to end.
  private static let patience: Int32 = 10_000
  private static let patienceWithEnd: Int32 = 2_000
  /// So often, in milliseconds, it is looked whether the request is still wanted.
  private static let slice: Int32 = 50
  private static let programs = ["/usr/bin/whorl", "/usr/local/bin/whorl"]

  /// A pidfd.
  private let process: Int32
  /// It ends when this is closed.
  private let life: Int32
  /// The terminal as the program had it.
  private let terminal: termios?

  /// Starts it and waits until the daemon knows it.
  /// - Parameters:
  ///   - chosen: the program, where the daemon is in private mode; nil is the usual one.
  ///   - isPrivate: whether the daemon is in private mode, in which WHORL_AGENT_PROGRAM names the program.
  ///   - address: of the bus, where it is not what the environment says.
  /// - Returns: nil where there is none to be had: the request then goes without.
  static func start(chosen: String? = nil, isPrivate: Bool, address: String?, isCancelled: () -> Bool) -> AgentProcess?
  {
    guard let program = program(chosen, isPrivate), let life = pipe() else { return nil }
    defer { close(life.read) }
    guard let ready = pipe() else {
      close(life.write)
      return nil
    }
    defer { close(ready.read) }
    var environment = ["PATH=/usr/local/bin:/usr/bin:/bin"]
    for name in ["TERM", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "DBUS_SYSTEM_BUS_ADDRESS"] {
      if name == "DBUS_SYSTEM_BUS_ADDRESS", address != nil { continue }
      if let value = variable(name) { environment.append("\(name)=\(value)") }
    }
    if let address { environment.append("DBUS_SYSTEM_BUS_ADDRESS=\(address)") }
    let terminal = ControllingTerminal.settings
    let pid: pid_t
    do {
      pid = try ChildProcess.spawn(
        program,
        ["agent", "--terminal", "--process", "\(getpid())", "--parent-fd", "0", "--ready-fd", "3"],
        environment: environment,
        descriptors: [.duplicate(life.read), .nothing, .nothing, .duplicate(ready.write)])
    } catch {
      close(ready.write)
      close(life.write)
      return nil
    }
    close(ready.write)
    let agent = AgentProcess(process: cposix_pidfd_open(pid), life: life.write, terminal: terminal)
    guard agent.isReady(ready.read, isCancelled) else {
      agent.end()
      return nil
    }
    return agent
  }

  /// Whether it has not ended yet.
  var isRunning: Bool { !wait(for: process, milliseconds: 0) }

  /// Has it put the terminal back and end, and waits for that.
  func end() {
    close(life)
    guard process >= 0 else { return }
    // What a fork of ours has of the pipe would keep it alive.
    if !wait(for: process, milliseconds: Self.patienceWithEnd) {
      _ = cposix_pidfd_kill(process)
      _ = wait(for: process, milliseconds: -1)
    }
    // Somebody of the program's who waits for all children may have been faster. One that a signal ended, as the kernel
    // does where memory runs out, has left the terminal without an echo.
    if cposix_pidfd_reap(process) == 0 { ControllingTerminal.restoreEcho(terminal) }
    close(process)
  }

  /// Lets go of one that belongs to the process that this one was forked from.
  func forget() {
    close(life)
    if process >= 0 { close(process) }
  }

  private func isReady(_ ready: Int32, _ isCancelled: () -> Bool) -> Bool {
    var left = Self.patience
    while left > 0, !isCancelled() {
      if wait(for: ready, milliseconds: Self.slice) {
        var byte: UInt8 = 0
        // Its end where the agent has ended: another one is there, or no daemon.
        return read(ready, &byte, 1) == 1
      }
      left -= Self.slice
    }
    return false
  }

  /// Whether the descriptor got ready in time.
  private func wait(for descriptor: Int32, milliseconds: Int32) -> Bool {
    guard descriptor >= 0 else { return true }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&entry, 1, milliseconds)
      if count >= 0 { return count > 0 }
      if errno != EINTR { return true }
    }
  }

  // MARK: What is started, and with what

  private static func program(_ chosen: String?, _ isPrivate: Bool) -> String? {
    // With rights that its caller has not, a program starts nothing that its caller could have chosen.
    guard getuid() == geteuid(), getgid() == getegid() else { return nil }
    if isPrivate, let chosen { return chosen }
    if isPrivate, variable("DBUS_SYSTEM_BUS_ADDRESS") != nil, let program = variable("WHORL_AGENT_PROGRAM") {
      return program
    }
    return programs.first { path in
      var status = stat()
      // Where others than root can change it, it is nobody to tell the passcode to.
      return stat(path, &status) == 0 && status.st_uid == 0 && status.st_mode & (S_IWGRP | S_IWOTH) == 0
        && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(validatingCString: value)
  }

  /// Neither end is one of the first descriptors, wherever the program has closed those.
  private static func pipe() -> (read: Int32, write: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard cposix_pipe_cloexec(&ends) == 0 else { return nil }
    let moved = ends.map { end in
      let high = cposix_fcntl_int(end, F_DUPFD_CLOEXEC, 10)
      close(end)
      return high
    }
    guard moved.allSatisfy({ $0 >= 0 }) else {
      for end in moved where end >= 0 { close(end) }
      return nil
    }
    return (moved[0], moved[1])
  }
}

/// The terminal that controls this process.
enum ControllingTerminal {
  /// This process's number.
  static var thisProcess: Int32 { getpid() }

  /// Whether there is one, and this process in its foreground.
  static var isForeground: Bool {
    withTerminal { _ in true } ?? false
  }

  /// Its settings; nil where this process has none or is in its background.
  static var settings: termios? {
    withTerminal { terminal in
      var settings = termios()
      return tcgetattr(terminal, &settings) == 0 ? settings : nil
    } ?? nil
  }

  /// Puts it back as it was, where it echoed then and does not now. What was typed without an echo is dropped.
  static func restoreEcho(_ before: termios?) {
    guard var before, before.c_lflag & tcflag_t(ECHO) != 0 else { return }
    withTerminal { terminal in
      var now = termios()
      guard tcgetattr(terminal, &now) == 0, now.c_lflag & tcflag_t(ECHO) == 0 else { return }
      tcsetattr(terminal, TCSAFLUSH, &before)
    }
  }

  /// Nil where this process has none or is in its background.
  @discardableResult
  private static func withTerminal<R>(_ body: (Int32) -> R) -> R? {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp() ? body(terminal) : nil
  }
}
