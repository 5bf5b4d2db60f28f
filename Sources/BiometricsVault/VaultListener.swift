/// Somebody who is told a vault's states. Told of the end by being let go.
@MainActor
final class VaultListener<Credentials> {
  /// Told a state; false where nobody listens any more.
  let hear: (VaultState<Credentials>) -> Bool
  private let end: @Sendable () -> Void

  init(hear: @escaping (VaultState<Credentials>) -> Bool, end: @escaping @Sendable () -> Void) {
    self.hear = hear
    self.end = end
  }

  deinit { end() }
}
