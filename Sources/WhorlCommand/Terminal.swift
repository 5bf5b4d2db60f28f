import GLibLoop
internal import Glibc
import SecretMemory

/// The terminal that controls this process, whatever standard input and output are.
///
/// While a question without an echo is open the terminal is changed; ``restore()`` puts it back at once, from
/// wherever the program is about to stop or end, and ``reapply()`` goes on after a stop.
@GLibActor
final class Terminal {
  private let descriptor: Int32
  /// What the terminal was like before the echo went off; nil while it is as it was.
  private var original: termios?
  /// The question that is open, to be shown again after a stop.
  private var openPrompt = ""

  /// The most bytes of a typed line: a terminal's line holds 4095 and drops what comes after them.
  private static let lineLimit = 4095

  /// Nil where the process has no terminal.
  init?() {
    // Non-blocking is safe to set: the open file description is ours alone.
    descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { return nil }
  }

  isolated deinit {
    restore()
    close(descriptor)
  }

  /// Whether this process is in the terminal's foreground.
  var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  /// Puts the terminal back as it was. Does nothing where it is.
  func restore() {
    guard var settings = original else { return }
    // Flushing: what was typed without an echo must not appear at the shell's prompt.
    while tcsetattr(descriptor, TCSAFLUSH, &settings) < 0, errno == EINTR {}
  }

  /// After a stop: the echo off again and the open question shown again, where there is one.
  func reapply() async {
    guard original != nil else { return }
    try? turnEchoOff()
    _ = try? await DescriptorIO.write(openPrompt, to: descriptor)
  }

  /// Asks without an echo for one line.
  func ask(_ prompt: String) async throws(CommandFailure) -> SecretBytes {
    try await silently(prompt) { () async throws(CommandFailure) -> SecretBytes in try await line() }
  }

  /// Asks for one line with the terminal's own echo; whether it begins with a y.
  func confirm(_ question: String) async throws(CommandFailure) -> Bool {
    unhush()
    tcflush(descriptor, TCIFLUSH)
    try await show("\(question) [y/N] ")
    let answer = try await line()
    return answer.withUnsafeBytes { $0.first == UInt8(ascii: "y") || $0.first == UInt8(ascii: "Y") }
  }

  /// Switches the echo off until ``unhush()`` or the next answer, and drops what was typed before. A terminal that does not
  /// let it be is found out about where something is asked.
  func hush() { try? begin("") }

  /// Puts the terminal back as it was, for good.
  func unhush() {
    restore()
    original = nil
  }

  /// Waits for Enter without an echo; what was typed before it on its line is dropped. Then the echo stays off, so that
  /// nothing shows before the next question, for which what comes after Enter is kept. False where the wait was cancelled or
  /// the terminal went away.
  func waitForEnter() async -> Bool {
    do throws(CommandFailure) {
      try begin("")
      let answer = try await line()
      _ = consume answer
      return true
    } catch {
      unhush()
      return false
    }
  }

  // MARK: - Parts

  private func show(_ text: String) async throws(CommandFailure) {
    if let code = try await DescriptorIO.write(text, to: descriptor) {
      throw CommandFailure(
        .noTerminal, "the terminal takes no text: \(SystemText.error(code)); run whorl on another one")
    }
  }

  private func silently(
    _ prompt: String, _ body: () async throws(CommandFailure) -> SecretBytes
  ) async throws(CommandFailure) -> SecretBytes {
    defer { unhush() }
    try begin(prompt)
    // The question comes after the echo is off: whoever sees it can type.
    if !prompt.isEmpty { try await show(prompt) }
    do throws(CommandFailure) {
      let answer = try await body()
      if !prompt.isEmpty { try await show("\n") }
      return answer
    } catch {
      // The line after the question is not the question's.
      if !prompt.isEmpty { _ = write(descriptor, "\n", 1) }
      throw error
    }
  }

  /// Switches the echo off for a question, where it is not off already.
  private func begin(_ prompt: String) throws(CommandFailure) {
    openPrompt = prompt
    guard original == nil else { return }
    var settings = termios()
    guard tcgetattr(descriptor, &settings) == 0 else { throw unusable(errno) }
    original = settings
    do throws(CommandFailure) { try turnEchoOff() } catch {
      original = nil
      throw error
    }
  }

  private func turnEchoOff() throws(CommandFailure) {
    guard var settings = original else { return }
    settings.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
    settings.c_lflag |= tcflag_t(ICANON | ISIG)
    // Flushing: what was typed before the question was typed with an echo and for something else.
    while tcsetattr(descriptor, TCSAFLUSH, &settings) < 0 {
      guard errno == EINTR else { throw unusable(errno) }
    }
  }

  private func unusable(_ code: Int32) -> CommandFailure {
    CommandFailure(
      .noTerminal, "the terminal's echo cannot be turned off: \(SystemText.error(code)); run whorl on another one")
  }

  /// One line without its end.
  private func line() async throws(CommandFailure) -> SecretBytes {
    var buffer = try DescriptorIO.zeros(Self.lineLimit + 1)
    var filled = 0
    while true {
      _ = try await Readiness.wait(for: .readable, of: descriptor)
      let got = DescriptorIO.read(descriptor, into: &buffer, at: filled)
      if got < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        throw .cancelled
      }
      // Ctrl-D on an empty line, or a terminal that is gone.
      if got == 0, filled == 0 { throw .cancelled }
      filled += got
      let ended = buffer.withUnsafeBytes { filled > 0 && $0[filled - 1] == UInt8(ascii: "\n") }
      let length = ended ? filled - 1 : filled
      // A full line may have lost its rest: a terminal drops silently what does not fit.
      guard length < Self.lineLimit else {
        throw CommandFailure(
          .failed, "the line has \(Self.lineLimit) bytes or more; give a long secret on standard input")
      }
      if ended || got == 0 { return try DescriptorIO.prefix(buffer, length) }
    }
  }
}
