public import LocalAuthentication
public import Observation

/// Keeps a program's credentials in the keychain, at first readable by any program of the user's, or behind a finger.
///
/// The interface is that of the Swift package of the same name (ariskox/BiometricsVault 1.0). What each call does in each
/// state; a name in brackets is the ``VaultError`` that it throws there, and changes nothing then:
///
/// | call | unavailable | ready | keychainSecured | biometricsSecured | locked |
/// |---|---|---|---|---|---|
/// | ``enableKeychainVault(saving:)`` | [notAvailable] | keychainSecured | [alreadyUsesKeychain] | [alreadySecuredWithBiometrics] | [lockedWithBiometricsCannotEnable] |
/// | ``enableSecureVaultWithBiometrics(saving:)`` | [notAvailable] | biometricsSecured | [alreadySecuredByKeychainUseSecureFunction] | [alreadySecuredWithBiometrics] | [lockedWithBiometricsCannotEnable] |
/// | ``upgradeKeychainWithBiometrics()`` | [notAvailable] | [notEnabled] | biometricsSecured | [alreadySecuredWithBiometrics] | [lockedWithBiometricsCannotEnable] |
/// | ``downgradeBiometricsToKeychain()`` | [notAvailable] | [notEnabled] | [notSecuredWithBiometrics] | keychainSecured | [lockedWithBiometricsUseReset] |
/// | ``disableBiometricsSecureVault()`` | [notAvailable] | [notEnabled] | [notSecuredWithBiometrics] | ready | [lockedWithBiometricsUseReset] |
/// | ``lock()`` | [notAvailable] | [notEnabled] | [notSecuredWithBiometrics] | locked | [alreadyLockedWithBiometrics] |
/// | ``unlockWithBiometrics()`` | [notAvailable] | [notEnabled] | [notLockedWithBiometrics] | [notLockedWithBiometrics] | biometricsSecured |
/// | ``reauthenticateOwner()`` | the same in every state: it stays | | | | |
/// | ``resetEverything()`` | as at the start | ready | ready | ready | ready |
///
/// Different from the original, on purpose:
/// - A change to or from fingers writes the new item, reads it back, and then removes the old one: a failure half-way, or
///   the end of the program there, loses nothing.
/// - Credentials that are kept without a finger can be had without a reader, too: the state at the start is
///   `keychainSecured` then.
/// - `unavailable` ends by itself when a reader or a finger appears.
/// - Credentials that ended with a change of the fingers are told by ``loss``, and by ``unlockWithBiometrics()``, which throws
///   it; the original shows an empty vault.
/// - ``upgradeKeychainWithBiometrics()`` in `ready` throws `notEnabled`, where the original throws the keychain's error for an
///   item that is not there.
/// - ``resetEverything()`` without a reader leads to `unavailable` rather than to a `ready` in which everything fails.
/// - What is thrown besides ``VaultError`` is `LAError`, ``VaultKeychainError`` and ``VaultLoss``, since there is no
///   SimpleKeychain in between.
///
/// On the main actor, which waits for the keychain for a moment at the start and in the calls that are not `async`, but never
/// for a person.
@MainActor
@Observable
public class BiometricsVault<Credentials: Codable> {
  /// What is kept, and how.
  public private(set) var state: VaultState<Credentials> = .unavailable {
    didSet { listeners.removeAll { !$0.hear(state) } }
  }

  /// Why credentials that were kept are gone; nil where none are. Until the next that are kept, or ``resetEverything()``.
  public private(set) var loss: VaultLoss?

  @ObservationIgnored private var listeners: [VaultListener<Credentials>] = []
  @ObservationIgnored private let storage: VaultStorage
  /// The context of the program's: which enclave, and at the start what may be read.
  @ObservationIgnored private let origin: LAContext
  @ObservationIgnored private var watch: VaultWatch?

  /// A vault that keeps its credentials under this key.
  ///
  /// - Parameters:
  ///   - key: tells the program's vaults apart.
  ///   - context: in which is read what is kept, without asking; it is not changed.
  public init(key: String, context: LAContext = LAContext()) {
    storage = VaultStorage(key: key)
    origin = context
    state = atStart()
    watchWhileUnavailable()
  }

  /// The state by what is stored. Never asks the user.
  private func atStart() -> VaultState<Credentials> {
    let context = silentContext()
    do throws(VaultKeychainError) {
      if let data = try storage.read(.plain, in: context) {
        // What is there and is nothing that this program understands is not thrown away.
        guard let credentials = try? Vault.decode(Credentials.self, data) else { return fresh }
        return .keychainSecured(credentials)
      }
      if try storage.hasItem(.guarded, in: context) { return .locked }
    } catch {
      // The keychain itself waits for the passcode: what is kept there has to be unlocked.
      if error.status == errSecInteractionNotAllowed { return .locked }
      return fresh
    }
    loss = storage.loss(in: context)
    return fresh
  }

  /// The state in which nothing is kept.
  private var fresh: VaultState<Credentials> { biometricsAvailable ? .ready : .unavailable }

  // MARK: What there is

  /// Whether there is a reader, and an enrolled finger that opens secrets.
  public var biometricsAvailable: Bool {
    newContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
  }

  /// Whether the credentials are kept behind a finger, which was seen.
  public var biometricsEnabled: Bool { state.isBiometricsSecured }

  /// Has somebody told every change of the state from now on.
  func listen(to hear: @escaping (VaultState<Credentials>) -> Bool, end: @escaping @Sendable () -> Void) {
    listeners.append(VaultListener(hear: hear, end: end))
  }

  /// The credentials: of `keychainSecured` those of the state, of `biometricsSecured` without another touch while its context
  /// counts. Not in the original.
  /// - Throws: the ``VaultError`` of ``downgradeBiometricsToKeychain()`` where there are none; ``VaultKeychainError``.
  public func credentials() throws -> Credentials {
    switch state {
    case .keychainSecured(let credentials): return credentials
    case .biometricsSecured(let data): return try read(.guarded, in: data.context)
    case .locked: throw VaultError.lockedWithBiometricsUseReset
    case .ready: throw VaultError.notEnabled
    case .unavailable: throw VaultError.notAvailable
    }
  }

  // MARK: Keeping

  /// Keeps credentials without a finger.
  public func enableKeychainVault(saving credentials: Credentials) throws {
    switch state {
    case .ready: break
    case .unavailable: throw VaultError.notAvailable
    case .keychainSecured: throw VaultError.alreadyUsesKeychain
    case .biometricsSecured: throw VaultError.alreadySecuredWithBiometrics
    case .locked: throw VaultError.lockedWithBiometricsCannotEnable
    }
    try keepPlain(try Vault.encode(credentials))
    become(.keychainSecured(credentials))
  }

  /// Keeps credentials behind a finger, which is asked for.
  public func enableSecureVaultWithBiometrics(saving credentials: Credentials) async throws {
    try requireReady()
    try await keepGuarded(try Vault.encode(credentials)) { try self.requireReady() }
  }

  private func requireReady() throws(VaultError) {
    switch state {
    case .ready: break
    case .unavailable: throw .notAvailable
    case .keychainSecured: throw .alreadySecuredByKeychainUseSecureFunction
    case .biometricsSecured: throw .alreadySecuredWithBiometrics
    case .locked: throw .lockedWithBiometricsCannotEnable
    }
  }

  /// Puts what is kept behind a finger, which is asked for.
  public func upgradeKeychainWithBiometrics() async throws {
    try requireKeychain()
    guard let data = try storage.read(.plain, in: silentContext()) else { throw VaultError.retrievalFailure }
    try await keepGuarded(data) { try self.requireKeychain() }
  }

  private func requireKeychain() throws(VaultError) {
    switch state {
    case .keychainSecured: break
    case .ready: throw .notEnabled
    case .unavailable: throw .notAvailable
    case .biometricsSecured: throw .alreadySecuredWithBiometrics
    case .locked: throw .lockedWithBiometricsCannotEnable
    }
  }

  /// Keeps without a finger what is behind one, without another touch while the state's context counts.
  public func downgradeBiometricsToKeychain() throws {
    let data = try requireOpen()
    guard let bytes = try storage.read(.guarded, in: data.context) else { throw lost(in: data.context) }
    let credentials = try Vault.decode(Credentials.self, bytes)
    try keepPlain(bytes)
    // What is left where this fails is removed by the next change, and is behind a finger until then.
    try? storage.delete(.guarded, in: data.context)
    become(.keychainSecured(credentials))
  }

  /// Removes what is kept behind a finger.
  public func disableBiometricsSecureVault() throws {
    let data = try requireOpen()
    try storage.delete(.guarded, in: data.context)
    become(.ready)
  }

  private func requireOpen() throws(VaultError) -> VaultData {
    switch state {
    case .biometricsSecured(let data): return data
    case .locked: throw .lockedWithBiometricsUseReset
    case .ready: throw .notEnabled
    case .unavailable: throw .notAvailable
    case .keychainSecured: throw .notSecuredWithBiometrics
    }
  }

  // MARK: Locking

  /// Locks an open vault: a finger has to be shown again.
  /// - Returns: true.
  @discardableResult
  public func lock() throws -> Bool {
    switch state {
    case .biometricsSecured(let data):
      data.context.invalidate()
      become(.locked)
      return true
    case .locked: throw VaultError.alreadyLockedWithBiometrics
    case .ready: throw VaultError.notEnabled
    case .unavailable: throw VaultError.notAvailable
    case .keychainSecured: throw VaultError.notSecuredWithBiometrics
    }
  }

  /// Asks for a finger, and gives the credentials.
  /// - Throws: `LAError`; ``VaultLoss`` where the credentials have ended, after which the vault is `ready`.
  public func unlockWithBiometrics() async throws -> Credentials {
    try requireLocked()
    let context = newContext()
    if let loss = storage.loss(in: context) { throw become(lost: loss) }
    let isGuarded = try storage.hasItem(.guarded, in: context)
    if isGuarded { try await evaluateFinger(in: context) } else { _ = try await reauthenticateOwner() }
    try requireLocked()
    guard isGuarded else {
      let credentials: Credentials = try read(.plain, in: context)
      become(.keychainSecured(credentials))
      return credentials
    }
    let storage = self.storage
    let bytes: Data? = try await Vault.elsewhere { () throws(VaultKeychainError) in
      try storage.read(.guarded, in: context)
    }
    try requireLocked()
    guard let bytes else { throw lost(in: context) }
    let credentials = try Vault.decode(Credentials.self, bytes)
    become(.biometricsSecured(VaultData(context: context)))
    return credentials
  }

  private func requireLocked() throws(VaultError) {
    switch state {
    case .locked: break
    case .ready: throw .notEnabled
    case .unavailable: throw .notAvailable
    case .biometricsSecured, .keychainSecured: throw .notLockedWithBiometrics
    }
  }

  /// Asks for a finger, or for the passcode where fingers do not count any more: after that they count again.
  /// - Returns: true.
  /// - Throws: `LAError`.
  @discardableResult
  public func reauthenticateOwner() async throws -> Bool {
    try await newContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: Vault.reason)
  }

  /// Removes everything that is kept. Where the keychain cannot be had, everything stays, and so does the state.
  public func resetEverything() {
    let context = silentContext()
    let before = state
    guard (try? storage.delete(.plain, in: context)) != nil, (try? storage.delete(.guarded, in: context)) != nil else {
      return
    }
    if case .biometricsSecured(let data) = before { data.context.invalidate() }
    loss = nil
    become(fresh)
  }

  // MARK: Steps

  /// Writes, and reads back.
  private func keepPlain(_ data: Data) throws {
    let context = silentContext()
    try storage.write(data, to: .plain, in: context)
    guard try storage.read(.plain, in: context) == data else { throw VaultError.storingFailure }
  }

  /// Asks for a finger; then writes, reads back, and removes what was kept without one. `check` is asked again after each
  /// wait, since the program may have done something else meanwhile.
  private func keepGuarded(_ data: Data, _ check: () throws -> Void) async throws {
    let context = newContext()
    var error: NSError?
    guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
      throw error ?? VaultError.notAvailable as any Error
    }
    try await evaluateFinger(in: context)
    try check()
    let storage = self.storage
    try await Vault.elsewhere { () throws(VaultKeychainError) in
      try storage.write(data, to: .guarded, in: context)
      guard try storage.read(.guarded, in: context) == data else {
        throw VaultKeychainError(status: errSecDecode)
      }
    }
    do {
      try check()
    } catch {
      // It was reset, or something else was kept.
      if !state.isBiometricsSecured, !state.isLocked { try? storage.delete(.guarded, in: context) }
      throw error
    }
    try storage.delete(.plain, in: context)
    become(.biometricsSecured(VaultData(context: context)))
  }

  private func evaluateFinger(in context: LAContext) async throws {
    _ = try await context.evaluateAccessControl(
      try VaultStorage.accessControl(), operation: .useItem, localizedReason: Vault.reason)
  }

  private func read(_ place: VaultStorage.Place, in context: LAContext) throws -> Credentials {
    guard let bytes = try storage.read(place, in: context) else { throw VaultError.retrievalFailure }
    return try Vault.decode(Credentials.self, bytes)
  }

  private func become(_ new: VaultState<Credentials>) {
    if new.isKeychainSecured || new.isBiometricsSecured { loss = nil }
    state = new
    watchWhileUnavailable()
  }

  /// The credentials have ended: the error to throw.
  private func lost(in context: LAContext) -> any Error {
    guard let loss = storage.loss(in: context) else { return VaultError.retrievalFailure }
    return become(lost: loss)
  }

  private func become(lost loss: VaultLoss) -> VaultLoss {
    become(fresh)
    self.loss = loss
    return loss
  }

  // MARK: Contexts

  /// One of the same enclave as the program's.
  private func newContext() -> LAContext { origin.another() }

  private func silentContext() -> LAContext {
    let context = newContext()
    context.interactionNotAllowed = true
    return context
  }

  private func watchWhileUnavailable() {
    guard case .unavailable = state else {
      watch = nil
      return
    }
    guard watch == nil else { return }
    watch = VaultWatch(origin) { [weak self] in
      guard let self, case .unavailable = self.state else { return }
      let now = self.atStart()
      if case .unavailable = now { return }
      self.become(now)
    }
  }
}
