public import GLibLoop
internal import Glibc
internal import SecretMemory

/// The terminal that controls this process, for an agent that shares it with the programs that it asks for.
///
/// It is touched only while this process is in its foreground. While a line is waited for, the echo is off and Ctrl-C is a
/// key like others, since it answers the question and must not end the program that waits; Ctrl-Z and Ctrl-\ stay what
/// they are. ``restore()`` puts everything back, from wherever the agent is about to stop or end, and ``reapply()`` goes on
/// after a stop.
@GLibActor
public final class PromptTerminal {
  private let descriptor: Int32
  private let hasForeground: @GLibActor () -> Bool
  /// What the terminal was like before the question; nil while it is as it was.
  private var original: termios?
  /// What it was made for the question.
  private var altered: termios?
  /// What is shown again when the question is, after a stop.
  private var openText = ""
  /// Told when the process goes on after a stop.
  private var resumed: AsyncStream<Void>.Continuation?

  /// What a terminal drops of a longer line comes after so many bytes.
  private static let lineLimit = 4095
  /// A key of this value is none.
  private static let noKey: cc_t = 0

  /// - Parameter path: of the terminal.
  /// - Returns: nil where the process has none.
  public init?(path: String = "/dev/tty") {
    // Non-blocking is safe to set: the open file description is ours alone.
    let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    self.descriptor = descriptor
    hasForeground = { tcgetpgrp(descriptor) == getpgrp() }
    if descriptor < 0 { return nil }
  }

  /// Takes over the descriptor of a terminal, for tests, which have none of their own.
  /// - Parameter isForeground: whether this process is in its foreground.
  init(descriptor: Int32, isForeground: @escaping @GLibActor () -> Bool) {
    self.descriptor = descriptor
    hasForeground = isForeground
  }

  isolated deinit {
    restore()
    close(descriptor)
  }

  /// Whether this process is in the terminal's foreground.
  public var isForeground: Bool { hasForeground() }

  /// Puts the terminal back as it was. Does nothing where it is, or where somebody else has set it since: a shell that has
  /// taken the terminal back has it as it wants.
  public func restore() {
    guard var settings = original, let altered else { return }
    var now = termios()
    guard tcgetattr(descriptor, &now) == 0, Self.isSame(now, altered) else { return }
    // Flushing: what was typed without an echo must not appear at the shell's prompt.
    while tcsetattr(descriptor, TCSAFLUSH, &settings) < 0, errno == EINTR {}
  }

  /// The process goes on after a stop: the open question is asked again, unless that is in the background.
  public func reapply() async {
    guard original != nil, isForeground else { return }
    try? alter()
    try? await write(openText)
    resumed?.yield()
  }

  // MARK: - For the face

  /// Shows lines, where this process is in the foreground.
  func show(_ text: String) async {
    guard isForeground else { return }
    try? await write(text)
  }

  /// Shows `text` and waits for one line without an echo.
  /// - Parameter takesLine: false: lines are passed over, and only an error ends the wait.
  /// - Throws: `.cancelled` for Ctrl-C and Ctrl-D, `.hidden` where the task was cancelled, `.unusable` where the terminal
  ///   is gone or others are in its foreground.
  func ask(_ text: String, takesLine: Bool = true) async throws(PromptFailure) -> SecretBytes {
    guard isForeground else { throw .unusable("other programs have the terminal") }
    var settings = termios()
    guard tcgetattr(descriptor, &settings) == 0 else { throw Self.system(errno) }
    original = settings
    openText = text
    let (resumptions, resumed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.resumed = resumed
    defer {
      restore()
      (original, altered, self.resumed) = (nil, nil, nil)
    }
    try alter()
    // The question comes after the echo is off: whoever sees it can type.
    try await write(text)
    return try await line(resumptions, isTaken: takesLine)
  }

  private func alter() throws(PromptFailure) {
    guard var settings = original else { return }
    settings.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
    settings.c_lflag |= tcflag_t(ICANON | ISIG)
    withUnsafeMutableBytes(of: &settings.c_cc) { keys in
      // Ctrl-C ends the line and comes with it.
      keys[Int(VEOL)] = keys[Int(VINTR)]
      keys[Int(VINTR)] = Self.noKey
    }
    // Flushing: what was typed before the question was typed with an echo and for something else.
    while tcsetattr(descriptor, TCSAFLUSH, &settings) < 0 {
      guard errno == EINTR else { throw Self.system(errno) }
    }
    var now = termios()
    guard tcgetattr(descriptor, &now) == 0 else { throw Self.system(errno) }
    altered = now
  }

  /// One line without its end.
  private func line(
    _ resumptions: AsyncStream<Void>, isTaken: Bool
  ) async throws(PromptFailure) -> SecretBytes {
    var resumptions = resumptions.makeAsyncIterator()
    var buffer: SecretBytes
    do { buffer = try SecretBytes(count: Self.lineLimit + 1) } catch { throw .unusable("\(error)") }
    var filled = 0
    while true {
      do { _ = try await glibReady(for: .readable, of: descriptor) } catch { throw .hidden }
      // In the background what is typed is for others.
      guard isForeground else {
        guard await resumptions.next() != nil else { throw .hidden }
        continue
      }
      let got = buffer.withUnsafeMutableBytes { bytes in
        read(descriptor, bytes.baseAddress.map { $0 + filled }, bytes.count - filled)
      }
      if got < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        throw Self.system(errno)
      }
      // Ctrl-D on an empty line, or a terminal that is gone.
      if got == 0, filled == 0 { throw .cancelled }
      filled += got
      let last = buffer.withUnsafeBytes { filled > 0 ? $0[filled - 1] : 0 }
      if last == interrupt, interrupt != Self.noKey { throw .cancelled }
      guard isTaken || (got > 0 && last != UInt8(ascii: "\n")) else {
        filled = 0
        continue
      }
      let length = last == UInt8(ascii: "\n") ? filled - 1 : filled
      guard length < Self.lineLimit else { throw .unusable("the line is too long") }
      guard got > 0, last != UInt8(ascii: "\n") else {
        do { return try buffer.prefix(length) } catch { throw .unusable("\(error)") }
      }
    }
  }

  /// The key that interrupts, as the terminal had it.
  private var interrupt: cc_t {
    guard var settings = original else { return Self.noKey }
    return withUnsafeBytes(of: &settings.c_cc) { $0[Int(VINTR)] }
  }

  private func write(_ text: String) async throws(PromptFailure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      do { _ = try await glibReady(for: .writable, of: descriptor) } catch { throw .hidden }
      let written = rest.prefix(1024).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno != EINTR, errno != EAGAIN { throw Self.system(errno) }
      rest = rest.dropFirst(max(written, 0))
    }
  }

  private static func isSame(_ one: termios, _ other: termios) -> Bool {
    var (one, other) = (one, other)
    let keys = withUnsafeBytes(of: &one.c_cc) { one in withUnsafeBytes(of: &other.c_cc) { one.elementsEqual($0) } }
    return keys && one.c_iflag == other.c_iflag && one.c_oflag == other.c_oflag && one.c_cflag == other.c_cflag
      && one.c_lflag == other.c_lflag
  }

  private static func system(_ code: Int32) -> PromptFailure {
    .unusable("the terminal fails: \(String(cString: strerror(code)))")
  }
}
