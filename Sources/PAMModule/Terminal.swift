import CPAM
import CSystemd

/// The terminal at which the person sits, opened for the module alone. Nothing here ever waits for it.
struct Terminal: ~Copyable {
  /// -1 where the process has none, or it was let go.
  private(set) var descriptor: Int32
  /// Whether it is one of the kernel's text consoles, also once it was let go.
  let isTextConsole: Bool
  /// As it was before `quiet`; nil while it is that way.
  private var usual: termios?

  /// The process's controlling terminal.
  init() {
    descriptor = whorl_open_terminal()
    isTextConsole = whorl_is_text_console(whorl_terminal_device(descriptor))
  }

  deinit {
    if var settings = usual, tcgetpgrp(descriptor) == getpgrp() { tcsetattr(descriptor, TCSANOW, &settings) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Closes it; there is none from then on.
  mutating func letGo() {
    restore(droppingInput: false)
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  /// Whether it is the one of that name, as programs write it into PAM_TTY.
  func isNamed(_ name: CText) -> Bool {
    let device = whorl_terminal_device(descriptor)
    return device != 0 && device == whorl_named_terminal_device(name)
  }

  /// Whether that descriptor leads to it too.
  func isSame(as other: Int32) -> Bool {
    let device = whorl_terminal_device(descriptor)
    return device != 0 && device == whorl_terminal_device(other)
  }

  /// Whether it is this process's turn to use it. In the background its settings are the shell's, or another program's.
  var isOurs: Bool { descriptor >= 0 && tcgetpgrp(descriptor) == getpgrp() }

  var isQuiet: Bool { usual != nil }

  /// Switches echo off.
  ///
  /// - Parameters:
  ///   - readingKeys: whether every key is handed over at once, but for those that stop or quit a program. Ctrl-C becomes a
  ///     key like others then, for it ends the wait for the finger and not the program.
  ///   - droppingInput: whether what was typed before is dropped, as at every password prompt.
  /// - Returns: the keys that correct a line; nil where it cannot be done.
  mutating func quiet(readingKeys: Bool, droppingInput: Bool) -> TypedLine.Keys? {
    guard isOurs else { return nil }
    var settings = termios()
    guard tcgetattr(descriptor, &settings) == 0 else { return nil }
    let before = settings
    settings.c_lflag &= ~tcflag_t(ECHO | ECHONL)
    if readingKeys {
      settings.c_lflag &= ~tcflag_t(ICANON)
      withUnsafeMutableBytes(of: &settings.c_cc) { codes in
        codes[Int(VINTR)] = 0
        codes[Int(VMIN)] = 1
        codes[Int(VTIME)] = 0
      }
    }
    guard tcsetattr(descriptor, droppingInput ? TCSAFLUSH : TCSANOW, &settings) == 0 else { return nil }
    usual = before
    return TypedLine.Keys(before)
  }

  /// Puts the settings back, where it is still this process's turn: a shell that took the terminal has its own.
  ///
  /// - Parameter droppingInput: whether keys that nobody has read yet are dropped.
  mutating func restore(droppingInput: Bool) {
    guard var settings = usual else { return }
    usual = nil
    if isOurs { tcsetattr(descriptor, droppingInput ? TCSAFLUSH : TCSANOW, &settings) }
  }

  /// The next key's byte; nil where there is none now. `isGone` says that there will never be one.
  func read(isGone: inout Bool) -> UInt8? {
    var byte: UInt8 = 0
    defer { explicit_bzero(&byte, 1) }
    switch whorl_read_key(descriptor, &byte) {
    case 1: return byte
    case 0: return nil
    default:
      isGone = true
      return nil
    }
  }

  /// Writes a text; what the terminal does not take at once is lost.
  func write(_ text: CText) { _ = CPAM.write(descriptor, text, strlen(text)) }

  func write(_ text: StaticString) { withCString(text) { write($0) } }
}

/// The signals that arrive during a wait on a terminal, held back until the terminal is in order again. None is taken away
/// from the program and no handler is set: each comes when it is let go, and does what it would have done.
struct HeldSignals: ~Copyable {
  /// Readable while one is held back; -1 while none is.
  private(set) var descriptor: Int32 = -1
  private var watched = sigset_t()
  private var before = sigset_t()

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    var before = before
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  /// Holds signals back from now on; false where the kernel cannot.
  mutating func begin() -> Bool {
    guard descriptor < 0 else { return true }
    sigemptyset(&watched)
    sigemptyset(&before)
    pthread_sigmask(SIG_BLOCK, nil, &before)
    var index: Int32 = 0
    while true {
      let signal = whorl_watched_signal(index)
      guard signal != 0 else { break }
      // What the program has blocked, or ignores, would never come.
      if sigismember(&before, signal) == 0, !whorl_is_ignored(signal) { sigaddset(&watched, signal) }
      index += 1
    }
    descriptor = whorl_signal_descriptor(&watched)
    guard descriptor >= 0 else { return false }
    pthread_sigmask(SIG_BLOCK, &watched, nil)
    return true
  }

  /// Holds none back any more; those that were come now.
  mutating func end() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  /// Lets come what was held back, and holds again. The program may end here, or stop and go on later.
  mutating func letCome() {
    pthread_sigmask(SIG_SETMASK, &before, nil)
    pthread_sigmask(SIG_BLOCK, &watched, nil)
  }

  /// Whether one is held back that stops the program, or says that it was stopped.
  var holdsStop: Bool { holds(SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT) }

  /// Whether one is held back with which somebody ends the program.
  var holdsEnd: Bool { holds(SIGHUP, SIGINT, SIGQUIT, SIGTERM) }

  private func holds(_ a: Int32, _ b: Int32, _ c: Int32, _ d: Int32) -> Bool {
    var pending = sigset_t()
    sigemptyset(&pending)
    sigpending(&pending)
    var watched = watched
    func isHeld(_ signal: Int32) -> Bool {
      sigismember(&pending, signal) == 1 && sigismember(&watched, signal) == 1
    }
    return isHeld(a) || isHeld(b) || isHeld(c) || isHeld(d)
  }
}
