import GLibLoop
internal import Glibc
import SecretMemory

/// Reading and writing descriptors without blocking the loop, so that a signal ends the wait for a slow other side.
@GLibActor
enum DescriptorIO {
  /// What a pipe that is ready for writing is sure to take at once (PIPE_BUF).
  private static let chunk = 4096

  /// Writes the text as UTF-8; gives the errno where that failed.
  static func write(_ text: String, to descriptor: Int32) async throws(CommandFailure) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      _ = try await Readiness.wait(for: .writable, of: descriptor)
      let written = rest.prefix(chunk).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, isFinal(errno) { return errno }
      rest = rest.dropFirst(max(written, 0))
    }
    return nil
  }

  /// Writes the secret out of its guarded memory; gives the errno where that failed.
  static func write(_ secret: borrowing SecretBytes, to descriptor: Int32) async throws(CommandFailure) -> Int32? {
    var done = 0
    while done < secret.count {
      _ = try await Readiness.wait(for: .writable, of: descriptor)
      let written = secret.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, min(chunk, $0.count - done))
      }
      if written < 0, isFinal(errno) { return errno }
      done += max(written, 0)
    }
    return nil
  }

  /// All that the descriptor gives until its end, straight into guarded memory.
  /// - Throws: `.failed`, naming `what` it is, where reading failed or there is more than `limit`; `.cancelled`.
  static func readToEnd(_ descriptor: Int32, limit: Int, what: String) async throws(CommandFailure) -> SecretBytes {
    var buffer = try zeros(min(4096, limit + 1))
    var filled = 0
    while true {
      if filled == buffer.count {
        guard filled <= limit else {
          throw CommandFailure(.failed, "\(what) has more than \(limit) bytes; store something shorter")
        }
        var larger = try zeros(min(buffer.count * 2, limit + 1))
        buffer.withUnsafeBytes { old in larger.withUnsafeMutableBytes { $0.copyMemory(from: old) } }
        buffer = larger
      }
      _ = try await Readiness.wait(for: .readable, of: descriptor)
      let got = read(descriptor, into: &buffer, at: filled)
      if got == 0 { return try prefix(buffer, filled) }
      if got < 0, isFinal(errno) {
        throw CommandFailure(
          .failed, "\(what) cannot be read: \(SystemText.error(errno)); redirect something readable to it")
      }
      filled += max(got, 0)
    }
  }

  /// Copies what `source` gives until its end to a memory file.
  /// - Throws: `.failed`, naming `what` it is, where reading failed or there is more than `limit`; `.cancelled`.
  static func copy(
    from source: Int32, to memory: Int32, limit: Int, what: String
  ) async throws(CommandFailure) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var done = 0
    while true {
      _ = try await Readiness.wait(for: .readable, of: source)
      let got = Glibc.read(source, &buffer, buffer.count)
      if got == 0 { return }
      if got < 0 {
        guard isFinal(errno) else { continue }
        throw CommandFailure(.failed, "\(what) cannot be read: \(SystemText.error(errno)); name something readable")
      }
      done += got
      guard done <= limit else { throw CommandFailure(.failed, "\(what) has more than \(limit) bytes") }
      // Into memory: it takes all, or there is none left.
      guard Glibc.write(memory, buffer, got) == got else {
        throw CommandFailure(.failed, "\(what) does not fit into memory: \(SystemText.error(errno)); free some")
      }
    }
  }

  /// Writes a whole memory file out; gives the errno where that failed.
  static func write(memory: Int32, to descriptor: Int32) async throws(CommandFailure) -> Int32? {
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    var buffer = [UInt8](repeating: 0, count: isFile ? 64 << 10 : chunk)
    var offset = 0
    while true {
      let got = pread(memory, &buffer, buffer.count, off_t(offset))
      if got == 0 { return nil }
      if got < 0 { return errno }
      _ = try await Readiness.wait(for: .writable, of: descriptor)
      let written = Glibc.write(descriptor, buffer, got)
      if written < 0, isFinal(errno) { return errno }
      offset += max(written, 0)
    }
  }

  /// One read into the buffer from `offset` on; as read(2).
  static func read(_ descriptor: Int32, into buffer: inout SecretBytes, at offset: Int) -> Int {
    buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress.map { $0 + offset }, $0.count - offset) }
  }

  static func zeros(_ count: Int) throws(CommandFailure) -> SecretBytes {
    do throws(SecretMemoryError) { return try SecretBytes(count: count) } catch {
      throw CommandFailure(.failed, error.description)
    }
  }

  static func prefix(_ secret: borrowing SecretBytes, _ length: Int) throws(CommandFailure) -> SecretBytes {
    do throws(SecretMemoryError) { return try secret.prefix(length) } catch {
      throw CommandFailure(.failed, error.description)
    }
  }

  /// Whether the call need not be repeated.
  private static func isFinal(_ code: Int32) -> Bool { code != EINTR && code != EAGAIN }
}
