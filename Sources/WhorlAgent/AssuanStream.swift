internal import GLibLoop
internal import Glibc
internal import SecretMemory

/// Our side of a conversation with pinentry. All that it says passes through guarded memory, for any of it may be the
/// passcode.
@GLibActor
final class AssuanStream {
  /// The most bytes of a passcode; PAM takes 511.
  static let passcodeLimit = 2048
  /// The longest line that is read, which is longer than Assuan allows.
  private static let lineLimit = 4096
  /// So many lines that nobody waits for come between two answers.
  private static let mostAsides = 1000

  private let input: Int32
  private let output: Int32
  private var buffer: SecretBytes
  private var filled = 0
  private var data: SecretBytes
  private var dataCount = 0

  /// Takes both descriptors over: pinentry's input and its output.
  init(input: Int32, output: Int32) throws(SecretMemoryError) {
    self.input = input
    self.output = output
    for descriptor in [input, output] { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
    do throws(SecretMemoryError) {
      buffer = try SecretBytes(count: Self.lineLimit)
      data = try SecretBytes(count: Self.passcodeLimit)
    } catch {
      close(input)
      close(output)
      throw error
    }
  }

  isolated deinit {
    close(input)
    close(output)
  }

  /// Sends a line. pinentry reads one before it answers, so that the pipe always has room.
  func send(_ line: String) throws(PromptFailure) {
    let bytes = Array(line.utf8)
    let written = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    guard written == bytes.count else { throw .unusable("it does not read what it is told") }
  }

  /// Waits for the answer to the last line: nil for OK, else the error's code. Data that comes before it is kept.
  func answer() async throws(PromptFailure) -> Int? {
    for _ in 0..<Self.mostAsides {
      switch try await nextLine() {
      case .ok: return nil
      case .error(let code): return code
      case .data, .aside: continue
      case .nonsense: throw .unusable("it does not speak pinentry's protocol")
      }
    }
    throw .unusable("it talks without end")
  }

  /// The data that came so far, unescaped.
  func takeData() throws(PromptFailure) -> SecretBytes {
    do { return try data.prefix(dataCount) } catch { throw .unusable("\(error)") }
  }

  private func nextLine() async throws(PromptFailure) -> Assuan.Answer {
    while true {
      if let end = lineEnd() { return try takeLine(end) }
      guard filled < buffer.count else { throw .unusable("its lines are too long") }
      do { _ = try await glibReady(for: .readable, of: output) } catch { throw .hidden }
      let got = buffer.withUnsafeMutableBytes { memory in
        read(output, memory.baseAddress.map { $0 + filled }, memory.count - filled)
      }
      if got < 0, errno == EINTR || errno == EAGAIN { continue }
      guard got > 0 else { throw .unusable("it ended without an answer") }
      filled += got
    }
  }

  private func lineEnd() -> Int? {
    buffer.withUnsafeBytes { bytes in bytes.prefix(filled).firstIndex(of: UInt8(ascii: "\n")) }
  }

  /// Takes the line up to `end` out of the buffer.
  private func takeLine(_ end: Int) throws(PromptFailure) -> Assuan.Answer {
    let (answer, isWhole) = buffer.withUnsafeBytes { bytes in
      let line = UnsafeRawBufferPointer(rebasing: bytes[..<end])
      let answer = Assuan.answer(line)
      guard case .data(let start) = answer else { return (answer, true) }
      let isWhole = Assuan.decode(UnsafeRawBufferPointer(rebasing: line[start...]), into: &data, at: &dataCount)
      return (answer, isWhole)
    }
    let rest = filled - end - 1
    buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      memmove(base, base + end + 1, rest)
      memset(base + rest, 0, filled - rest)
    }
    filled = rest
    guard isWhole else { throw .unusable("what it gave is no password: too long, or garbled") }
    return answer
  }
}
