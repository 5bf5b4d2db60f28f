internal import Synchronization
internal import WhorlClient

/// One evaluation: what it asks for, and its run on a thread of its own, where it may wait for a person.
struct Evaluation: Sendable {
  typealias Reply = @Sendable (Bool, (any Error)?) -> Void

  /// What is asked for, one after the other.
  enum Steps: Sendable {
    case policies([WhorlPolicy])
    /// Only after the program gave a password of its own to the context.
    case withPassword([WhorlPolicy])
    /// It cannot be evaluated at all.
    case refused(NSError)
  }

  let steps: Steps
  let reason: String
  /// Whether the person may choose another way than the finger where the passcode would not do, for the program to offer.
  var offersFallback = false

  /// Runs it and calls `reply` on its thread; on the caller's where there is no thread to be had.
  func run(in core: ContextCore, _ cancellation: Cancellation?, _ reply: @escaping Reply) {
    let isStarted = LibraryThread.start { [self] in
      do throws(NSError) {
        try evaluate(core, cancellation ?? Cancellation())
        reply(true, nil)
      } catch {
        reply(false, error)
      }
    }
    if !isStarted { reply(false, NSError.localAuthentication(LibraryThread.unavailable)) }
  }

  private func evaluate(_ core: ContextCore, _ cancellation: Cancellation) throws(NSError) {
    guard !reason.isEmpty else {
      throw .status(errSecParam, "localizedReason is empty; say what the person is asked for.")
    }
    if core.isInvalidated {
      throw .localAuthentication(.invalidContext, "The authentication context was invalidated; make a new one")
    }
    let policies: [WhorlPolicy]
    switch steps {
    case .refused(let error): throw error
    case .policies(let all): policies = all
    case .withPassword(let all):
      guard core.hasPassword else {
        throw .localAuthentication(
          .notInteractive, "This needs the program's own password and nobody asks for that; give it with setCredential")
      }
      policies = all
    }
    cancellation.before { [weak core] in core?.countCancellation() }
    var sawFinger = false
    for policy in policies {
      do throws(WhorlError) {
        if try evaluate(policy, core, cancellation).contains(.biometryAny) { sawFinger = true }
      } catch {
        refresh(core, keepsDomainState: true)
        // What began before the context was invalidated ends by the program's wish.
        throw .localAuthentication(error.code == .invalidContext && core.isInvalidated ? ContextCore.ended : error)
      }
    }
    if sawFinger { refresh(core, keepsDomainState: false) }
  }

  private func evaluate(
    _ policy: WhorlPolicy, _ core: ContextCore, _ cancellation: Cancellation
  ) throws(WhorlError) -> [WhorlConstraint] {
    while true {
      let cancelled = core.cancellations
      do throws(WhorlError) {
        return try core.with { context throws(WhorlError) in
          var prompt = WhorlPrompt(reason: reason, interactionNotAllowed: core.forbidsInteraction)
          prompt.offersFallback = offersFallback
          return try core.transport.evaluate(policy, in: context, prompt: prompt, token: cancellation.token())
        }
      } catch {
        // The enclave ends everything in a context when one evaluation of it is cancelled: this one was not meant.
        guard error.code == .appCancel, core.cancellations != cancelled, !cancellation.isCancelled,
          !core.isInvalidated
        else { throw error }
      }
    }
  }

  /// Notes what kind of reader there is, and after a touch the state of the set of fingers.
  private func refresh(_ core: ContextCore, keepsDomainState: Bool) {
    // What was evaluated stays evaluated where the daemon has gone meanwhile.
    guard let status = try? core.transport.status() else { return }
    let availability = Availability(status)
    core.settings.withLock { settings in
      settings.biometryType = availability.biometryType
      if !keepsDomainState { settings.domainState = availability.domainState }
    }
  }
}

extension ContextCore {
  /// Whether the program forbids prompts.
  var forbidsInteraction: Bool { settings.withLock { $0.interactionNotAllowed } }
}

extension Evaluation.Steps {
  /// Those of a policy.
  init(_ policy: LAPolicy) {
    switch policy {
    case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
      self = .policies([.biometrics])
    case .deviceOwnerAuthentication: self = .policies([.owner])
    case .deviceOwnerAuthenticationWithCompanion: self = .refused(Availability.noCompanion)
    }
  }

  /// Those of an access control: by the rules by which the enclave opens an item.
  init(_ control: WhorlAccessControl, for operation: LAAccessControlOperation) {
    switch operation {
    case .createItem, .createKey: self = .policies([])
    case .useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange:
      let policies = Self.policies(control.constraints)
      self = control.constraints.contains(.applicationPassword) ? .withPassword(policies) : .policies(policies)
    }
  }

  private static func policies(_ constraints: [WhorlConstraint]) -> [WhorlPolicy] {
    let isFinger = constraints.contains(.biometryAny) || constraints.contains(.biometryCurrentSet)
    let isPasscode = constraints.contains(.devicePasscode)
    let isEither = constraints.contains(.userPresence)
    if constraints.contains(.or) {
      switch (isFinger || isEither, isPasscode || isEither) {
      case (true, true): return [.owner]
      case (true, false): return [.biometrics]
      case (false, true): return [.passcode]
      case (false, false): return []
      }
    }
    // All of them, the passcode first: it counts for longer than a touch. Presence is there with either of the others.
    if isFinger || isPasscode { return (isPasscode ? [.passcode] : []) + (isFinger ? [.biometrics] : []) }
    return isEither ? [.owner] : []
  }
}
