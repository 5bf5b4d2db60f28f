package import SecretMemory

/// The way to an enclave for programs that wait in their own thread: what Apple's synchronous functions need.
///
/// Every method may be called from every thread and blocks it until the answer is there, a touch of the reader included;
/// none needs Swift's thread pool, the main thread or a main context. Errors are those of ``WhorlTransport``, but
/// `.cancelled` comes from a token's ``CallToken/cancel()`` alone.
package protocol BlockingTransport: Sendable {
  /// GetStatus.
  func status() throws(WhorlError) -> WhorlStatus
  /// CreateContext. `reuseSeconds`: 0 to 300.
  func createContext(reuseSeconds: UInt32) throws(WhorlError) -> WhorlContext
  /// InvalidateContext: what runs in it ends with `.appCancel`. Never waits, and never fails: a context that cannot be
  /// ended has ended.
  func invalidate(_ context: WhorlContext)
  /// Cancel: ends everything that runs in a context. Never waits.
  func cancel(_ context: WhorlContext, how: WhorlCancelKind)
  /// EvaluatePolicy.
  func evaluate(
    _ policy: WhorlPolicy, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> [WhorlConstraint]
  /// ProvideApplicationPassword.
  func provideApplicationPassword(_ password: borrowing SecretBytes, to context: WhorlContext) throws(WhorlError)

  /// Add.
  func add(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?,
    secret: borrowing SecretBytes
  ) throws(WhorlError)
  /// CopyMatching, in the order of adding. `limit` 0 is no limit; `reference` is that of the last item before.
  func items(
    matching query: WhorlAttributes, limit: UInt32, includingInvalidated: Bool, after reference: [UInt8]?
  ) throws(WhorlError) -> [WhorlItem]
  /// CopySecret: of the first item that matches.
  func secret(
    matching query: WhorlAttributes, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> SecretBytes
  /// Update. `accessControl` nil leaves it.
  func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError)
  /// Update with a new secret.
  func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    secret: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError)
  /// Delete; gives how many. `all` allows a query without service and account.
  func delete(matching query: WhorlAttributes, all: Bool) throws(WhorlError) -> Int

  /// GenerateKey; gives the public key.
  func generateKey(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?
  ) throws(WhorlError) -> [UInt8]
  /// Sign: with the first private key that matches.
  func sign(
    _ data: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlSignatureAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> [UInt8]
  /// Agree.
  func agree(
    with peer: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlKeyAgreementAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> SecretBytes
}
