extension BiometricsVault where Credentials: Sendable {
  /// The states, from the one that it is in on, each change once and in order; ends with the vault. Not in the original.
  public var states: AsyncStream<VaultState<Credentials>> {
    let (states, continuation) = AsyncStream.makeStream(of: VaultState<Credentials>.self)
    continuation.yield(state)
    listen(
      to: { state in
        if case .terminated = continuation.yield(state) { return false }
        return true
      }, end: { continuation.finish() })
    return states
  }
}
