internal import Synchronization
public import WhorlClient

/// Asks the person at the machine who they are, and remembers what was shown: what was evaluated in a context counts for
/// the keychain calls that are given it (`kSecUseAuthenticationContext`).
///
/// As Apple's, with these differences:
/// - It may be used from every thread and every actor at once.
/// - Nobody's main thread waits for a person: evaluations run on a thread of their own. ``canEvaluatePolicy(_:error:)`` and
///   ``biometryType`` ask the daemon for its status, which takes a moment and never prompts.
/// - Cancelling the task that waits for an evaluation ends the prompt; the error is `LAError.appCancel`.
/// - What was shown counts for five minutes, which is the most that the enclave allows, or for
///   ``touchIDAuthenticationAllowableReuseDuration``. It counts no more when the fingers change, when the sessions are
///   locked and when the daemon is started anew.
/// - What people see is the agent's (`whorl agent`, or the terminal): it names the program and shows the reason, and puts
///   its own words on its buttons.
open class LAContext: NSObject, EnclaveContextSource, @unchecked Sendable {
  // Unchecked: a subclass may have state of its own; all there is here is in `core`, behind its locks.
  let core: ContextCore

  /// A context in which nothing was shown yet. The enclave learns of it when it is first needed.
  public override init() {
    core = ContextCore(transport: WhorlEnclave.transport)
    super.init()
  }

  /// A context of another enclave than the process's, for tests.
  package init(transport: any BlockingTransport) {
    core = ContextCore(transport: transport)
    super.init()
  }

  // MARK: What can be evaluated

  /// Whether a policy can be evaluated now. Never prompts; takes the moment in which the daemon tells its status.
  ///
  /// A yes to ``LAPolicy/deviceOwnerAuthentication`` says that there is a finger or a password, not that an agent runs to
  /// ask for the password.
  /// - Parameter error: where it cannot: `passcodeNotSet`, `biometryNotAvailable`, `biometryNotEnrolled`,
  ///   `biometryLockout`, `companionNotAvailable` or `invalidContext` of ``LAError``.
  @discardableResult
  open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
    if let refusal = refusal(of: policy) {
      error?.pointee = refusal
      return false
    }
    return true
  }

  private func refusal(of policy: LAPolicy) -> NSError? {
    if core.isInvalidated {
      return .localAuthentication(.invalidContext, "The authentication context was invalidated; make a new one")
    }
    let availability: Availability
    do throws(WhorlError) {
      availability = Availability(try core.transport.status())
    } catch {
      core.settings.withLock { $0.biometryType = LABiometryType.none }
      return .localAuthentication(error)
    }
    let refusal = availability.refusal(of: policy)
    core.settings.withLock { settings in
      settings.biometryType = availability.biometryType
      if refusal == nil, policy != .deviceOwnerAuthentication { settings.domainState = availability.domainState }
    }
    return refusal
  }

  /// What kind of reader there is: that of the last look of this context at it, be it that an evaluation failed or could
  /// not be made; where it has not looked yet, it looks now.
  open var biometryType: LABiometryType {
    if let known = core.settings.withLock({ $0.biometryType }) { return known }
    guard let status = try? core.transport.status() else { return .none }
    let type = Availability(status).biometryType
    core.settings.withLock { $0.biometryType = type }
    return type
  }

  /// Bytes that change when a finger that opens secrets is enrolled or deleted, and only then: keep them, and compare them
  /// later. Nil until ``canEvaluatePolicy(_:error:)`` said yes to a biometric policy, or a finger was evaluated. They say
  /// nothing about fingers, and differ between users.
  open var evaluatedPolicyDomainState: Data? { core.settings.withLock { $0.domainState } }

  /// The state of the set of fingers as it is now; takes the moment in which the daemon tells its status.
  open var domainState: LADomainState {
    guard !core.isInvalidated, let status = try? core.transport.status() else {
      return LADomainState(LADomainStateBiometry(biometryType: .none, stateHash: nil))
    }
    let availability = Availability(status)
    return LADomainState(
      LADomainStateBiometry(biometryType: availability.biometryType, stateHash: availability.domainState))
  }

  // MARK: Evaluating

  /// Asks the person for what the policy takes, unless the context has seen it already.
  /// - Parameters:
  ///   - localizedReason: what the person is asked for, shown by the agent. Empty: the reply gets `errSecParam` in
  ///     NSOSStatusErrorDomain, where Apple's traps.
  ///   - reply: called once, on a thread of the library's, with true, or with false and an error of ``LAError``.
  open func evaluatePolicy(
    _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    Evaluation(
      steps: Evaluation.Steps(policy), reason: localizedReason,
      offersFallback: policy == .deviceOwnerAuthenticationWithBiometrics && localizedFallbackTitle != ""
    ).run(in: core, Cancellation.current, reply)
  }

  /// Asks the person for what the policy takes, unless the context has seen it already. Cancelling the task ends it.
  /// - Returns: true.
  /// - Throws: an error of ``LAError``; `errSecParam` in NSOSStatusErrorDomain for an empty reason.
  @discardableResult
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    try await Cancellation.awaiting {
      self.evaluatePolicy(policy, localizedReason: localizedReason, reply: $0)
    }
  }

  /// Asks the person for what an access control takes, by the rules by which the enclave opens an item that has it. Making
  /// items and keys takes nothing.
  /// - Parameters:
  ///   - localizedReason: as in ``evaluatePolicy(_:localizedReason:reply:)``.
  ///   - reply: called once, on a thread of the library's. Where the access control has a password of the program's own
  ///     and ``setCredential(_:type:)`` did not give it, the error is `notInteractive`: nobody asks for that.
  open func evaluateAccessControl(
    _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
    reply: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    Evaluation(steps: Evaluation.Steps(accessControl.control, for: operation), reason: localizedReason)
      .run(in: core, Cancellation.current, reply)
  }

  /// Asks the person for what an access control takes. Cancelling the task ends it.
  /// - Returns: true.
  /// - Throws: as ``evaluatePolicy(_:localizedReason:)``.
  @discardableResult
  open func evaluateAccessControl(
    _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
  ) async throws -> Bool {
    try await Cancellation.awaiting {
      self.evaluateAccessControl(
        accessControl, operation: operation, localizedReason: localizedReason, reply: $0)
    }
  }

  /// Ends the context for good: what runs in it ends with `appCancel`, what is asked of it from now on with
  /// `invalidContext`. Never waits.
  open func invalidate() { core.invalidate() }

  // MARK: Settings

  /// Gives the context the program's own password, for items that have one.
  /// - Parameters:
  ///   - credential: 1 to 4096 bytes, which are kept in guarded memory; nil takes back what was given.
  ///   - type: ``LACredentialType/applicationPassword``.
  /// - Returns: false for another type, for a password of another length, and where the context was invalidated.
  @discardableResult
  open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
    type == .applicationPassword && core.setPassword(credential)
  }

  /// Whether a credential of that type was given and not taken back.
  open func isCredentialSet(_ type: LACredentialType) -> Bool { type == .applicationPassword && core.hasPassword }

  /// Why the person is asked, for keychain calls that are given this context and have no `kSecUseOperationPrompt`.
  open var localizedReason: String {
    get { core.settings.withLock { $0.localizedReason } }
    set { core.settings.withLock { $0.localizedReason = newValue } }
  }

  /// The empty text takes the way round the finger out of ``LAPolicy/deviceOwnerAuthenticationWithBiometrics``. Any other
  /// leaves it there (``LAError/userFallback``), with the agent's own words on it.
  open var localizedFallbackTitle: String? {
    get { core.settings.withLock { $0.localizedFallbackTitle } }
    set { core.settings.withLock { $0.localizedFallbackTitle = newValue } }
  }

  /// Kept, and without effect: the agent has words of its own for its button.
  open var localizedCancelTitle: String? {
    get { core.settings.withLock { $0.localizedCancelTitle } }
    set { core.settings.withLock { $0.localizedCancelTitle = newValue } }
  }

  /// Whether evaluations and keychain calls in this context fail with `notInteractive` rather than prompt. What the context
  /// has seen already still counts.
  open var interactionNotAllowed: Bool {
    get { core.settings.withLock { $0.interactionNotAllowed } }
    set { core.settings.withLock { $0.interactionNotAllowed = newValue } }
  }

  /// For how many seconds a touch or password counts in this context, up to
  /// ``LATouchIDAuthenticationMaximumAllowableReuseDuration``; parts of a second count as a whole one. 0, as it is at
  /// first, and less: as long as there is.
  ///
  /// On Apple's systems it counts from the last unlocking of the device. The enclave knows nothing of that, so it counts
  /// from what was shown in this context. A new value counts from the next evaluation on, and what was shown before does
  /// not then.
  open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
    get { core.settings.withLock { $0.reuseDuration } }
    set { core.settings.withLock { $0.reuseDuration = newValue } }
  }

  /// Kept, and without effect, as on Apple's systems since it was deprecated: a request takes three touches.
  open var maxBiometryFailures: NSNumber? {
    get { core.settings.withLock { $0.maxBiometryFailures }.map { NSNumber(value: $0) } }
    set {
      let count = newValue?.intValue
      core.settings.withLock { $0.maxBiometryFailures = count }
    }
  }

  // MARK: For the keychain calls

  /// The way to its enclave.
  package var transport: any BlockingTransport { core.transport }

  /// Calls `body` with the enclave's context.
  package func withEnclaveContext<R: ~Copyable>(
    _ body: (WhorlContext) throws(WhorlError) -> R
  ) throws(WhorlError) -> R {
    try core.with(body)
  }
}
