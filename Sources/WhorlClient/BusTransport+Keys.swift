internal import Bus
internal import GLibLoop
public import SecretMemory

extension BusTransport {
  /// GenerateKey.
  public func generateKey(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?
  ) async throws(WhorlError) -> [UInt8] {
    var options = accessControl.values
    if let context { options["context"] = .uint32(context.number) }
    let reply = try await call(
      Self.keychain, "GenerateKey", [.options(attributes.values), .options(options)], expecting: "ay",
      daemon: context?.daemon)
    return reply.arguments[0].asBytes ?? []
  }

  /// Sign.
  public func sign(
    _ data: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlSignatureAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [UInt8] {
    let reply = try await useKey(
      "Sign", query, algorithm.rawValue, data, expecting: "ay", in: context, prompt, progress)
    return reply.arguments[0].asBytes ?? []
  }

  /// Agree.
  public func agree(
    with peer: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlKeyAgreementAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes {
    let reply = try await useKey(
      "Agree", query, algorithm.rawValue, peer, expecting: "h", in: context, prompt, progress)
    return try secret(of: reply)
  }

  private func useKey(
    _ method: String, _ query: WhorlAttributes, _ algorithm: String, _ data: [UInt8], expecting: String,
    in context: WhorlContext, _ prompt: WhorlPrompt, _ progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> BusReply {
    try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      var options = options
      options["reason"] = .string(prompt.reason)
      return try await self.call(
        Self.keychain, method,
        [.uint32(context.number), .options(query.values), .string(algorithm), .bytes(data), .options(options)],
        expecting: expecting, daemon: context.daemon, timeoutMilliseconds: nil)
    }
  }
}
