public import Keychain

extension Enclave {
  /// Establishes a policy in a context: returns at once where the context covers it, else asks for a finger.
  ///
  /// A finger must be a registered one, since what the context remembers can release secrets.
  /// - Returns: the constraints that are satisfied by what was shown.
  /// - Throws: `.invalidContext`, `.notInteractive`, `.passcodeNeeded` (policies `owner` and `passcode`: give it with `providePasscode`
  ///   and ask again), and what a wait for a finger ends with.
  public func evaluate(
    _ context: ContextID, owner: ContextOwner, policy: Policy, options: VerificationOptions = VerificationOptions(),
    progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> [Constraint] {
    let need = policy.need
    var touch: Touch?
    while true {
      try requireContext(context, owner)
      guard !Task.isCancelled else { throw .appCancel }
      if let touch {
        try requireForSecrets(touch, of: owner.user)
        // With a reuse time, `matched` has noted the touch already, at its own time.
        if contexts[context]?.reuse == 0 { contexts[context]?.touched(at: clock.uptime()) }
        return Self.satisfied(by: .biometry)
      }
      if let means = contexts[context]?.takeForPolicy(need, at: clock.uptime()) { return Self.satisfied(by: means) }
      touch = try await ask(context, owner, need, options, progress)
    }
  }

  /// One verification for PAM: any print of the user's on the disk will do, on any reader, unless trust is demanded.
  /// Counts misses, releases nothing.
  ///
  /// The caller's right to ask for that user is the daemon's to check. Cancelling the task ends the wait.
  /// - Parameters:
  ///   - connection: the bus connection of the program that asks.
  ///   - demandsTrust: whether only what would open a secret will do: a registered print on a trusted reader.
  ///   - transaction: the login that this is part of; a touch that would open a secret is remembered for the step that
  ///     follows (`completeLogin`).
  /// - Returns: the name of the finger that matched.
  public func authenticate(
    user: UserID, for connection: String = "", demandsTrust: Bool = false, transaction: LoginTransaction? = nil,
    options: VerificationOptions = VerificationOptions(), progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> String {
    try requireUnlocked(user)  // at once, without waiting in a queue
    let proof = try await touch(
      of: user, for: connection, context: nil, need: .biometry, scope: demandsTrust ? .secret : .login,
      options: options, progress: progress)
    guard !Task.isCancelled else { throw .appCancel }
    guard case .touch(let touch) = proof else { throw .failed("a login was let through without a touch; refused") }
    if demandsTrust { try requireForSecrets(touch, of: user) }
    if let transaction { rememberTouch(touch, of: user, in: transaction) }
    return touch.finger
  }

  /// Asks for what a need takes: waits for a finger, or says that the passcode is wanted.
  /// - Returns: the touch made for this request; nil where the context has come to cover it.
  func ask(
    _ context: ContextID, _ owner: ContextOwner, _ need: AuthenticationContext.Need, _ options: VerificationOptions,
    _ progress: @escaping ProgressHandler, isLocked: Bool = false
  ) async throws(EnclaveError) -> Touch? {
    guard try !requireContext(context, owner).interactionNotAllowed, options.allowsInteraction else {
      throw .notInteractive
    }
    guard need != .passcode else { throw await passcodeWanted(of: owner.user, isLocked ? .locked : .required) }
    if need == .both, contexts[context]?.hasPasscode(at: clock.uptime()) != true {
      // The passcode first: it is kept for the moment that a touch takes.
      throw await passcodeWanted(of: owner.user, .required)
    }
    do {
      try requireUnlocked(owner.user)
      let proof = try await touch(
        of: owner.user, for: owner.connection, context: context, need: need, scope: .secret, options: options,
        progress: progress)
      guard case .touch(let touch) = proof else { return nil }
      return touch
    } catch {
      guard need.takesPasscode, let reason = Self.reasonForPasscode(error) else { throw error }
      throw await passcodeWanted(of: owner.user, reason)
    }
  }

  /// What to answer where only the passcode leads on.
  func passcodeWanted(of user: UserID, _ reason: PasscodeReason) async -> EnclaveError {
    do {
      let seconds = try passcodeWait(of: user)
      guard seconds == 0 else { return .passcodeDelayed(seconds: seconds) }
    } catch {
      return error
    }
    return await passcodes.state(of: user).isWorthAsking ? .passcodeNeeded(reason) : .passcodeNotSet
  }

  private static func reasonForPasscode(_ error: EnclaveError) -> PasscodeReason? {
    switch error {
    case .userFallback: .chosen
    case .biometryLockout: .lockedOut
    case .biometryNotEnrolled: .notEnrolled
    case .biometryNotAvailable(let why), .sensor(let why): .noReader(why)
    default: nil
    }
  }

  private static func satisfied(by means: AuthenticationContext.Means) -> [Constraint] {
    switch means {
    case .biometry: [.userPresence, .biometryAny, .biometryCurrentSet]
    case .passcode: [.userPresence, .devicePasscode]
    }
  }
}
