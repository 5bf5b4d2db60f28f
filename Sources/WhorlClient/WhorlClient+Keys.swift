internal import GLibLoop
public import SecretMemory

/// Key pairs whose private half never leaves the keychain: it signs there, and agrees on secrets there.
///
/// A private key is an item of class "key". Its public key is its ``WhorlAttributes/generic`` attribute, which
/// ``copyMatching(_:limit:includingInvalidated:)`` gives without a prompt; its secret is given to nobody.
extension WhorlClient {
  /// Makes a key pair and gives its public key; never prompts.
  ///
  /// - Parameters:
  ///   - attributes: the application tag, the label and what else describes it; the class, the key's own attributes and
  ///     `generic` are set by the daemon.
  ///   - accessControl: when it can be used at all, and what has to be presented at each use; `.privateKeyUsage` may be
  ///     among the constraints.
  ///   - context: that holds the program's own password, for ``WhorlConstraint/applicationPassword``.
  public func generateKey(
    _ type: WhorlKeyType, attributes: WhorlAttributes, accessControl: WhorlAccessControl = WhorlAccessControl(),
    context: WhorlContext? = nil
  ) async throws(WhorlError) -> [UInt8] {
    var attributes = attributes
    attributes.keyType = type.rawValue
    return try await transport.generateKey(attributes, accessControl: accessControl, context: context)
  }

  /// A signature over `data` (at most 1 MiB: hash what is longer, and sign the digest) by the first private key that
  /// matches, once its constraints are satisfied in the context. `.itemNotFound` where there is none.
  ///
  /// Cancelling the task ends everything that runs in the context.
  public func sign(
    _ data: [UInt8], with query: WhorlAttributes, by algorithm: WhorlSignatureAlgorithm, in context: WhorlContext,
    prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) -> [UInt8] {
    try await transport.sign(
      data, matching: query, by: algorithm, in: context, prompt: prompt, progress: progress)
  }

  /// The secret that the first private key that matches and `peer`'s private key come to, once the constraints are
  /// satisfied in the context.
  ///
  /// - Parameter peer: the other side's public key.
  public func agree(
    with peer: [UInt8], by query: WhorlAttributes, algorithm: WhorlKeyAgreementAlgorithm = .ecdh,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) -> SecretBytes {
    try await transport.agree(
      with: peer, matching: query, by: algorithm, in: context, prompt: prompt, progress: progress)
  }
}
