public import Keychain
internal import SecretMemory

/// The place where fingers and secrets meet: authentication contexts, lockout, and the release of secrets.
///
/// Every secret that leaves the keychain leaves through here, and only after the constraints of its item were satisfied
/// by a touch that the sensor made for exactly that request, by the passcode, or by what the caller's context still
/// remembers. Nothing that callers say about themselves is believed: who they are comes with `ContextOwner`.
///
/// An actor is free for others at each `await`, so nothing learned before one counts after it: what decides about a
/// release (context, owner, cancellation, item, registered print) is looked at once more in the same stretch without
/// `await` that decrypts.
///
/// Where misses cannot be recorded (no device key, a full disk, a damaged store), no finger counts for anything, logins
/// included: otherwise whoever makes the store fail could try fingers without end. Such requests fail with
/// `StoreUnavailable` (or the store's own error) and the remedy, and login stacks go on to the password.
public actor Enclave {
  /// Bounds on what callers may pile up.
  public enum Limits {
    /// Requests of one user that wait for the sensor or have it.
    public static let requestsPerUser = 8
    /// Contexts of one user that are not invalidated.
    public static let contextsPerUser = 256
    /// The longest reuse time, in seconds.
    public static let reuseSeconds = 300
    /// So many milliseconds a request may keep the sensor while another user's request waits; then they take turns.
    public static let turnMilliseconds: Int64 = 10_000
    /// So many rows of a keychain are looked at before others have their turn at the enclave.
    public static let searchRows = 200
    /// The most bytes of a passcode; PAM takes no more.
    public static let passcodeBytes = 511
    /// The most bytes of a program's own password.
    public static let applicationPasswordBytes = 4096
  }

  let sensor: any BiometrySensor
  let passcodes: any PasscodeVerifier
  let clock: any EnclaveClock
  let shelf: KeychainShelf

  let elsewhere = Elsewhere()
  var contexts: [ContextID: AuthenticationContext] = [:]
  var lastContext: UInt32 = 0
  var closedConnections = RecentNames(capacity: 256)

  var operations: [UInt64: Operation] = [:]
  var queue = IntentQueue()
  var active: ActiveWait?
  private var lastNumber: UInt64 = 0

  /// Users whose last miss could not be recorded: locked until a passcode is right and recorded.
  var unrecorded: Set<UserID> = []
  /// For tests: what writing a lockout record fails with.
  var lockoutFault: KeychainError?
  /// Users of whom an export or import writes.
  var backups: Set<UserID> = []
  /// Users whose keychain is looked through, or changed in parts.
  var upkeeps: Set<UserID> = []
  let storeWork = StoreWork()
  let passphrases = PassphraseWork()
  /// Users whose passphrase it looks at, or will: one each, so that nobody waits for many of another's.
  var derivations: Set<UserID> = []
  /// For tests: what is done between two parts of an export, import, check, rekeying or deletion.
  var betweenBackupParts: (@Sendable () async -> Void)?
  /// Who notes releases and refusals.
  var recorder: (any ReleaseRecorder)?
  /// Users with a passcode at the verifier.
  var passcodeChecks: Set<UserID> = []
  /// Passcodes that are right and do not open the keybag yet, for which the former one is needed.
  var pendingPasscodes: [UserID: StretchedPassword] = [:]
  /// Logins whose touch would have opened a secret, until their next step.
  var logins = LoginTouches()
  /// What the sessions of a user are, as far as somebody told.
  var sessions: [UserID: SessionLockState] = [:]
  let stretching = Stretching()
  /// Users with a program's password at work: one each, so that nobody's passcode waits behind many of another's.
  var programPasswords: Set<UserID> = []
  /// How often the keys of a user were locked: what was begun before must not unlock them after.
  var lockings: [UserID: UInt64] = [:]
  let stretchingCost: StretchingParameters.Cost

  /// An enclave that keeps its users' keychains under `stateDirectory`/users (the state folder must exist).
  /// - Parameters:
  ///   - deviceKeys: where the device key comes from; asked at the first need.
  ///   - sensor: the readers. Used for one request at a time.
  ///   - passcode: who checks passcodes.
  ///   - clock: the time; `SystemClock()` but in tests.
  ///   - stretching: how much work a passcode is; `.usual` but in tests.
  ///   - names: the accounts that are known already; others have to be told with `learn` before their keychain opens.
  public init(
    stateDirectory: String, deviceKeys: any DeviceKeySource, sensor: any BiometrySensor,
    passcode: any PasscodeVerifier, clock: any EnclaveClock = SystemClock(),
    stretching: StretchingParameters.Cost = .usual, names: [UserID: AccountName] = [:]
  ) {
    stretchingCost = stretching
    self.sensor = sensor
    self.clock = clock
    passcodes = passcode
    shelf = KeychainShelf(stateDirectory: stateDirectory, keys: deviceKeys, clock: clock, names: names)
  }

  /// A number that no operation and no wait had before.
  func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Stores a lockout record; on the disk when this returns.
  func store(_ record: LockoutRecord, in keychain: UserKeychain) throws(KeychainError) {
    if let lockoutFault { throw lockoutFault }
    try keychain.setLockout(record)
  }

  /// Runs something on a user's keychain, opened now where it was not.
  func withKeychain<R: ~Copyable>(
    of user: UserID, _ body: (UserKeychain) throws(KeychainError) -> R
  ) throws(EnclaveError) -> R {
    do {
      return try body(try shelf.keychain(of: user))
    } catch {
      // A disk that was full or a file that was replaced may be right again: do not keep a broken connection.
      switch error {
      case .corrupt, .io, .diskFull, .readOnly, .refusedFile: shelf.close(user)
      default: break
      }
      throw .keychain(error)
    }
  }
}

/// A place to go to for a moment, so that those who wait for the enclave have their turn. (`Task.yield` brings
/// libdispatch's threads along.)
actor Elsewhere {
  func pause() {}
}

/// The last names of something, a bounded number of them.
struct RecentNames {
  let capacity: Int
  private var order: [String] = []
  private var names: Set<String> = []

  init(capacity: Int) { self.capacity = capacity }

  func contains(_ name: String) -> Bool { names.contains(name) }

  mutating func insert(_ name: String) {
    guard names.insert(name).inserted else { return }
    order.append(name)
    if order.count > capacity { names.remove(order.removeFirst()) }
  }
}
