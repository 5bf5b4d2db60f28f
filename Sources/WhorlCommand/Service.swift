import GLibLoop
import SecretMemory
import WhorlClient

/// Everything that the commands ask of the daemon. The live one speaks D-Bus; tests script one of their own.
///
/// Cancelling the task that waits ends the request at the daemon too, and throws `.cancelled`.
@GLibActor
protocol Service: AnyObject {
  func status() async throws(WhorlError) -> WhorlStatus
  /// What became of requests for the caller's secrets, the newest first.
  func log() async throws(WhorlError) -> [WhorlLogEntry]

  /// What is known of another account; for root.
  func accountStatus(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlAccountStatus
  /// Whether polkit is on this machine.
  func hasPolkit() async -> Bool
  /// Has `told` called when polkit is about to ask a person; before anything else is asked of the daemon.
  func onAuthorizing(_ told: @escaping @GLibActor () -> Void)

  /// Removes all that is kept for an account.
  func forget(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlForgotten
  /// Hands what was kept under an old name over to the new one.
  func renameUser(from old: String, to new: String) async throws(WhorlError) -> WhorlRenamed

  // The keychain: items of service "whorl".
  /// The items of that name (all for nil) in the order they were added, also those that are gone.
  func items(named name: String?) async throws(WhorlError) -> [ItemListing]
  /// All items in parts: those after the one that `reference` names, and the reference for the next part; nil: no more.
  func items(after reference: [UInt8]?) async throws(WhorlError) -> (items: [ItemListing], next: [UInt8]?)
  func add(
    name: String, requirement: Requirement, accessible: Accessibility, secret: borrowing SecretBytes
  ) async throws(WhorlError)
  func update(
    name: String, secret: borrowing SecretBytes, in context: WhorlContext, reason: String,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError)
  func secret(
    of name: String, in context: WhorlContext, reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes
  func remove(name: String) async throws(WhorlError)

  // The whole keychain, the items of other programs too.
  /// The items that match, also those that are gone, in parts: as ``items(after:)``.
  func kept(_ query: WhorlAttributes, after reference: [UInt8]?) async throws(WhorlError) -> (
    items: [KeptItem], next: [UInt8]?
  )
  /// Removes that one item.
  func remove(_ item: KeptItem) async throws(WhorlError)
  /// Removes all of one access group, which has a name; gives how many. `.itemNotFound` for none.
  func removeAll(ofApp app: String) async throws(WhorlError) -> Int

  /// The whole keychain as an export file, the items of other programs too.
  func exportItems(
    under passphrase: borrowing SecretBytes, in context: WhorlContext, reason: String,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlExport
  func importItems(
    from file: WhorlFile, under passphrase: borrowing SecretBytes, _ plan: WhorlImportPlan, in context: WhorlContext,
    reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlImported

  // Keys of the command's.
  /// The keys of that name (all for nil) in the order they were made, also those that are gone.
  func keys(named name: String?) async throws(WhorlError) -> [KeyListing]
  /// Makes a key pair; gives the public key.
  func generateKey(name: String, kind: KeyKind, requirement: Requirement, accessible: Accessibility)
    async throws(WhorlError) -> [UInt8]
  func sign(
    _ data: [UInt8], with name: String, by algorithm: WhorlSignatureAlgorithm, in context: WhorlContext,
    reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [UInt8]
  func removeKey(name: String) async throws(WhorlError)

  // The secret of the login keyring.
  /// What is known of it; nil where there is none.
  func keyringItem() async throws(WhorlError) -> KeyringItem?
  /// Keeps a new one, as pending.
  func addKeyringSecret(_ secret: borrowing SecretBytes) async throws(WhorlError)
  func keyringSecret(
    in context: WhorlContext, reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes
  /// Marks it as armed: logins hand it on from then on. In a context that was given the passcode.
  func armKeyringSecret(in context: WhorlContext) async throws(WhorlError)
  func removeKeyringSecret() async throws(WhorlError)

  // Authentication contexts.
  /// - Parameters:
  ///   - promptsItself: whether the command asks the person on its terminal; else the user's agent does.
  ///   - seconds: for how long a passcode counts in it, 1 to 300, for what takes its time in between; 0: for one request.
  func openContext(promptsItself: Bool, lasting seconds: UInt32) async throws(WhorlError) -> WhorlContext
  func closeContext(_ context: WhorlContext) async
  func providePasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError)
  /// Registers fingers of the caller's that are enrolled, in a context that was just given the passcode.
  /// - Parameters:
  ///   - fingers: nil for all.
  ///   - reader: nil for all that are there.
  func adopt(
    _ fingers: [String]?, on reader: ReaderListing?, in context: WhorlContext
  ) async throws(WhorlError) -> WhorlAdoption
  /// The readers that are there, and those that are trusted.
  func knownReaders() async throws(WhorlError) -> [WhorlReader]
  /// Trusts a reader by its id, in a context that was just given the passcode.
  func trust(_ reader: String, in context: WhorlContext) async throws(WhorlError)
  /// Trusts a reader no more; nil for all of them.
  func distrust(_ reader: String?) async throws(WhorlError)
  /// Gives the login password from before the last change.
  func provideFormerPasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError)
  func provideRecoveryKey(_ key: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError)
  func makeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> SecretBytes
  /// False where there was none.
  func revokeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> Bool
  func lockKeys() async throws(WhorlError)
  func checkKeychain() async throws(WhorlError) -> WhorlKeychainReport
  /// Gives how many secrets were encrypted anew.
  func rekey(passcode: borrowing SecretBytes, in context: WhorlContext) async throws(WhorlError) -> Int
  /// Bring the caller's secrets back whose device key is lost.
  func recover(recoveryKey: borrowing SecretBytes) async throws(WhorlError)
  func recover(passcode: borrowing SecretBytes) async throws(WhorlError)
  /// Ends the wait for a finger in a context, in favour of the passcode.
  func preferPasscode(in context: WhorlContext) async

  // Fingers, through net.reactivated.Fprint.
  /// The readers, the default one first.
  func readers() async throws(WhorlError) -> [ReaderListing]
  /// The names of the user's enrolled fingers; none enrolled is an empty list. An empty user is the caller.
  func enrolledFingers(of user: String, on reader: ReaderListing) async throws(WhorlError) -> [String]
  /// The reader as it is while it is claimed: only then it says how many touches it takes.
  func claim(_ reader: ReaderListing, for user: String) async throws(WhorlError) -> ReaderListing
  func release(_ reader: ReaderListing) async
  /// Enrols; each status is reported. Returns when the daemon says done; ends the operation in every case.
  func enroll(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError)
  /// Why the last enrolment was refused, in one line with the remedy; empty where the daemon has nothing to say.
  func explainEnrollment(on reader: ReaderListing) async -> String
  /// Verifies; as ``enroll(_:on:report:)``. The finger `any` is any enrolled one.
  func verify(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError)
  /// Deletes one finger of the user who claimed the reader, or all for nil.
  func delete(_ finger: String?, on reader: ReaderListing) async throws(WhorlError)
}

extension Service {
  /// A context in which a passcode counts for one request.
  func openContext(promptsItself: Bool) async throws(WhorlError) -> WhorlContext {
    try await openContext(promptsItself: promptsItself, lasting: 0)
  }
}

/// A reader as the daemon names it. Its texts are a device's and not yet escaped.
struct ReaderListing: Sendable, Equatable {
  let path: String
  let name: String
  /// `press` or `swipe`.
  let scanType: String
  /// How many touches an enrolment takes; nil where the reader does not say, as before it is claimed.
  let stages: Int?
}

/// How the items of the command's are told from those of other programs.
enum CommandItems {
  /// Their service attribute; the account attribute is the name.
  static let service = "whorl"
  /// The application tag of a key is this and the name.
  static let keyTagPrefix = Array("whorl:".utf8)
}

/// A key's name, kind and public half, and what its use asks for.
struct KeyListing: Sendable, Equatable {
  let name: String
  /// As the bus names it.
  let type: String
  /// Without `private-key-usage`, which asks for nothing.
  let constraints: [String]
  /// The fingers changed or the password was removed, and the private half was destroyed.
  let isGone: Bool
  /// The protection class's bus name.
  var protection = Accessibility.always.rawValue
  let publicKey: [UInt8]
}

/// A secret's name and what it asks for.
struct ItemListing: Sendable, Equatable {
  let name: String
  let constraints: [String]
  /// The fingers changed, or the account's password was removed, and the secret was destroyed.
  let isGone: Bool
  /// The protection class; what this version has no word for is as the daemon names it.
  var protection = Accessibility.always.rawValue
  /// Whether it is gone because the password was removed.
  var isPasscodeRemoved = false
}
