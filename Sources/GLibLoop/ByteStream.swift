internal import Glibc

/// A connected stream socket on the loop: bytes in as they come, bytes out without ever blocking, both bounded.
@GLibActor
public final class ByteStream {
  /// Why a stream ended.
  public enum End: Sendable, Hashable {
    /// The other side closed it.
    case closed
    /// The other side does not read: more bytes wait than the limit allows.
    case overflow
    /// The socket failed, with this `errno`.
    case failed(Int32)
  }

  /// Given each piece of at most 64 KiB, in order.
  public var onBytes: (@GLibActor ([UInt8]) -> Void)?
  /// Told once when the stream ended by itself; not after ``close()``.
  public var onEnd: (@GLibActor (End) -> Void)?

  private let descriptor: Int32
  private let queueLimit: Int
  private var reading: FDWatch?
  private var writing: FDWatch?
  private var queue: [UInt8] = []
  private var isClosed = false

  /// Takes the descriptor over and makes it non-blocking; ``close()`` or letting the stream go closes it.
  ///
  /// - Parameter queueLimit: how many bytes may wait for the other side to read.
  public init(descriptor: Int32, queueLimit: Int) {
    self.descriptor = descriptor
    self.queueLimit = queueLimit
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    reading = FDWatch(descriptor: descriptor, for: .readable) { [weak self] _ in self?.receive() }
  }

  /// Sends bytes, now or when the other side reads.
  public func send(_ bytes: [UInt8]) {
    guard !isClosed else { return }
    queue.append(contentsOf: bytes)
    flush()
    if queue.count > queueLimit { end(.overflow) }
  }

  /// Closes the socket; what still waits is dropped and nothing is told any more. Does nothing the second time.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    reading?.cancel()
    writing?.cancel()
    reading = nil
    writing = nil
    Glibc.close(descriptor)
  }

  private func receive() {
    guard !isClosed else { return }
    var code: Int32 = 0
    var received = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
      received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      code = errno
      count = max(0, received)
    }
    if received == 0 { return end(.closed) }
    if received < 0 {
      if code != EAGAIN, code != EINTR { end(.failed(code)) }
      return
    }
    onBytes?(bytes)
  }

  private func flush() {
    while !queue.isEmpty {
      let count = queue.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      let code = errno
      if count >= 0 {
        queue.removeFirst(count)
      } else if code == EAGAIN {
        if writing == nil {
          writing = FDWatch(descriptor: descriptor, for: .writable) { [weak self] _ in self?.flush() }
        }
        return
      } else if code != EINTR {
        return end(.failed(code))
      }
    }
    writing?.cancel()
    writing = nil
  }

  private func end(_ why: End) {
    guard !isClosed else { return }
    close()
    onEnd?(why)
  }

  isolated deinit { close() }
}
