import GLibLoop
import SecretMemory

@testable import WhorlCommand

/// A daemon that follows a script and writes down what it was asked.
@GLibActor
final class FakeService: Service {
  struct Stored: Sendable {
    var name: String
    var constraints: [String]
    var secret: [UInt8]
    var isGone = false
  }

  /// What was asked, a word or two each.
  private(set) var calls: [String] = []
  var stored: [Stored] = []
  var statusAnswer = ServiceStatus()
  var readerList = [ReaderListing(path: "/r/0", name: "Fake Reader", scanType: "press", stages: nil)]
  /// What the reader says of its touches once it is claimed.
  var stages: Int? = 3
  var fingers: [String] = []
  /// Thrown by the call of that name, in turn, before it does anything.
  var problems: [String: [ServiceProblem]] = [:]
  /// What a touch reports before the answer.
  var touch: [TouchProgress] = [.waiting(reader: "Fake Reader", scanType: "press")]
  var passcode: String?
  /// The statuses of each enrolment and verification, in turn.
  var scans: [[ScanStatus]] = []
  /// Keeps a secret waiting for its touch until the passcode is preferred or the task is cancelled.
  var neverTouched = false
  /// Done right before the item is added, as another program would.
  var beforeAdd: (@GLibActor (FakeService) -> Void)?

  private var passcodeGiven = false
  private var preferred: CheckedContinuation<Void, Never>?
  private var wasPreferred = false

  private func enter(_ call: String, _ detail: String = "") throws(ServiceProblem) {
    calls.append(detail.isEmpty ? call : "\(call) \(detail)")
    guard var left = problems[call], !left.isEmpty else { return }
    let problem = left.removeFirst()
    problems[call] = left
    throw problem
  }

  func status() async throws(ServiceProblem) -> ServiceStatus {
    try enter("status")
    return statusAnswer
  }

  func items(named name: String?) async throws(ServiceProblem) -> [ItemListing] {
    try enter("items")
    return stored.filter { name == nil || $0.name == name }.map {
      ItemListing(name: $0.name, constraints: $0.constraints, isGone: $0.isGone)
    }
  }

  func add(name: String, requirement: Requirement, secret: borrowing SecretBytes) async throws(ServiceProblem) {
    beforeAdd?(self)
    beforeAdd = nil
    try enter("add", requirement.rawValue)
    guard !stored.contains(where: { $0.name == name && !$0.isGone }) else { throw ServiceProblem(.duplicateItem) }
    stored.removeAll { $0.name == name }
    stored.append(
      Stored(name: name, constraints: requirement.constraints, secret: secret.withUnsafeBytes { Array($0) }))
  }

  func update(
    name: String, secret: borrowing SecretBytes, in context: UInt32, reason: String,
    progress: @escaping @GLibActor (TouchProgress) -> Void
  ) async throws(ServiceProblem) {
    try enter("update")
    guard let index = stored.firstIndex(where: { $0.name == name }) else { throw ServiceProblem(.itemNotFound) }
    try await authorize(stored[index].constraints, progress)
    stored[index].secret = secret.withUnsafeBytes { Array($0) }
  }

  func secret(
    of name: String, in context: UInt32, reason: String, progress: @escaping @GLibActor (TouchProgress) -> Void
  ) async throws(ServiceProblem) -> SecretBytes {
    try enter("secret", reason)
    guard let item = stored.first(where: { $0.name == name }) else { throw ServiceProblem(.itemNotFound) }
    try await authorize(item.constraints, progress)
    do throws(SecretMemoryError) {
      return try SecretBytes(copying: item.secret.span.bytes)
    } catch { throw ServiceProblem(.other, error.description) }
  }

  private func authorize(
    _ constraints: [String], _ progress: @GLibActor (TouchProgress) -> Void
  ) async throws(ServiceProblem) {
    if constraints.isEmpty || passcodeGiven { return }
    if constraints == ["device-passcode"] { throw ServiceProblem(.passcodeNeeded) }
    for event in touch { progress(event) }
    guard neverTouched else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        if Task.isCancelled || wasPreferred { waiter.resume() } else { preferred = waiter }
      }
    } onCancel: {
      Task { @GLibActor in self.resume() }
    }
    throw ServiceProblem(Task.isCancelled ? .cancelled : .userFallback)
  }

  private func resume() {
    preferred?.resume()
    preferred = nil
  }

  func remove(name: String) async throws(ServiceProblem) {
    try enter("remove")
    guard stored.contains(where: { $0.name == name }) else { throw ServiceProblem(.itemNotFound) }
    stored.removeAll { $0.name == name }
  }

  func openContext() async throws(ServiceProblem) -> UInt32 {
    try enter("open")
    return 7
  }

  func closeContext(_ context: UInt32) async { calls.append("close") }

  func providePasscode(_ passcode: borrowing SecretBytes, to context: UInt32) async throws(ServiceProblem) {
    try enter("passcode")
    let given = passcode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    guard given == self.passcode else { throw ServiceProblem(.authenticationFailed) }
    passcodeGiven = true
  }

  func preferPasscode(in context: UInt32) async {
    calls.append("prefer")
    wasPreferred = true
    resume()
  }

  func readers() async throws(ServiceProblem) -> [ReaderListing] {
    try enter("readers")
    return readerList
  }

  func enrolledFingers(of user: String, on reader: ReaderListing) async throws(ServiceProblem) -> [String] {
    try enter("fingers", user)
    return fingers
  }

  func claim(_ reader: ReaderListing, for user: String) async throws(ServiceProblem) -> ReaderListing {
    try enter("claim", user)
    return ReaderListing(path: reader.path, name: reader.name, scanType: reader.scanType, stages: stages)
  }
  func release(_ reader: ReaderListing) async { calls.append("release") }

  func enroll(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (ScanStatus) -> Void
  ) async throws(ServiceProblem) {
    try enter("enroll", finger)
    if await scan(report) { fingers.append(finger) }
  }

  func verify(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (ScanStatus) -> Void
  ) async throws(ServiceProblem) {
    try enter("verify", finger)
    _ = await scan(report)
  }

  private func scan(_ report: @GLibActor (ScanStatus) -> Void) async -> Bool {
    let statuses = scans.isEmpty ? [] : scans.removeFirst()
    for status in statuses { report(status) }
    return statuses.contains { $0.word == "enroll-completed" }
  }

  func delete(_ finger: String?, on reader: ReaderListing) async throws(ServiceProblem) {
    try enter("delete", finger ?? "all")
    fingers.removeAll { finger == nil || $0 == finger }
  }
}
