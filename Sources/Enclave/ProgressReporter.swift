internal import Synchronization

/// Lets a request's progress through until the request ends: a sensor that talks on after that is not heard, so that no
/// client sees a prompt for a request whose answer it already has.
final class ProgressReporter: Sendable {
  private let handler: Mutex<ProgressHandler?>

  init(_ handler: @escaping ProgressHandler) { self.handler = Mutex(handler) }

  func report(_ progress: VerificationProgress) {
    // Called under the lock: after close() has returned, no call is still on its way.
    handler.withLock { $0?(progress) }
  }

  func close() { handler.withLock { $0 = nil } }
}
