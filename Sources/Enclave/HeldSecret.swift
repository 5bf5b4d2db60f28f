internal import Keychain
internal import SecretMemory

/// A secret that several may hold, such as a task and who waits for it: a closure cannot take a noncopyable value with it.
/// Wiped when the last of them lets go.
final class HeldSecret: Sendable {
  private let secret: SecretBytes

  init(_ secret: consuming SecretBytes) { self.secret = secret }

  /// A copy for somebody who uses it up.
  func clone() throws(EnclaveError) -> SecretBytes {
    do { return try secret.clone() } catch { throw .keychain(.memory(error)) }
  }

  /// Lends it.
  func with<R: ~Copyable, E: Error>(_ body: (borrowing SecretBytes) throws(E) -> R) throws(E) -> R { try body(secret) }
}
