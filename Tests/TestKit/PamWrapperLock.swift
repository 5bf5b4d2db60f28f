import CPosix
import Foundation

/// The one pam_wrapper run at a time that this machine can have: two at once spoil each other's copies of libpam.
///
/// Every test process takes the same lock file, so tests of different targets wait for each other too.
public enum PamWrapperLock {
  /// Runs `body`, which may start programs under pam_wrapper, while nobody else does; stays on the caller's actor.
  /// - Throws: `TestKitError` where the lock file cannot be opened or locked, and what `body` throws.
  public static func hold<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> sending R
  ) async throws -> sending R {
    let file = try await offPool(lock)
    // Closing the file gives the lock back.
    defer { close(file) }
    return try await body()
  }

  /// Waits for the lock, for as long as it takes.
  private static func lock() throws -> Int32 {
    let path = "/tmp/whorl-pam-wrapper.lock"
    let file = cposix_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw TestKitError.posix("open \(path)") }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let code = errno
        close(file)
        throw TestKitError.posix("lock \(path)", code)
      }
    }
    return file
  }
}
