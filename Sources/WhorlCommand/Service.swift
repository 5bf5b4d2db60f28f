import GLibLoop
import SecretMemory

/// Everything that the commands ask of the daemon. The live one speaks D-Bus; tests script one of their own.
///
/// Cancelling the task that waits ends the request at the daemon too, and throws `.cancelled`.
@GLibActor
protocol Service: AnyObject {
  func status() async throws(ServiceProblem) -> ServiceStatus

  // The keychain: items of service "whorl".
  /// The items of that name (all for nil) in the order they were added, also those that are gone.
  func items(named name: String?) async throws(ServiceProblem) -> [ItemListing]
  func add(name: String, requirement: Requirement, secret: borrowing SecretBytes) async throws(ServiceProblem)
  func update(
    name: String, secret: borrowing SecretBytes, in context: UInt32, reason: String,
    progress: @escaping @GLibActor (TouchProgress) -> Void
  ) async throws(ServiceProblem)
  func secret(
    of name: String, in context: UInt32, reason: String, progress: @escaping @GLibActor (TouchProgress) -> Void
  ) async throws(ServiceProblem) -> SecretBytes
  func remove(name: String) async throws(ServiceProblem)

  // Authentication contexts.
  func openContext() async throws(ServiceProblem) -> UInt32
  func closeContext(_ context: UInt32) async
  func providePasscode(_ passcode: borrowing SecretBytes, to context: UInt32) async throws(ServiceProblem)
  /// Ends the wait for a finger in a context, in favour of the passcode.
  func preferPasscode(in context: UInt32) async

  // Fingers, through net.reactivated.Fprint.
  /// The readers, the default one first.
  func readers() async throws(ServiceProblem) -> [ReaderListing]
  /// The names of the user's enrolled fingers; none enrolled is an empty list. An empty user is the caller.
  func enrolledFingers(of user: String, on reader: ReaderListing) async throws(ServiceProblem) -> [String]
  /// The reader as it is while it is claimed: only then it says how many touches it takes.
  func claim(_ reader: ReaderListing, for user: String) async throws(ServiceProblem) -> ReaderListing
  func release(_ reader: ReaderListing) async
  /// Enrols; each status is reported. Returns when the daemon says done; ends the operation in every case.
  func enroll(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (ScanStatus) -> Void
  ) async throws(ServiceProblem)
  /// Verifies; as ``enroll(_:on:report:)``. The finger `any` is any enrolled one.
  func verify(
    _ finger: String, on reader: ReaderListing, report: @escaping @GLibActor (ScanStatus) -> Void
  ) async throws(ServiceProblem)
  /// Deletes one finger of the user who claimed the reader, or all for nil.
  func delete(_ finger: String?, on reader: ReaderListing) async throws(ServiceProblem)
}

/// One line of a running enrolment or verification: fprintd's status word, and whether the daemon says that it ends
/// there.
struct ScanStatus: Sendable, Equatable {
  let word: String
  let done: Bool
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

/// A secret's name and what it asks for.
struct ItemListing: Sendable, Equatable {
  let name: String
  let constraints: [String]
  /// The fingers changed, and the secret was destroyed.
  let isGone: Bool
}

/// What a wait for a finger reports.
enum TouchProgress: Sendable, Equatable {
  case queued
  case waiting(reader: String, scanType: String)
  case retry(reason: String)
  case noMatch(triesLeft: Int)
  case matched(finger: String)
}

/// The daemon's answer to GetStatus, as far as `whorl status` shows it. Texts are not yet escaped.
struct ServiceStatus: Sendable, Equatable {
  struct Reader: Sendable, Equatable {
    var name: String
    var driver: String
    var scanType: String
  }

  var version = ""
  var isPrivate = false
  var deviceKey = ""
  var deviceKeyError = ""
  /// Why this user's store cannot be read; empty where it can, or where there is none yet.
  var storeError = ""
  var readers: [Reader] = []
  var enrolled: [String] = []
  var unreadable: [String] = []
  var unregistered: [String] = []
  var biometry = ""
  var biometryError = ""
  var misses = 0
  var missesAllowed = 0
  var passcode = ""
  var passcodeDelay = 0
}
