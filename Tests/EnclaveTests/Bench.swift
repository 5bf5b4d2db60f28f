import Keychain
import SecretMemory
import TestKit
import Testing

@testable import Enclave

/// An enclave over a real keychain in a folder of its own, with everything around it scripted.
final class Bench: Sendable {
  static let reader = "virtual/0"
  /// Where the scripted reader stands.
  static let place = ReaderPlace(driver: "virtual", deviceID: "0", path: "desk", hardware: "", attachment: .virtual)
  static let alice = UserID(1000)
  static let bob = UserID(1001)

  let folder: TemporaryFolder
  let sensor = ScriptedSensor()
  let passcodes = ScriptedPasscode()
  let keys = ScriptedKey()
  let clock: ManualClock
  let enclave: Enclave

  init(folder: TemporaryFolder? = nil, clock: ManualClock = ManualClock()) throws {
    self.folder = try folder ?? TemporaryFolder()
    self.clock = clock
    enclave = Enclave(
      stateDirectory: self.folder.path, deviceKeys: keys, sensor: sensor, passcode: passcodes, clock: clock,
      stretching: .none,
      names: [Self.alice: .named("alice"), Self.bob: .named("bob")])
  }

  /// The daemon is started again: another enclave over the same state.
  func restarted() throws -> Bench { try Bench(folder: folder, clock: clock) }

  /// A finger is registered, and its reader trusted, as if the passcode had been given for it.
  func enrol(_ finger: Finger = .index, of user: UserID = alice) async throws {
    _ = try await enclave.register([finger.stored()], of: user)
  }

  func context(
    of owner: ContextOwner = .alice, reuse: Int = 0, interactionNotAllowed: Bool = false
  ) async throws -> ContextID {
    try await enclave.createContext(owner: owner, reuse: reuse, interactionNotAllowed: interactionNotAllowed)
  }

  /// Stores a secret under a service name.
  func store(
    _ secret: String, as service: String, _ constraint: Constraint?, of user: UserID = alice
  ) async throws {
    let control = try AccessControl(constraints: constraint.map { [$0] } ?? [])
    try await enclave.add(
      user: user, attributes: ItemAttributes(service: service, account: "me"), accessControl: control,
      secret: secretBytes(secret))
  }

  /// Stores a secret under a service name and an access control.
  func store(_ secret: String, as service: String, _ control: AccessControl, in context: ContextID? = nil) async throws
  {
    try await enclave.add(
      user: Self.alice, attributes: ItemAttributes(service: service, account: "me"), accessControl: control,
      secret: secretBytes(secret), context: context.map { ($0, .alice) })
  }

  /// Asks for a secret; its text.
  func get(
    _ service: String, in context: ContextID, owner: ContextOwner = .alice, timeout: Int = 30, maxTries: Int = 3,
    noWait: Bool = false, progress: EventLog<VerificationProgress>? = nil
  ) async throws -> String {
    let options = try VerificationOptions(timeout: timeout, maxTries: maxTries, noWait: noWait)
    let secret = try await enclave.copySecret(
      context, owner: owner, query: ItemQuery(service: service), options: options,
      progress: { progress?.append($0) })
    return secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// `get` in a task of its own.
  func getting(
    _ service: String, in context: ContextID, owner: ContextOwner = .alice, timeout: Int = 30, maxTries: Int = 3,
    noWait: Bool = false, progress: EventLog<VerificationProgress>? = nil
  ) -> Task<String, any Error> {
    Task {
      try await self.get(
        service, in: context, owner: owner, timeout: timeout, maxTries: maxTries, noWait: noWait, progress: progress)
    }
  }

  /// A login in a task of its own.
  func loggingIn(
    _ user: UserID = alice, timeout: Int = 30, maxTries: Int = 3, noWait: Bool = false,
    progress: EventLog<VerificationProgress>? = nil
  ) -> Task<String, any Error> {
    Task {
      try await self.enclave.authenticate(
        user: user, options: try VerificationOptions(timeout: timeout, maxTries: maxTries, noWait: noWait),
        progress: { progress?.append($0) })
    }
  }

  func givePasscode(
    _ text: String = ScriptedPasscode.right, to context: ContextID, owner: ContextOwner = .alice
  ) async throws {
    try await enclave.providePasscode(context, owner: owner, passcode: secretBytes(text))
  }

  /// So many misses of a login, one after the other.
  func miss(_ count: Int, of user: UserID = alice) async throws {
    for _ in 0..<count {
      let before = sensor.armings.events.count
      let login = loggingIn(user, maxTries: 1)
      try await sensor.armed(before + 1)
      sensor.pressWrong()
      _ = await login.result
    }
  }

  /// The lockout record as it is on the disk, read through another connection.
  func recordOnDisk(of user: UserID = alice) throws -> LockoutRecord { try keychainOnDisk(of: user).lockout() }

  /// A user's keychain through another connection; a new one without an owner where there was none.
  func keychainOnDisk(of user: UserID = alice) throws -> UserKeychain {
    try UserKeychain(
      directory: folder("users/\(user.rawValue)"), user: user, deviceKey: try ScriptedKey.key(),
      now: UserKeychain.systemTime)
  }

  /// Nothing waits, nothing runs, nothing is held.
  func expectIdle(_ location: SourceLocation = #_sourceLocation) async {
    // The sensor lets go in a task of its own, a moment after the request's end.
    while await !enclave.isIdle, !Task.isCancelled { await Task.yield() }
    #expect(!sensor.isArmed, sourceLocation: location)
    #expect(sensor.mostAtOnce <= 1, sourceLocation: location)
  }
}

extension ContextOwner {
  static let alice = ContextOwner(connection: ":1.10", user: Bench.alice)
  static let bob = ContextOwner(connection: ":1.20", user: Bench.bob)
}

extension Enclave {
  var isIdle: Bool { operations.isEmpty && queue.count == 0 && active == nil }
  func setLockoutFault(_ error: KeychainError?) { lockoutFault = error }
}

func secretBytes(_ text: String) throws -> SecretBytes {
  let bytes = Array(text.utf8)
  return try SecretBytes(copying: bytes.span.bytes)
}

/// The enclave's error that `body` ends with; nil where it ends well.
func enclaveError(_ body: () async throws -> Void) async -> EnclaveError? {
  do {
    try await body()
    return nil
  } catch {
    if let error = error as? EnclaveError { return error }
    Issue.record("not an error of the enclave: \(error)")
    return nil
  }
}

extension Task where Success == String, Failure == any Error {
  /// The enclave's error that the task ends with; nil where it ends well.
  var error: EnclaveError? {
    get async {
      switch await result {
      case .success: nil
      case .failure(let error): error as? EnclaveError
      }
    }
  }
}
