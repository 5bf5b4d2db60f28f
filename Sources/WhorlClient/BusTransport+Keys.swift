internal import Bus
internal import GLibLoop
public import SecretMemory

extension BusTransport {
  /// GenerateKey.
  public func generateKey(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?
  ) async throws(WhorlError) -> [UInt8] {
    try await call(.generateKey(attributes, accessControl, context), daemon: context?.daemon).bytes
  }

  /// Sign.
  public func sign(
    _ data: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlSignatureAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [UInt8] {
    try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      try await self.call(
        .sign(query, algorithm, data, context, prompt.reason, options), daemon: context.daemon,
        timeoutMilliseconds: nil)
    }.bytes
  }

  /// Agree.
  public func agree(
    with peer: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlKeyAgreementAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes {
    try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      try await self.call(
        .agree(query, algorithm, peer, context, prompt.reason, options), daemon: context.daemon,
        timeoutMilliseconds: nil)
    }.secret()
  }
}
