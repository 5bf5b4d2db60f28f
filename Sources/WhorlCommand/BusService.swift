import GLibLoop
import SecretMemory
import WhorlClient

/// The daemon over the bus. An item of the command's is the account NAME of the service "whorl".
@GLibActor
final class BusService: Service {
  private static let itemService = CommandItems.service
  private static let itemClass = "generic-password"

  private let transport: BusTransport
  let whorl: WhorlClient
  private let fprint = FprintClient(mustBeWhorld: true)

  init() {
    transport = BusTransport()
    whorl = WhorlClient(transport: transport)
  }

  func onAuthorizing(_ told: @escaping @GLibActor () -> Void) {
    transport.onAuthorizing = { _ in told() }
    fprint.onAuthorizing = { _ in told() }
  }

  func hasPolkit() async -> Bool { await fprint.hasPolkit() }

  func accountStatus(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlAccountStatus {
    try await whorl.accountStatus(target)
  }

  func status() async throws(WhorlError) -> WhorlStatus { try await whorl.status() }

  func log() async throws(WhorlError) -> [WhorlLogEntry] { try await whorl.log(limit: 8_000) }

  func forget(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlForgotten { try await whorl.forget(target) }

  func renameUser(from old: String, to new: String) async throws(WhorlError) -> WhorlRenamed {
    try await whorl.renameUser(from: old, to: new)
  }

  // MARK: - Items

  func items(named name: String?) async throws(WhorlError) -> [ItemListing] {
    listings(of: try await whorl.copyMatching(query(name), includingInvalidated: true), named: name)
  }

  func items(after reference: [UInt8]?) async throws(WhorlError) -> (items: [ItemListing], next: [UInt8]?) {
    let part = try await kept(query(nil), after: reference)
    return (listings(of: part.items.map(\.item), named: nil), part.next)
  }

  private func listings(of items: [WhorlItem], named name: String?) -> [ItemListing] {
    // A query is a wish: what the command shows and changes is what it asked for.
    items.filter {
      $0.attributes.service == Self.itemService && $0.attributes.accessGroup?.isEmpty ?? true
        && (name == nil || $0.attributes.account == name)
    }
    .map {
      ItemListing(
        name: $0.attributes.account ?? "", constraints: $0.constraints.map(\.rawValue),
        isGone: $0.isInvalidated || $0.isPasscodeRemoved, protection: $0.protection,
        isPasscodeRemoved: $0.isPasscodeRemoved)
    }
  }

  func add(
    name: String, requirement: Requirement, accessible: Accessibility, secret: borrowing SecretBytes
  ) async throws(WhorlError) {
    var attributes = query(name)
    attributes.label = name
    try await whorl.add(
      attributes,
      accessControl: WhorlAccessControl(
        protection: WhorlProtection(rawValue: accessible.rawValue),
        constraints: requirement.constraints.map { WhorlConstraint(rawValue: $0) }),
      secret: secret)
  }

  func update(
    name: String, secret: borrowing SecretBytes, in context: WhorlContext, reason: String,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) {
    try await whorl.update(
      query(name), secret: secret, in: context, prompt: WhorlPrompt(reason: reason), progress: progress)
  }

  func secret(
    of name: String, in context: WhorlContext, reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes {
    try await whorl.copySecret(query(name), in: context, prompt: WhorlPrompt(reason: reason), progress: progress)
  }

  func remove(name: String) async throws(WhorlError) { _ = try await whorl.delete(query(name)) }

  func exportItems(
    under passphrase: borrowing SecretBytes, in context: WhorlContext, reason: String,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlExport {
    try await whorl.exportItems(
      under: passphrase, in: context, prompt: WhorlPrompt(reason: reason), progress: progress)
  }

  func importItems(
    from file: WhorlFile, under passphrase: borrowing SecretBytes, _ plan: WhorlImportPlan, in context: WhorlContext,
    reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlImported {
    try await whorl.importItems(
      from: file, under: passphrase, plan: plan, in: context, prompt: WhorlPrompt(reason: reason), progress: progress)
  }

  private func query(_ name: String?) -> WhorlAttributes {
    var query = WhorlAttributes(itemClass: Self.itemClass, service: Self.itemService, account: name)
    // An app may keep items of that service, too; they are of its group.
    query.accessGroup = ""
    return query
  }

  // MARK: - Contexts

  func openContext(promptsItself: Bool, lasting seconds: UInt32) async throws(WhorlError) -> WhorlContext {
    try await whorl.createContext(reuseSeconds: seconds, promptsItself: promptsItself)
  }

  func adopt(
    _ fingers: [String]?, on reader: ReaderListing?, in context: WhorlContext
  ) async throws(WhorlError) -> WhorlAdoption {
    try await whorl.adopt(fingers: fingers, on: reader?.path, in: context)
  }

  func knownReaders() async throws(WhorlError) -> [WhorlReader] { try await whorl.readers() }

  func trust(_ reader: String, in context: WhorlContext) async throws(WhorlError) {
    try await whorl.trust(reader: reader, in: context)
  }

  func distrust(_ reader: String?) async throws(WhorlError) { try await whorl.distrust(reader: reader) }

  func closeContext(_ context: WhorlContext) async {
    // In a task of its own, for the command's may be cancelled; the context ends with the connection anyway.
    await Task { @GLibActor [whorl] in try? await whorl.invalidate(context) }.value
  }

  func providePasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try await whorl.providePasscode(passcode, to: context)
  }

  func provideFormerPasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try await whorl.provideFormerPasscode(passcode, to: context)
  }

  func provideRecoveryKey(_ key: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try await whorl.provideRecoveryKey(key, to: context)
  }

  func makeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> SecretBytes {
    try await whorl.makeRecoveryKey(in: context)
  }

  func revokeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> Bool {
    try await whorl.revokeRecoveryKey(in: context)
  }

  func lockKeys() async throws(WhorlError) { try await whorl.lockKeys() }

  func checkKeychain() async throws(WhorlError) -> WhorlKeychainReport { try await whorl.checkKeychain() }

  func rekey(passcode: borrowing SecretBytes, in context: WhorlContext) async throws(WhorlError) -> Int {
    try await whorl.rekey(passcode: passcode, in: context)
  }

  func recover(recoveryKey: borrowing SecretBytes) async throws(WhorlError) {
    try await whorl.recover(recoveryKey: recoveryKey)
  }

  func recover(passcode: borrowing SecretBytes) async throws(WhorlError) { try await whorl.recover(passcode: passcode) }

  func preferPasscode(in context: WhorlContext) async {
    // Where the touch was faster there is nothing to end any more.
    try? await whorl.cancel(context, how: .fallback)
  }

  // MARK: - Fingers

  func readers() async throws(WhorlError) -> [ReaderListing] {
    var readers: [ReaderListing] = []
    for device in try await fprint.devices() { readers.append(try await listing(device)) }
    return readers
  }

  func enrolledFingers(of user: String, on reader: ReaderListing) async throws(WhorlError) -> [String] {
    try await device(reader).listEnrolledFingers(of: user)
  }

  func claim(_ reader: ReaderListing, for user: String) async throws(WhorlError) -> ReaderListing {
    try await device(reader).claim(for: user)
    return try await listing(device(reader))
  }

  func release(_ reader: ReaderListing) async {
    // In a task of its own, for the command's may be cancelled; the claim ends with the connection anyway.
    let device = device(reader)
    await Task { @GLibActor in try? await device.release() }.value
  }

  func enroll(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError) {
    _ = try await device(reader).enroll(finger, report: report)
  }

  func explainEnrollment(on reader: ReaderListing) async -> String { await device(reader).explainEnrollment() }

  func verify(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError) {
    _ = try await device(reader).verify(finger, report: report)
  }

  func delete(_ finger: String?, on reader: ReaderListing) async throws(WhorlError) {
    if let finger {
      try await device(reader).deleteEnrolledFinger(finger)
    } else {
      try await device(reader).deleteAllEnrolledFingers()
    }
  }

  private func device(_ reader: ReaderListing) -> FprintDevice { fprint.device(at: reader.path) }

  private func listing(_ device: FprintDevice) async throws(WhorlError) -> ReaderListing {
    let properties = try await device.properties()
    return ReaderListing(
      path: device.path, name: properties.name, scanType: properties.scanType, stages: properties.enrollStages)
  }
}
