internal import Bus
internal import SecretMemory

/// A secret that came with a call, for as many attempts as it takes: a closure cannot take a noncopyable value with it.
/// Wiped when the last holder lets go.
final class RepeatedSecret: Sendable {
  private let secret: SecretBytes

  init(_ secret: consuming SecretBytes) { self.secret = secret }

  func copy() throws(BusMethodError) -> SecretBytes {
    do { return try secret.clone() } catch { throw .whorl("Failed", "The secret cannot be kept in memory: \(error)") }
  }
}
