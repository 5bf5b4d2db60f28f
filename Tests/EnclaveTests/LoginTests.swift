import Keychain
import SecretMemory
import Testing

@testable import Enclave

/// The steps of a login after the finger or the password.
@Suite(.timeLimit(.minutes(1))) struct LoginTests {
  private static let transaction = LoginTransaction([UInt8](repeating: 7, count: 16))
  private static let keyringSecret = "opens-the-keyring_0123456789ABCDEFGHIJKLMNO"

  /// A bench with a registered finger and the keyring's secret.
  private func bench(
    comment: String = LoginKeyring.armed, _ control: AccessControl? = nil, secret: String = keyringSecret
  ) async throws -> Bench {
    let bench = try Bench()
    try await bench.enrol()
    var attributes = ItemAttributes(service: LoginKeyring.service, account: LoginKeyring.account)
    attributes.comment = comment
    let usual = try AccessControl(protection: .alwaysThisDeviceOnly, constraints: [.userPresence])
    try await bench.enclave.add(
      user: Bench.alice, attributes: attributes, accessControl: control ?? usual,
      secret: secretBytes(secret))
    return bench
  }

  /// A login by finger, of that user, in a transaction.
  private func logIn(_ bench: Bench, at place: ReaderPlace = Bench.place, _ finger: Finger = .index) async throws {
    let before = bench.sensor.armings.events.count
    let login = Task {
      try await bench.enclave.authenticate(user: Bench.alice, transaction: Self.transaction)
    }
    let request = try await bench.sensor.armed(before + 1)
    var touch = finger.touch(of: request)
    touch.place = place
    bench.sensor.end(.success(.match(touch)))
    _ = try await login.value
  }

  private struct Completion: Equatable {
    var proven: Bool
    var unlocked: Bool
    var keyring: String?
  }

  private func complete(
    _ bench: Bench, of user: UserID = Bench.alice, _ transaction: LoginTransaction? = transaction,
    passcode: String? = nil, keyring: Bool = true
  ) async throws -> Completion {
    let passcode: SecretBytes? = if let passcode { try secretBytes(passcode) } else { nil }
    let completion = try await bench.enclave.completeLogin(
      ContextOwner(connection: ":1.5", user: user), transaction: transaction, passcode: passcode,
      wantsKeyring: keyring)
    let secret: String? =
      switch completion.keyringSecret {
      case .some(let secret): secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      case .none: nil
      }
    return Completion(proven: completion.isProven, unlocked: completion.isUnlocked, keyring: secret)
  }

  @Test func `A finger's login is given the keyring's secret, once`() async throws {
    let bench = try await bench()
    try await logIn(bench)
    #expect(try await complete(bench) == Completion(proven: true, unlocked: false, keyring: Self.keyringSecret))
    #expect(try await complete(bench) == Completion(proven: false, unlocked: false))
  }

  @Test func `Another login, another user's or one without a touch is given nothing`() async throws {
    let bench = try await bench()
    #expect(try await complete(bench).keyring == nil, "no touch at all")
    try await logIn(bench)
    let other = LoginTransaction([UInt8](repeating: 8, count: 16))
    #expect(try await complete(bench, other) == Completion(proven: false, unlocked: false))
    #expect(try await complete(bench, nil) == Completion(proven: false, unlocked: false))
    #expect(try await complete(bench, of: Bench.bob).proven == false)
    #expect(try await complete(bench).keyring == nil, "whoever asked wrongly has used it up")
  }

  @Test func `A touch counts for two minutes`() async throws {
    let bench = try await bench()
    try await logIn(bench)
    bench.clock.advance(seconds: 119)
    #expect(try await complete(bench).keyring != nil)
    try await logIn(bench)
    bench.clock.advance(seconds: 120)
    #expect(try await complete(bench) == Completion(proven: false, unlocked: false))
  }

  @Test func `A finger that opens logins alone opens no keyring`() async throws {
    let bench = try await bench()
    try await logIn(bench, .middle)
    #expect(try await complete(bench) == Completion(proven: false, unlocked: false))
    try await logIn(bench, at: TrustTests.lookAlike)
    #expect(try await complete(bench) == Completion(proven: false, unlocked: false))
  }

  @Test func `A lockout between two steps ends what was shown before it`() async throws {
    let bench = try await bench()
    try await logIn(bench)
    try await bench.miss(5)
    #expect(try await complete(bench).proven == false)
  }

  @Test func `The right password unlocks, ends a lockout and brings the keyring's secret`() async throws {
    let bench = try await bench()
    try await bench.miss(5)
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
    #expect(await bench.enclave.wantsLoginPasscode(of: Bench.alice, forKeyring: false))
    #expect(
      try await complete(bench, nil, passcode: ScriptedPasscode.right)
        == Completion(proven: true, unlocked: true, keyring: Self.keyringSecret))
    #expect(await !bench.enclave.isLockedOut(user: Bench.alice))
    #expect(await !bench.enclave.wantsLoginPasscode(of: Bench.alice, forKeyring: false))
    #expect(await bench.enclave.wantsLoginPasscode(of: Bench.alice, forKeyring: true))
  }

  @Test func `A wrong password gives nothing and counts, whatever the login program thought of it`() async throws {
    let bench = try await bench()
    let error = await enclaveError { _ = try await complete(bench, nil, passcode: "wrong") }
    guard case .authenticationFailed? = error else { Issue.record("\(String(describing: error))"); return }
    #expect(try bench.recordOnDisk().passcodeFailures == 1)
    // Not even with a touch: the login was let in by one of them, and said that it was the password.
    try await logIn(bench)
    _ = await enclaveError { _ = try await complete(bench, passcode: "wrong") }
    #expect(try await complete(bench).keyring == nil)
  }

  @Test func `One of which nobody learns what came of it counts for nothing, and the right one still does its work`()
    async throws
  {
    let bench = try await bench()
    for passcode in ["a one-time code", "another", "a third", "a fourth"] {
      let error = await enclaveError {
        _ = try await bench.enclave.completeLogin(
          .alice, transaction: nil, passcode: try secretBytes(passcode), wantsKeyring: false, counts: false)
      }
      guard case .authenticationFailed? = error else { Issue.record("\(String(describing: error))"); return }
    }
    #expect(try bench.recordOnDisk().passcodeFailures == 0)
    #expect(try await complete(bench, nil, passcode: ScriptedPasscode.right).unlocked)
  }

  @Test func `A secret that was not seen to open the keyring is not given`() async throws {
    let bench = try await bench(comment: "pending")
    try await logIn(bench)
    #expect(try await complete(bench) == Completion(proven: true, unlocked: false))
    #expect(try await complete(bench, nil, passcode: ScriptedPasscode.right).keyring == nil)
    #expect(await !bench.enclave.wantsLoginPasscode(of: Bench.alice, forKeyring: true))
  }

  @Test(arguments: [
    "correct horse", "", String(repeating: "A", count: 42), String(repeating: "A", count: 44),
    String(repeating: "A", count: 42) + "\n", "$(id)" + String(repeating: "A", count: 38),
    String(repeating: "A", count: 42) + "=",
  ])
  func `What is no secret of Whorl's is not given to root's modules`(secret: String) async throws {
    let bench = try await bench(secret: secret)
    try await logIn(bench)
    #expect(try await complete(bench) == Completion(proven: true, unlocked: false))
  }

  @Test func `One that wants more than was shown is not given`() async throws {
    let both = try AccessControl(
      protection: .alwaysThisDeviceOnly, constraints: [.biometryAny, .devicePasscode], combination: .and)
    let bench = try await bench(both)
    try await logIn(bench)
    #expect(try await complete(bench) == Completion(proven: true, unlocked: false))
    #expect(try await complete(bench, nil, passcode: ScriptedPasscode.right).keyring == nil)
  }

  @Test func `What is given and refused is in the log`() async throws {
    let bench = try await bench()
    let log = Recorder()
    await bench.enclave.setRecorder(log)
    try await logIn(bench)
    _ = try await complete(bench)
    #expect(log.events.events.map(\.deed) == ["read"])
    #expect(log.events.events.first?.error == nil)
    #expect(log.events.events.first?.owner.user == Bench.alice)
  }

  private final class Recorder: ReleaseRecorder {
    let events = EventLog<ReleaseEvent>()
    func record(_ event: ReleaseEvent) { events.append(event) }
  }

  // MARK: Changes of the password

  private func unlocked() async throws -> Bench {
    let bench = try Bench()
    try await bench.givePasscode(to: try await bench.context())
    try await bench.store("kept", as: "mail", try AccessControl(protection: .afterFirstUnlock))
    return bench
  }

  private func change(_ bench: Bench, to new: String, from former: String?) async -> EnclaveError? {
    await enclaveError {
      let former: SecretBytes? = if let former { try secretBytes(former) } else { nil }
      try await bench.enclave.passcodeChanged(of: Bench.alice, to: try secretBytes(new), former: former)
    }
  }

  @Test(arguments: [true, false]) func `The new password opens the keychain after a restart`(isLocked: Bool)
    async throws
  {
    var bench = try await unlocked()
    if isLocked { bench = try bench.restarted() }
    bench.passcodes.setRight("battery staple")
    #expect(await change(bench, to: "battery staple", from: isLocked ? ScriptedPasscode.right : nil) == nil)
    let restarted = try bench.restarted()
    restarted.passcodes.setRight("battery staple")
    let context = try await restarted.context()
    try await restarted.givePasscode("battery staple", to: context)
    #expect(try await restarted.get("mail", in: context) == "kept")
  }

  @Test(arguments: [nil, "not that"])
  func `A locked keychain waits for the former one, and nothing is lost`(former: String?) async throws {
    let bench = try await unlocked().restarted()
    bench.passcodes.setRight("battery staple")
    #expect(await change(bench, to: "battery staple", from: former) == .formerPasscodeNeeded)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .formerPasscodeNeeded)
    try await bench.enclave.provideFormerPasscode(
      context, owner: .alice, passcode: try secretBytes(ScriptedPasscode.right))
    #expect(try await bench.get("mail", in: context) == "kept")
  }

  @Test func `A new password is not taken at its giver's word`() async throws {
    let bench = try await unlocked()
    guard case .authenticationFailed? = await change(bench, to: "mine", from: ScriptedPasscode.right) else {
      Issue.record("taken")
      return
    }
    let restarted = try bench.restarted()
    let context = try await restarted.context()
    try await restarted.givePasscode(to: context)
    #expect(try await restarted.get("mail", in: context) == "kept")
  }
}
