public import GLibLoop
public import SecretMemory

/// The way to an enclave. ``BusTransport`` is the daemon on the bus; another may hold one in the process.
///
/// Everything may throw `.disconnected` or `.noDaemon` besides what the enclave decides. What may prompt reports its
/// progress before it returns; cancelling the task ends the request in the enclave too and throws `.cancelled`.
@GLibActor
public protocol WhorlTransport: AnyObject {
  /// GetStatus.
  func status() async throws(WhorlError) -> WhorlStatus
  /// GetLog: the newest first. `limit` 0 leaves the number to the daemon.
  func log(limit: UInt32) async throws(WhorlError) -> [WhorlLogEntry]
  /// GetAccountStatus: for root.
  func accountStatus(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlAccountStatus
  /// ForgetUser: for root, and with polkit's leave.
  func forget(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlForgotten
  /// RenameUser: for root.
  func renameUser(from old: String, to new: String) async throws(WhorlError) -> WhorlRenamed
  /// CreateContext. `reuseSeconds`: 0 to 300.
  func createContext(
    reuseSeconds: UInt32, interactionNotAllowed: Bool, promptsItself: Bool
  ) async throws(WhorlError) -> WhorlContext
  /// InvalidateContext.
  func invalidate(_ context: WhorlContext) async throws(WhorlError)
  /// EvaluatePolicy; gives the constraints that the context now satisfies.
  func evaluate(
    _ policy: WhorlPolicy, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [WhorlConstraint]
  /// ProvidePasscode.
  func providePasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError)
  /// AdoptFingers, with the passcode in the context; `fingers` nil is all, `reader` nil every one that is there.
  func adopt(
    fingers: [String]?, on reader: String?, in context: WhorlContext
  ) async throws(WhorlError) -> WhorlAdoption
  /// ListReaders.
  func readers() async throws(WhorlError) -> [WhorlReader]
  /// TrustReader, with the passcode in the context.
  func trust(reader: String, in context: WhorlContext) async throws(WhorlError)
  /// DistrustReader; nil for all of them.
  func distrust(reader: String?) async throws(WhorlError)
  /// ProvideFormerPasscode.
  func provideFormerPasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError)
  /// ProvideRecoveryKey.
  func provideRecoveryKey(_ key: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError)
  /// ProvideApplicationPassword.
  func provideApplicationPassword(_ password: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError)
  /// MakeRecoveryKey.
  func makeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> SecretBytes
  /// RevokeRecoveryKey.
  func revokeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> Bool
  /// RecoverWithKey.
  func recover(recoveryKey: borrowing SecretBytes) async throws(WhorlError)
  /// RecoverWithPasscode.
  func recover(passcode: borrowing SecretBytes) async throws(WhorlError)
  /// LockKeys.
  func lockKeys() async throws(WhorlError)
  /// Cancel: ends everything that runs in a context.
  func cancel(_ context: WhorlContext, how: WhorlCancelKind) async throws(WhorlError)
  /// Authenticate; gives the finger that matched. For root any user, for others themselves.
  func authenticate(
    user: String, service: String, prompt: WhorlPrompt, noWait: Bool, demandsTrust: Bool,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> String

  /// Add. `context` holds the program's own password, where the access control asks for one.
  func add(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?,
    secret: borrowing SecretBytes
  ) async throws(WhorlError)
  /// CopyMatching, in the order of adding. `limit` 0 is no limit; `reference` is that of the last item before.
  func items(
    matching query: WhorlAttributes, limit: UInt32, includingInvalidated: Bool, after reference: [UInt8]?
  ) async throws(WhorlError) -> [WhorlItem]
  /// CopySecret: of the first item that matches.
  func secret(
    matching query: WhorlAttributes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes
  /// Update without a new secret. `accessControl` nil leaves it.
  func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError)
  /// Update with a new secret. `accessControl` nil leaves it.
  func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    secret: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError)
  /// Check.
  func checkKeychain() async throws(WhorlError) -> WhorlKeychainReport
  /// Rekey; gives how many secrets there were.
  func rekey(passcode: borrowing SecretBytes, in context: WhorlContext) async throws(WhorlError) -> Int
  /// GenerateKey; gives the public key.
  func generateKey(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?
  ) async throws(WhorlError) -> [UInt8]
  /// Sign: with the first private key that matches.
  func sign(
    _ data: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlSignatureAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [UInt8]
  /// Agree: the secret that the first private key that matches and the peer's come to.
  func agree(
    with peer: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlKeyAgreementAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes
  /// Delete; gives how many. `all` allows a query without service and account.
  func delete(matching query: WhorlAttributes, all: Bool) async throws(WhorlError) -> Int

  /// Export: into a file under a passphrase of 1 to 1024 bytes.
  func exportItems(
    under passphrase: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlExport
  /// Import, all or nothing. The file is a memory file, sealed against growing and shrinking.
  func importItems(
    from file: WhorlFile, under passphrase: borrowing SecretBytes, _ plan: WhorlImportPlan, in context: WhorlContext,
    prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlImported
}
