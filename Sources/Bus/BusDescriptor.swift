internal import Synchronization

/// A file descriptor that came with a message: closed when this object is let go, unless it was taken.
///
/// Closing never keeps the caller waiting, whatever another program has sent: it may happen a moment later, in another
/// thread. A socket is disconnected by it, for its sender also.
public final class BusDescriptor: Sendable {
  /// -1 once it is taken or closed.
  private let value: Mutex<Int32>

  /// Owns `descriptor` from now on.
  public init(owning descriptor: Int32) { value = Mutex(descriptor) }

  /// Hands the descriptor over: the caller closes it. Nil where it was taken or closed before.
  public func take() -> Int32? {
    let descriptor = value.withLock { value in
      defer { value = -1 }
      return value
    }
    return descriptor < 0 ? nil : descriptor
  }

  /// Lends the descriptor, which is -1 where it was taken or closed before.
  public func withDescriptor<R: ~Copyable, E: Error>(_ body: (Int32) throws(E) -> R) throws(E) -> R {
    try body(value.withLock { $0 })
  }

  /// Closes the descriptor unless it was taken; once.
  public func close() {
    if let descriptor = take() { Closer.shared.close(descriptor, isAbandoned: true) }
  }

  deinit { close() }
}
