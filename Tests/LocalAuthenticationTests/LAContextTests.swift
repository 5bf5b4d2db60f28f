import LocalAuthentication
import Testing
import WhorlClient

/// What LAContext asks the enclave for, and what it makes of the answers.
struct LAContextTests {
  /// The code of the LAError that an evaluation ends with; nil where it ends well.
  private func evaluate(
    _ policy: LAPolicy = .deviceOwnerAuthentication, in context: LAContext
  ) async -> LAError.Code? {
    do {
      return try await context.evaluatePolicy(policy, localizedReason: "to test") ? nil : .biometryNotPaired
    } catch {
      return (error as? LAError)?.code ?? .biometryNotPaired
    }
  }

  // MARK: Errors

  private static let errors: [(WhorlError.Code, LAError.Code)] = [
    (.authenticationFailed, .authenticationFailed), (.passcodeDelayed, .authenticationFailed),
    (.timedOut, .authenticationFailed), (.denied, .authenticationFailed), (.userCancel, .userCancel),
    (.userFallback, .userFallback), (.systemCancel, .systemCancel), (.busy, .systemCancel),
    (.disconnected, .systemCancel), (.passcodeNotSet, .passcodeNotSet),
    (.biometryNotAvailable, .biometryNotAvailable), (.readerFailed, .biometryNotAvailable),
    (.noDaemon, .biometryNotAvailable), (.impostor, .biometryNotAvailable), (.noAnswer, .biometryNotAvailable),
    (.badAnswer, .biometryNotAvailable), (.storeUnavailable, .biometryNotAvailable),
    (.storeDamaged, .biometryNotAvailable), (.storeTooNew, .biometryNotAvailable),
    (.failed, .biometryNotAvailable), (.secretMemory, .biometryNotAvailable),
    (.unsupported, .biometryNotAvailable), (.biometryNotEnrolled, .biometryNotEnrolled),
    (.biometryLockout, .biometryLockout), (.appCancel, .appCancel), (.cancelled, .appCancel),
    (.notInteractive, .notInteractive), (.passcodeNeeded, .notInteractive),
    (.formerPasscodeNeeded, .notInteractive), (.locked, .notInteractive),
    (.applicationPasswordNeeded, .notInteractive),
  ]

  @Test(arguments: errors) func `What the enclave says becomes the LAError for it, with its words`(
    code: WhorlError.Code, expected: LAError.Code
  ) async throws {
    let context = LAContext(transport: FakeEnclave(outcomes: [code]))
    do {
      _ = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to test")
      Issue.record("nothing was thrown")
    } catch let error as LAError {
      #expect(error.code == expected)
      #expect(error.localizedDescription == "It was scripted.")
      #expect((error.userInfo[NSUnderlyingErrorKey] as? WhorlError)?.code == code)
    }
  }

  // MARK: Status

  private func status(_ biometry: String, passcode: String = "set", store: String = "") -> WhorlStatus {
    var status = WhorlStatus()
    (status.biometry, status.passcode, status.storeError) = (biometry, passcode, store)
    return status
  }

  @Test(
    arguments: [
      ("available", nil, nil), ("locked-out", .biometryLockout, .passcodeNotSet),
      ("not-enrolled", .biometryNotEnrolled, .passcodeNotSet), ("no-reader", .biometryNotAvailable, .passcodeNotSet),
      ("not-trusted", .biometryNotAvailable, .passcodeNotSet), ("failed", .biometryNotAvailable, .passcodeNotSet),
      ("", .biometryNotAvailable, .passcodeNotSet),
    ] as [(String, LAError.Code?, LAError.Code?)])
  func `Each state of biometry has its error, and with a passcode the owner can always be asked`(
    biometry: String, alone: LAError.Code?, withoutPasscode: LAError.Code?
  ) {
    func refusal(_ policy: LAPolicy, passcode: String) -> LAError.Code? {
      let context = LAContext(
        transport: FakeEnclave(status: .success(status(biometry, passcode: passcode))))
      var error: NSError?
      let can = context.canEvaluatePolicy(policy, error: &error)
      #expect(can == (error == nil))
      #expect(context.canEvaluatePolicy(policy, error: nil) == can, "nil for the error will do")
      return (error as? LAError)?.code
    }
    for passcode in ["set", "not-set"] {
      #expect(refusal(.deviceOwnerAuthenticationWithBiometrics, passcode: passcode) == alone)
    }
    #expect(refusal(.deviceOwnerAuthentication, passcode: "set") == nil)
    #expect(refusal(.deviceOwnerAuthentication, passcode: "not-set") == withoutPasscode)
  }

  @Test func `A store that cannot be had is no lack of a passcode`() {
    let context = LAContext(
      transport: FakeEnclave(status: .success(status("failed", store: "the disk is full"))))
    var error: NSError?
    #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
    #expect((error as? LAError)?.code == .biometryNotAvailable)
    #expect(error?.localizedDescription == "The disk is full.")
  }

  // MARK: Contexts

  @Test func `Nothing is asked of the enclave before it is needed, and its context ends with the program's`() async {
    let enclave = FakeEnclave()
    do {
      let context = LAContext(transport: enclave)
      #expect(enclave.made.isEmpty)
      #expect(await evaluate(in: context) == nil)
      #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics, in: context) == nil)
      #expect(enclave.invalidated.isEmpty)
    }
    #expect(enclave.made == [300])
    #expect(enclave.invalidated == [1])
    #expect(enclave.policies == [.owner, .biometrics])
  }

  @Test(
    arguments: [
      (0, 300), (-1, 300), (.nan, 300), (0.2, 1), (10, 10), (10.5, 11), (299.5, 300), (300, 300), (1e12, 300),
      (.infinity, 300),
    ] as [(TimeInterval, UInt32)])
  func `The reuse duration is in whole seconds and has a limit`(duration: TimeInterval, seconds: UInt32) async {
    let enclave = FakeEnclave()
    let context = LAContext(transport: enclave)
    context.touchIDAuthenticationAllowableReuseDuration = duration
    #expect(await evaluate(in: context) == nil)
    #expect(enclave.made == [seconds])
  }

  @Test func `A reuse duration that changes counts from the next evaluation on, in which nothing was shown yet`() async
  {
    let enclave = FakeEnclave()
    let context = LAContext(transport: enclave)
    #expect(await evaluate(in: context) == nil)
    context.touchIDAuthenticationAllowableReuseDuration = 5
    #expect(await evaluate(in: context) == nil)
    #expect(enclave.made == [300, 5] && enclave.invalidated == [1])
    #expect(enclave.evaluated.map(\.context) == [1, 2])
  }

  @Test func `After a restart of the daemon a new context takes over, once`() async {
    let enclave = FakeEnclave(outcomes: [nil, .invalidContext, nil, .invalidContext, .invalidContext])
    let context = LAContext(transport: enclave)
    #expect(context.setCredential(Data([7]), type: .applicationPassword))
    #expect(await evaluate(in: context) == nil)
    #expect(await evaluate(in: context) == nil)
    #expect(enclave.evaluated.map(\.context) == [1, 1, 2])
    #expect(enclave.passwords == [1: [7], 2: [7]])
    #expect(await evaluate(in: context) == .invalidContext, "no endless attempts")
    #expect(enclave.evaluated.map(\.context) == [1, 1, 2, 2, 3])
  }

  @Test func `A context that is invalidated while it is made ends as the program's wish`() async {
    // Its first request invalidates it.
    let holder = Holder()
    let enclave = FakeEnclave(whileMaking: { holder.context?.invalidate() })
    let context = LAContext(transport: enclave)
    holder.context = context
    #expect(await evaluate(in: context) == .appCancel)
    #expect(enclave.invalidated == [1] && enclave.evaluated.isEmpty)
    #expect(await evaluate(in: context) == .invalidContext)
    #expect(enclave.made.count == 1)
  }

  // MARK: Settings

  @Test func `Reason and whether anybody may be asked go along; what is set is kept`() async {
    let enclave = FakeEnclave()
    let context = LAContext(transport: enclave)
    context.localizedReason = "to read"
    context.localizedFallbackTitle = "PIN"
    context.localizedCancelTitle = "Later"
    context.maxBiometryFailures = 2
    context.interactionNotAllowed = true
    #expect(await evaluate(in: context) == nil)
    #expect(enclave.evaluated == [.init(policy: .owner, context: 1, reason: "to test", interactionNotAllowed: true)])
    #expect(context.prompt().reason == "to read" && context.prompt("to write").reason == "to write")
    #expect(context.prompt().interactionNotAllowed)
    #expect(context.localizedFallbackTitle == "PIN" && context.localizedCancelTitle == "Later")
    #expect(context.maxBiometryFailures == 2)
    let fresh = LAContext(transport: enclave)
    #expect(fresh.localizedReason.isEmpty && !fresh.interactionNotAllowed)
    #expect(fresh.localizedFallbackTitle == nil && fresh.localizedCancelTitle == nil)
    #expect(fresh.touchIDAuthenticationAllowableReuseDuration == 0 && fresh.maxBiometryFailures == nil)
  }

  // MARK: Access controls

  private static let controls: [(SecAccessControlCreateFlags, [WhorlPolicy])] = [
    ([], []), ([.privateKeyUsage], []), ([.userPresence], [.owner]), ([.biometryAny], [.biometrics]),
    ([.biometryCurrentSet, .privateKeyUsage], [.biometrics]), ([.devicePasscode], [.passcode]),
    ([.biometryAny, .or, .devicePasscode], [.owner]), ([.biometryCurrentSet, .or, .devicePasscode], [.owner]),
    ([.biometryAny, .and, .devicePasscode], [.passcode, .biometrics]),
    ([.userPresence, .and, .devicePasscode], [.passcode]), ([.userPresence, .and, .biometryAny], [.biometrics]),
  ]

  @Test(arguments: controls) func `Each access control is evaluated by the policies that it comes to`(
    flags: SecAccessControlCreateFlags, policies: [WhorlPolicy]
  ) async throws {
    let control = try #require(
      SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
    for operation in [LAAccessControlOperation.useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange] {
      let enclave = FakeEnclave()
      let context = LAContext(transport: enclave)
      try await context.evaluateAccessControl(control, operation: operation, localizedReason: "to test")
      #expect(enclave.policies == policies)
    }
    for operation in [LAAccessControlOperation.createItem, .createKey] {
      let enclave = FakeEnclave()
      try await LAContext(transport: enclave).evaluateAccessControl(
        control, operation: operation, localizedReason: "to test")
      #expect(enclave.policies.isEmpty)
    }
  }

  // MARK: Subclasses

  /// What tests of programs for Apple's systems put in the place of a context.
  private final class Mock: LAContext, @unchecked Sendable {
    override var biometryType: LABiometryType { .faceID }
    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
      error?.pointee = NSError(domain: LAErrorDomain, code: LAError.passcodeNotSet.rawValue)
      return false
    }
    override func evaluatePolicy(
      _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
      reply(localizedReason == "yes", localizedReason == "no" ? LAError(.userCancel) : nil)
    }
  }

  @Test func `A list without an end, as no daemon gives it, ends as an error`() {
    WhorlEnclave.$scoped.withValue(FakeEnclave()) {
      let all: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ]
      var found: AnyObject?
      #expect(SecItemCopyMatching(all as CFDictionary, &found) == errSecDecode)
    }
  }

  @Test func `Where there is no thread to be had, the answer says so and comes all the same`() async {
    await LibraryThread.$stackBytes.withValue(1 << 46) {
      let context = LAContext(transport: FakeEnclave())
      await #expect {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to test")
      } throws: {
        ($0 as? LAError)?.code == .systemCancel
      }
    }
  }

  @Test func `A mock that overrides the form with a reply answers the async form, too`() async throws {
    let mock: LAContext = Mock()
    #expect(try await mock.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "yes"))
    #expect(try await !mock.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "neither"))
    await #expect(throws: LAError(.userCancel)) {
      try await mock.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "no")
    }
    var error: NSError?
    #expect(!mock.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
    #expect(error?.code == -5 && mock.biometryType == .faceID)
  }
}

/// A context that the enclave which plays for it has to know.
private final class Holder: @unchecked Sendable {
  // Unchecked: written before the one evaluation that reads it begins.
  weak var context: LAContext?
}
