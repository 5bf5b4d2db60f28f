public import GLibLoop
public import SecretMemory

/// The client side of an enclave: the caller's own keychain and the authentication that guards it.
///
/// Contexts belong to the client: they end when it is let go. Errors: see ``WhorlError/Code``.
@GLibActor
public final class WhorlClient {
  let transport: any WhorlTransport

  /// A client over this transport.
  public init(transport: any WhorlTransport) { self.transport = transport }

  /// A client of the daemon on the system bus, wherever DBUS_SYSTEM_BUS_ADDRESS says that is. Connects at the first
  /// request, and again after the daemon or the bus has gone.
  public convenience init() { self.init(transport: BusTransport()) }

  /// What there is to know without asking for a finger.
  public func status() async throws(WhorlError) -> WhorlStatus { try await transport.status() }

  /// What became of the requests for the caller's own secrets, the newest first.
  /// - Parameter limit: the most entries; 0 leaves that to the daemon.
  public func log(limit: UInt32 = 0) async throws(WhorlError) -> [WhorlLogEntry] {
    try await transport.log(limit: limit)
  }

  // MARK: Accounts

  /// What a command for another account has to say beforehand. For root: `.denied` for others. `.noSuchUser` where
  /// there is neither an account nor anything kept.
  public func accountStatus(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlAccountStatus {
    try await transport.accountStatus(target)
  }

  /// Removes all that is kept for an account: its secrets, its fingers on the disk and on the chips of the readers that
  /// are there, its lockout. For root, and for administrators with polkit's leave. `.noSuchUser` where there is nothing.
  public func forget(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlForgotten {
    try await transport.forget(target)
  }

  /// Hands what was kept under an account's old name over to its new one, after it was renamed. For root.
  public func renameUser(from old: String, to new: String) async throws(WhorlError) -> WhorlRenamed {
    try await transport.renameUser(from: old, to: new)
  }

  // MARK: Contexts

  /// A new authentication context.
  ///
  /// - Parameters:
  ///   - reuseSeconds: how long one authentication covers further requests in the context: 0 to 300.
  ///   - interactionNotAllowed: what would prompt fails with `.notInteractive` at once.
  ///   - promptsItself: for a program that is the person's own terminal: it shows what is asked, and where the passcode
  ///     is wanted gets `.passcodeNeeded` and gives it by ``providePasscode(_:to:)``. For all others the daemon has the
  ///     user's agent (`whorl agent`) do both; without one that is `.notInteractive`.
  public func createContext(
    reuseSeconds: UInt32 = 0, interactionNotAllowed: Bool = false, promptsItself: Bool = false
  ) async throws(WhorlError) -> WhorlContext {
    try await transport.createContext(
      reuseSeconds: reuseSeconds, interactionNotAllowed: interactionNotAllowed, promptsItself: promptsItself)
  }

  /// Ends a context; what runs in it fails with `.appCancel`.
  public func invalidate(_ context: WhorlContext) async throws(WhorlError) { try await transport.invalidate(context) }

  /// Asks for a finger, or with `.owner` for the passcode where no finger will do, and gives the constraints that the
  /// context now satisfies.
  ///
  /// Cancelling the task ends everything that runs in the context.
  public func evaluate(
    _ policy: WhorlPolicy, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) -> [WhorlConstraint] {
    try await transport.evaluate(policy, in: context, prompt: prompt, progress: progress)
  }

  /// Gives the caller's login password, without a trailing newline, to a context.
  public func providePasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try await transport.providePasscode(passcode, to: context)
  }

  /// Registers fingers of the caller's that are enrolled, so that they may open secrets.
  ///
  /// - Parameters:
  ///   - fingers: those alone, by their names; nil for all.
  ///   - reader: the object path of the only reader that counts; nil for all that are there.
  ///   - context: one that was just given the passcode; `.passcodeNeeded` otherwise.
  public func adopt(
    fingers: [String]? = nil, on reader: String? = nil, in context: WhorlContext
  ) async throws(WhorlError) -> WhorlAdoption {
    try await transport.adopt(fingers: fingers, on: reader, in: context)
  }

  /// The readers that are there, then those that the caller trusts and are not there.
  public func readers() async throws(WhorlError) -> [WhorlReader] { try await transport.readers() }

  /// Trusts a reader, by its ``WhorlReader/id``, with the caller's secrets.
  ///
  /// - Parameter context: one that was just given the passcode; `.passcodeNeeded` otherwise.
  public func trust(reader: String, in context: WhorlContext) async throws(WhorlError) {
    try await transport.trust(reader: reader, in: context)
  }

  /// Trusts a reader no more; nil for all of them. Needs no passcode.
  public func distrust(reader: String?) async throws(WhorlError) { try await transport.distrust(reader: reader) }

  /// Gives the login password from before the last change to a context, once, where the status's keybag is
  /// "former-passcode-needed". `.authenticationFailed` for another one.
  public func provideFormerPasscode(
    _ passcode: borrowing SecretBytes, to context: WhorlContext
  ) async throws(WhorlError) {
    try await transport.provideFormerPasscode(passcode, to: context)
  }

  /// Gives the recovery key, as a person typed it, to a context: unlocks the keychain, and counts there as a finger and as
  /// the passcode.
  public func provideRecoveryKey(_ key: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try await transport.provideRecoveryKey(key, to: context)
  }

  /// Gives the program's own password, 1 to 4096 bytes, to a context, for items with
  /// ``WhorlConstraint/applicationPassword``.
  public func provideApplicationPassword(
    _ password: borrowing SecretBytes, to context: WhorlContext
  ) async throws(WhorlError) {
    try await transport.provideApplicationPassword(password, to: context)
  }

  /// Makes a recovery key in the place of the one there was, and gives its text: the daemon keeps it nowhere. Takes the
  /// passcode of the context (`.passcodeNeeded`).
  public func makeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> SecretBytes {
    try await transport.makeRecoveryKey(in: context)
  }

  /// Takes the recovery key back; false where there was none. Takes the passcode of the context.
  public func revokeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> Bool {
    try await transport.revokeRecoveryKey(in: context)
  }

  /// Brings the caller's keychain back with the recovery key, where its device key is lost (``WhorlStatus/recoverableBy``).
  public func recover(recoveryKey: borrowing SecretBytes) async throws(WhorlError) {
    try await transport.recover(recoveryKey: recoveryKey)
  }

  /// Brings the caller's keychain back with the login password, where its device key was sealed to a TPM.
  public func recover(passcode: borrowing SecretBytes) async throws(WhorlError) {
    try await transport.recover(passcode: passcode)
  }

  /// Locks the caller's keychain: all but items that are always there need the passcode again.
  public func lockKeys() async throws(WhorlError) { try await transport.lockKeys() }

  /// Ends everything that runs in a context, which then fails as `how` says.
  public func cancel(_ context: WhorlContext, how: WhorlCancelKind) async throws(WhorlError) {
    try await transport.cancel(context, how: how)
  }

  /// One verification for another program's login: root for any user, others for themselves. Gives the finger.
  ///
  /// - Parameter demandsTrust: only what would open a secret counts: a registered finger on a trusted reader.
  public func authenticate(
    user: String, service: String, prompt: WhorlPrompt = WhorlPrompt(reason: ""), noWait: Bool = false,
    demandsTrust: Bool = false,
    progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) -> String {
    try await transport.authenticate(
      user: user, service: service, prompt: prompt, noWait: noWait, demandsTrust: demandsTrust, progress: progress)
  }

  // MARK: Items

  /// Adds an item; never prompts. `.duplicateItem` where there is one with the same of what tells its class apart; `.locked`
  /// for a protection class that is not unlocked.
  ///
  /// - Parameters:
  ///   - attributes: the class is "generic-password" where nil.
  ///   - context: that holds the program's own password, for ``WhorlConstraint/applicationPassword``.
  public func add(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl = WhorlAccessControl(),
    context: WhorlContext? = nil, secret: borrowing SecretBytes
  ) async throws(WhorlError) {
    var attributes = attributes
    attributes.itemClass = attributes.itemClass ?? "generic-password"
    try await transport.add(attributes, accessControl: accessControl, context: context, secret: secret)
  }

  /// The items that match, without their secrets, in the order of adding; never prompts. None is an empty list.
  ///
  /// - Parameters:
  ///   - limit: the most to give; 0 for all.
  ///   - includingInvalidated: also those that are gone because the fingers changed.
  ///   - reference: the persistent reference of the last item of the part before, to have many items in parts.
  public func copyMatching(
    _ query: WhorlAttributes, limit: UInt32 = 0, includingInvalidated: Bool = false, after reference: [UInt8]? = nil
  ) async throws(WhorlError) -> [WhorlItem] {
    do throws(WhorlError) {
      return try await transport.items(
        matching: query, limit: limit, includingInvalidated: includingInvalidated, after: reference)
    } catch  where error.code == .itemNotFound {
      return []
    }
  }

  /// The items that match, in parts of at most `count`, so that many of them take little memory.
  ///
  /// - Parameter body: takes a part; not called for none.
  public func forEachPart(
    of query: WhorlAttributes, count: UInt32 = 500, includingInvalidated: Bool = false,
    _ body: ([WhorlItem]) async throws(WhorlError) -> Void
  ) async throws(WhorlError) {
    var last: [UInt8]?
    repeat {
      let part = try await copyMatching(
        query, limit: count, includingInvalidated: includingInvalidated, after: last)
      if !part.isEmpty { try await body(part) }
      last = part.count == Int(count) ? part.last?.attributes.persistentReference : nil
    } while last != nil
  }

  /// The secret of the first item that matches, once its constraints are satisfied in the context.
  ///
  /// Cancelling the task ends everything that runs in the context.
  public func copySecret(
    _ query: WhorlAttributes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) -> SecretBytes {
    try await transport.secret(matching: query, in: context, prompt: prompt, progress: progress)
  }

  /// Changes the attributes of one item, and what guards it, once its constraints are satisfied in the context.
  public func update(
    _ query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl? = nil,
    in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) {
    try await transport.update(
      matching: query, changes: changes, accessControl: accessControl, in: context, prompt: prompt, progress: progress)
  }

  /// Changes the secret of one item, and attributes and what guards it with it, once its constraints are satisfied in the context.
  public func update(
    _ query: WhorlAttributes, changes: WhorlAttributes = WhorlAttributes(), accessControl: WhorlAccessControl? = nil,
    secret: borrowing SecretBytes,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) {
    try await transport.update(
      matching: query, changes: changes, accessControl: accessControl, secret: secret, in: context, prompt: prompt,
      progress: progress)
  }

  /// Looks at everything in the caller's keychain, without a prompt.
  public func checkKeychain() async throws(WhorlError) -> WhorlKeychainReport { try await transport.checkKeychain() }

  /// Gives the keychain new keys and encrypts every secret anew; gives how many. The recovery key ends.
  public func rekey(passcode: borrowing SecretBytes, in context: WhorlContext) async throws(WhorlError) -> Int {
    try await transport.rekey(passcode: passcode, in: context)
  }

  /// Deletes the items that match and gives how many; never prompts. `.itemNotFound` where none matches.
  ///
  /// - Parameter all: allow a query without service and account, which is refused otherwise.
  public func delete(_ query: WhorlAttributes, all: Bool = false) async throws(WhorlError) -> Int {
    try await transport.delete(matching: query, all: all)
  }

  // MARK: Backup

  /// The whole keychain in a file under a passphrase of 1 to 1024 bytes, once the passcode was given to the context and,
  /// where an item asks for a finger, one was touched. No secret leaves the daemon but encrypted.
  public func exportItems(
    under passphrase: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) -> WhorlExport {
    try await transport.exportItems(under: passphrase, in: context, prompt: prompt, progress: progress)
  }

  /// Puts what is in an export file into the keychain: all of it, or where this throws nothing.
  ///
  /// Prompts only where items are replaced that ask for something. `.wrongPassphrase`, `.archiveDamaged`,
  /// `.archiveTooNew` and `.notArchive` are about the file; `.duplicateItem` where an item is there and the plan refuses.
  /// - Parameter file: a memory file (memfd), sealed against growing and shrinking.
  public func importItems(
    from file: WhorlFile, under passphrase: borrowing SecretBytes, plan: WhorlImportPlan, in context: WhorlContext,
    prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void = { _ in }
  ) async throws(WhorlError) -> WhorlImported {
    try await transport.importItems(
      from: file, under: passphrase, plan, in: context, prompt: prompt, progress: progress)
  }
}
