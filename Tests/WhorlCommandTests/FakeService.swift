import GLibLoop
import Glibc
import SecretMemory
import WhorlClient

@testable import WhorlCommand

/// A daemon that follows a script and writes down what it was asked.
@GLibActor
final class FakeService: Service {
  struct Stored: Sendable {
    var name: String
    var constraints: [String]
    var secret: [UInt8]
    var isGone = false
    var protection = "always"
    var isPasscodeRemoved = false
  }

  /// What was asked, a word or two each.
  private(set) var calls: [String] = []
  var stored: [Stored] = []
  var storedKeys: [KeyListing] = []
  /// What the commands about apps find; those about the command's own do not.
  var everything: [WhorlItem] = []
  /// The login keyring's secret and how far it came.
  var keyring: (secret: [UInt8], comment: String)?
  var statusAnswer = {
    var status = WhorlStatus()
    var reader = WhorlStatus.Reader()
    reader.path = "/r/0"
    reader.name = "Fake Reader"
    status.readers = [reader]
    return status
  }()
  var readerList = [ReaderListing(path: "/r/0", name: "Fake Reader", scanType: "press", stages: nil)]
  /// What the reader says of its touches once it is claimed.
  var stages: Int? = 3
  var fingers: [String] = []
  /// Thrown by the call of that name, in turn, before it does anything.
  var problems: [String: [WhorlError]] = [:]
  /// Thrown by every call.
  var absence: WhorlError?
  /// What a touch reports before the answer.
  var touch: [WhorlProgress] = [.waiting(reader: "Fake Reader", scanType: "press", fingers: [])]
  var passcode: String?
  /// The delay in seconds that each wrong passcode leaves, in turn; none left is none.
  var delays: [Int] = []
  /// The statuses of each enrolment and verification, in turn.
  var scans: [[FprintScanStatus]] = []
  /// Keeps a secret waiting for its touch until the passcode is preferred or the task is cancelled.
  var neverTouched = false
  /// Done when the reader is claimed.
  var onClaim: (@GLibActor (FakeService) -> Void)?
  /// Done when a secret asks for a touch.
  var onTouch: (@GLibActor (FakeService) -> Void)?
  /// Done while a finger is checked.
  var onVerify: (@GLibActor (FakeService) -> Void)?
  /// Done right before the item is added, as another program would.
  var beforeAdd: (@GLibActor (FakeService) -> Void)?

  private var passcodeGiven = false
  private var preferred: CheckedContinuation<Void, Never>?
  private var wasPreferred = false

  func enter(_ call: String, _ detail: String = "") throws(WhorlError) {
    calls.append(detail.isEmpty ? call : "\(call) \(detail)")
    if let absence { throw absence }
    guard var left = problems[call], !left.isEmpty else { return }
    let problem = left.removeFirst()
    problems[call] = left
    throw problem
  }

  func status() async throws(WhorlError) -> WhorlStatus {
    try enter("status")
    var answer = statusAnswer
    if answer.readers.first?.enrolled.isEmpty == true { answer.readers[0].enrolled = fingers }
    return answer
  }

  var accounts: [WhorlForgetTarget: WhorlAccountStatus] = [:]
  var polkitIsThere = true
  private(set) var authorizing: (@GLibActor () -> Void)?

  func accountStatus(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlAccountStatus {
    try enter("account", "\(target)")
    guard let account = accounts[target] else { throw WhorlError(.noSuchUser, "Nothing is stored for that account.") }
    return account
  }

  func hasPolkit() async -> Bool { polkitIsThere }

  func onAuthorizing(_ told: @escaping @GLibActor () -> Void) { authorizing = told }

  var forgotten = WhorlForgotten()
  var renamed = WhorlRenamed()
  var explanation = ""

  func forget(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlForgotten {
    switch target {
    case .name(let name): try enter("forget", name)
    case .uid(let uid): try enter("forget", "uid \(uid)")
    }
    return forgotten
  }

  func renameUser(from old: String, to new: String) async throws(WhorlError) -> WhorlRenamed {
    try enter("rename", "\(old) \(new)")
    return renamed
  }

  func explainEnrollment(on reader: ReaderListing) async -> String {
    calls.append("explain")
    return explanation
  }

  func items(named name: String?) async throws(WhorlError) -> [ItemListing] {
    try enter("items")
    return stored.filter { name == nil || $0.name == name }.map {
      ItemListing(
        name: $0.name, constraints: $0.constraints, isGone: $0.isGone, protection: $0.protection,
        isPasscodeRemoved: $0.isPasscodeRemoved)
    }
  }

  /// So many items come in a part.
  var partSize = 2

  func items(after reference: [UInt8]?) async throws(WhorlError) -> (items: [ItemListing], next: [UInt8]?) {
    let all = try await items(named: nil)
    let start = Int(reference?.first ?? 0)
    let part = Array(all.dropFirst(start).prefix(partSize))
    return (part, start + part.count < all.count ? [UInt8(start + part.count)] : nil)
  }

  func add(
    name: String, requirement: Requirement, accessible: Accessibility, secret: borrowing SecretBytes
  ) async throws(WhorlError) {
    beforeAdd?(self)
    beforeAdd = nil
    try enter("add", requirement.rawValue)
    guard !stored.contains(where: { $0.name == name && !$0.isGone }) else { throw WhorlError(.duplicateItem, "") }
    stored.removeAll { $0.name == name }
    if accessible != .always, statusAnswer.keybag == "locked" { throw WhorlError(.locked, "") }
    stored.append(
      Stored(
        name: name, constraints: requirement.constraints, secret: secret.withUnsafeBytes { Array($0) },
        protection: accessible.rawValue))
  }

  func update(
    name: String, secret: borrowing SecretBytes, in context: WhorlContext, reason: String,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) {
    try enter("update")
    guard let index = stored.firstIndex(where: { $0.name == name }) else { throw WhorlError(.itemNotFound, "") }
    try await authorize(stored[index].constraints, progress)
    stored[index].secret = secret.withUnsafeBytes { Array($0) }
  }

  func secret(
    of name: String, in context: WhorlContext, reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes {
    try enter("secret", reason)
    guard let item = stored.first(where: { $0.name == name }) else { throw WhorlError(.itemNotFound, "") }
    try await authorize(item.constraints, progress)
    do throws(SecretMemoryError) {
      return try SecretBytes(copying: item.secret.span.bytes)
    } catch { throw WhorlError(.failed, error.description) }
  }

  func authorize(
    _ constraints: [String], _ progress: @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) {
    if constraints.isEmpty || passcodeGiven { return }
    if constraints == ["device-passcode"] { throw WhorlError(.passcodeNeeded, "") }
    onTouch?(self)
    for event in touch { progress(event) }
    guard neverTouched else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        if Task.isCancelled || wasPreferred { waiter.resume() } else { preferred = waiter }
      }
    } onCancel: {
      Task { @GLibActor in self.resume() }
    }
    throw WhorlError(Task.isCancelled ? .cancelled : .userFallback, "")
  }

  private func resume() {
    preferred?.resume()
    preferred = nil
  }

  func remove(name: String) async throws(WhorlError) {
    try enter("remove")
    guard stored.contains(where: { $0.name == name }) else { throw WhorlError(.itemNotFound, "") }
    stored.removeAll { $0.name == name }
  }

  /// What an export holds.
  var export: (bytes: [UInt8], counts: @Sendable (inout WhorlExport) -> Void) = ([], { _ in })
  /// What the last import was given: its bytes, passphrase and plan.
  private(set) var imported: (bytes: [UInt8], passphrase: [UInt8], plan: WhorlImportPlan)?
  var importAnswer = WhorlImported()
  /// The passphrase of what is imported; nil takes any.
  var archivePassphrase: String?

  func exportItems(
    under passphrase: borrowing SecretBytes, in context: WhorlContext, reason: String,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlExport {
    try enter("export", passphrase.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    try await authorize(["device-passcode"], progress)
    for event in touch { progress(event) }
    let file: Int32
    do throws(SecretMemoryError) { file = try MemoryFile.make(name: "test") } catch { throw WhorlError(.failed, "") }
    write(file, export.bytes, export.bytes.count)
    var result = WhorlExport(file: WhorlFile(owning: file))
    export.counts(&result)
    return result
  }

  func importItems(
    from file: WhorlFile, under passphrase: borrowing SecretBytes, _ plan: WhorlImportPlan, in context: WhorlContext,
    reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlImported {
    try enter("import", plan.existing.rawValue)
    let given = passphrase.withUnsafeBytes { Array($0) }
    if let archivePassphrase, given != Array(archivePassphrase.utf8) { throw WhorlError(.wrongPassphrase, "") }
    if plan.existing == .replace { try await authorize(["device-passcode"], progress) }
    let bytes = file.withDescriptor { file in
      var bytes = [UInt8](repeating: 0, count: 1 << 20)
      bytes.removeLast(bytes.count - max(0, pread(file, &bytes, bytes.count, 0)))
      return bytes
    }
    imported = (bytes, given, plan)
    return importAnswer
  }

  var logAnswer: [WhorlLogEntry] = []

  func log() async throws(WhorlError) -> [WhorlLogEntry] {
    try enter("log")
    return logAnswer
  }

  func openContext(promptsItself: Bool, lasting seconds: UInt32) async throws(WhorlError) -> WhorlContext {
    try enter("open")
    return WhorlContext(number: 7, daemon: ":1.1")
  }

  var adoption: WhorlAdoption?
  var known: [WhorlReader] = []

  func adopt(
    _ fingers: [String]?, on reader: ReaderListing?, in context: WhorlContext
  ) async throws(WhorlError) -> WhorlAdoption {
    try enter("adopt", ((fingers ?? ["all"]) + [reader?.path].compactMap { $0 }).joined(separator: " "))
    guard passcodeGiven else { throw WhorlError(.passcodeNeeded, "") }
    if let adoption { return adoption }
    var done = WhorlAdoption()
    done.fingers = fingers ?? self.fingers
    return done
  }

  func knownReaders() async throws(WhorlError) -> [WhorlReader] {
    try enter("known")
    return known
  }

  func trust(_ reader: String, in context: WhorlContext) async throws(WhorlError) {
    try enter("trust", reader)
    guard passcodeGiven else { throw WhorlError(.passcodeNeeded, "") }
  }

  func distrust(_ reader: String?) async throws(WhorlError) { try enter("distrust", reader ?? "all") }

  func closeContext(_ context: WhorlContext) async { calls.append("close") }

  func providePasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try enter("passcode")
    let given = passcode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    guard given == self.passcode else {
      statusAnswer.passcodeDelay = delays.isEmpty ? 0 : delays.removeFirst()
      throw WhorlError(.authenticationFailed, "")
    }
    passcodeGiven = true
    if statusAnswer.keybag == "locked" {
      statusAnswer.keybag = formerPasscode == nil ? "unlocked" : "former-passcode-needed"
    }
  }

  /// The password that last unlocked; nil for the present one.
  var formerPasscode: String?
  var recoveryKey: String?

  func provideFormerPasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try enter("former")
    guard passcode.withUnsafeBytes({ String(decoding: $0, as: UTF8.self) }) == formerPasscode else {
      throw WhorlError(.authenticationFailed, "that is another; give the right one")
    }
    statusAnswer.keybag = "unlocked"
  }

  func provideRecoveryKey(_ key: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try enter("recovery")
    guard key.withUnsafeBytes({ String(decoding: $0, as: UTF8.self) }) == recoveryKey else {
      throw WhorlError(.authenticationFailed, "that is no recovery key: a character is wrong; look again")
    }
    statusAnswer.keybag = "unlocked"
  }

  func makeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> SecretBytes {
    try enter("make-recovery")
    guard passcodeGiven else { throw WhorlError(.passcodeNeeded, "") }
    recoveryKey = "NEW00-KEY00"
    statusAnswer.hasRecoveryKey = true
    do throws(SecretMemoryError) { return try SecretBytes(copying: Array("NEW00-KEY00".utf8).span.bytes) } catch {
      throw WhorlError(.failed, error.description)
    }
  }

  func revokeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> Bool {
    try enter("revoke-recovery")
    guard passcodeGiven else { throw WhorlError(.passcodeNeeded, "") }
    defer { statusAnswer.hasRecoveryKey = false }
    return statusAnswer.hasRecoveryKey
  }

  func recover(recoveryKey: borrowing SecretBytes) async throws(WhorlError) {
    try enter("recover-key")
    guard recoveryKey.withUnsafeBytes({ String(decoding: $0, as: UTF8.self) }) == self.recoveryKey else {
      throw WhorlError(.authenticationFailed, "that is another; look again")
    }
    statusAnswer.storeError = ""
  }

  func recover(passcode: borrowing SecretBytes) async throws(WhorlError) {
    try enter("recover-passcode")
    guard passcode.withUnsafeBytes({ String(decoding: $0, as: UTF8.self) }) == self.passcode else {
      throw WhorlError(.authenticationFailed, "the password is wrong; try again")
    }
    statusAnswer.storeError = ""
  }

  var report = WhorlKeychainReport()

  func checkKeychain() async throws(WhorlError) -> WhorlKeychainReport {
    try enter("check")
    return report
  }

  func rekey(passcode: borrowing SecretBytes, in context: WhorlContext) async throws(WhorlError) -> Int {
    try enter("rekey")
    guard passcode.withUnsafeBytes({ String(decoding: $0, as: UTF8.self) }) == self.passcode else {
      throw WhorlError(.authenticationFailed, "")
    }
    return stored.count
  }

  func lockKeys() async throws(WhorlError) {
    try enter("lock")
    statusAnswer.keybag = "locked"
  }

  func preferPasscode(in context: WhorlContext) async {
    calls.append("prefer")
    wasPreferred = true
    resume()
  }

  func readers() async throws(WhorlError) -> [ReaderListing] {
    try enter("readers")
    return readerList
  }

  func enrolledFingers(of user: String, on reader: ReaderListing) async throws(WhorlError) -> [String] {
    try enter("fingers", user)
    return fingers
  }

  func claim(_ reader: ReaderListing, for user: String) async throws(WhorlError) -> ReaderListing {
    try enter("claim", user)
    onClaim?(self)
    return ReaderListing(path: reader.path, name: reader.name, scanType: reader.scanType, stages: stages)
  }
  func release(_ reader: ReaderListing) async { calls.append("release") }

  func enroll(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError) {
    try enter("enroll", finger)
    if await scan(report) { fingers.append(finger) }
  }

  func verify(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError) {
    try enter("verify", finger)
    onVerify?(self)
    _ = await scan(report)
  }

  private func scan(_ report: @GLibActor (FprintScanStatus) -> Void) async -> Bool {
    let statuses = scans.isEmpty ? [] : scans.removeFirst()
    for status in statuses { report(status) }
    return statuses.contains { $0.word == "enroll-completed" }
  }

  func delete(_ finger: String?, on reader: ReaderListing) async throws(WhorlError) {
    try enter("delete", finger ?? "all")
    fingers.removeAll { finger == nil || $0 == finger }
  }
}
