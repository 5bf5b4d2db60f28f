import CPosix
import Glibc

/// The one pam_wrapper run at a time that this machine can have: two at once spoil each other's copies of libpam.
///
/// Every test process takes the same lock file, so tests of different targets wait for each other too.
public enum PamWrapperLock {
  /// Why the lock could not be had.
  public struct Failure: Error {
    /// errno.
    public let code: Int32
  }

  /// Runs `body`, which may start programs under pam_wrapper, while nobody else does. Blocks the thread meanwhile.
  /// - Throws: `Failure` where the lock file cannot be opened or locked, and what `body` throws.
  public static func hold<R>(_ body: () throws -> R) throws -> R {
    let file = cposix_openat(AT_FDCWD, "/tmp/whorl-pam-wrapper.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw Failure(code: errno) }
    // Closing the file gives the lock back.
    defer { close(file) }
    while flock(file, LOCK_EX) != 0 { guard errno == EINTR else { throw Failure(code: errno) } }
    return try body()
  }
}
