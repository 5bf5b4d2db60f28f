public import Keychain

/// Whether a user can be asked for a finger at all. Everything but `available` ends a request at once, without a prompt.
public enum BiometryAvailability: Sendable, Hashable {
  /// A reader is there and the user has prints for it: the names of the fingers.
  case available(fingers: [String])
  /// There is no reader that can be used; says why, in one line for people.
  case noReader(String)
  /// The user has no print for any reader that is there.
  case notEnrolled
  /// Reader or prints failed; says why, in one line for people.
  case failed(String)
}

/// What a touch is for, which says whose prints it may match.
public enum MatchScope: Sendable, Hashable {
  /// A login, as with fprintd: any print of the user's on the disk. Releases nothing.
  case login
  /// A secret, or a login that is to be as safe: only prints that the enclave has registered, on readers that the user
  /// trusts.
  case secret
}

/// One armed wait for one touch.
public struct MatchRequest: Sendable {
  /// The number of this wait; no other wait of this process has it. The verdict must carry it.
  public let id: UInt64
  /// The request that this wait is for; it may have several, one after the other.
  public let operation: UInt64
  /// Whose fingers; the verdict must carry it.
  public let user: UserID
  /// The bus connection of the program that asks.
  public let connection: String
  /// What the touch is for.
  public let scope: MatchScope
  /// After this many seconds (at least 1) nobody waits for the verdict any more: the sensor ends with `.timedOut`.
  public let seconds: Int
  /// Whether the enclave has registered a print (its bytes as on the disk). For `.secret`, the sensor offers the
  /// reader only those for which this says true; the enclave checks what matched once more by itself.
  public let isRegistered: @Sendable (_ print: [UInt8]) async -> Bool
  /// Whether a match on a reader may release the user's secrets. For `.secret`, the sensor arms only those readers for
  /// which this says true; the enclave checks the one that matched once more by itself.
  public let isTrusted: @Sendable (_ reader: ReaderPlace) async -> Bool

  /// A request with these values.
  public init(
    id: UInt64, operation: UInt64, user: UserID, connection: String, scope: MatchScope, seconds: Int,
    isRegistered: @escaping @Sendable (_ print: [UInt8]) async -> Bool,
    isTrusted: @escaping @Sendable (_ reader: ReaderPlace) async -> Bool
  ) {
    self.id = id
    self.operation = operation
    self.user = user
    self.connection = connection
    self.scope = scope
    self.seconds = seconds
    self.isRegistered = isRegistered
    self.isTrusted = isTrusted
  }
}

/// What a sensor tells while it waits.
public enum MatchProgress: Sendable, Hashable {
  /// The reader is armed: its name, `press` or `swipe`, and the names of the fingers that it would know.
  case waiting(reader: String, scanType: String, fingers: [String])
  /// The touch could not be read and has to be repeated: `general`, `too-short`, `center-finger`, `remove-finger` or
  /// `too-fast`. The wait goes on; it is no miss.
  case retry(reason: String)
}

/// A touch that matched.
public struct Touch: Sendable, Hashable {
  /// The wait that it ended (`MatchRequest.id`).
  public var request: UInt64
  /// Whose print matched.
  public var user: UserID
  /// The finger's name, such as `right-index-finger`.
  public var finger: String
  /// The reader, as `driver/deviceID`.
  public var reader: String
  /// The bytes of the print that matched, as on the disk.
  public var print: [UInt8]
  /// Where the reader stood while it waited, as the daemon knows it by itself; nil where it does not, so that the touch
  /// counts for no secret.
  public var place: ReaderPlace?

  /// A touch with these values.
  public init(
    request: UInt64, user: UserID, finger: String, reader: String, print: [UInt8], place: ReaderPlace?
  ) {
    self.place = place
    self.request = request
    self.user = user
    self.finger = finger
    self.reader = reader
    self.print = print
  }
}

/// How an armed wait ended.
public enum MatchOutcome: Sendable, Hashable {
  /// The finger is the user's.
  case match(Touch)
  /// The finger is another. On so many readers at the same moment: each counts as a miss.
  case noMatch(readers: Int)
}

/// Why an armed wait ended without a verdict. None of these is a miss.
public enum SensorError: Error, Sendable, Hashable {
  /// The task was cancelled, or the system ended the wait (sleep).
  case cancelled
  /// Nobody touched the reader in time.
  case timedOut
  /// The reader is gone; says which, in one line for people.
  case noReader(String)
  /// The user has no print that counts for this request.
  case notEnrolled
  /// Somebody else (a client of `net.reactivated.Fprint`) has claimed the reader.
  case busy(String)
  /// The reader failed, in one line for people.
  case failed(String)
}

/// The readers, as the enclave sees them. The enclave calls `match` for one request at a time.
public protocol BiometrySensor: Sendable {
  /// Whether a finger of this user can be asked for now. Opens nothing that lasts, prompts nobody.
  func availability(of user: UserID) async -> BiometryAvailability

  /// Arms the reader and waits for one touch of any of the user's fingers that the scope allows. Retry scans are
  /// reported and the wait goes on. Once the task is cancelled it must come to its end soon and free the reader:
  /// the next request waits for that. A finger that lay on the reader before is not a touch.
  ///
  /// - Parameter progress: to be called only before `match` returns.
  func match(
    _ request: MatchRequest, progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(SensorError) -> MatchOutcome
}
