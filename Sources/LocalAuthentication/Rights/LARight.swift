internal import Synchronization
internal import WhorlClient

/// Something that a program does only after its user was authenticated: `authorize` asks for what it takes, `state` says
/// whether it was given.
///
/// What an authorization shows counts for nothing but this right. It lasts until ``deauthorize()`` or the end of the
/// right, in this process's own eyes: only the secret of a stored right (``LAPersistedRight/secret``) is held back by the
/// enclave itself.
open class LARight: NSObject, @unchecked Sendable {
  // Unchecked: a subclass may have state of its own; all there is here is constant or behind `authorization`.

  /// How a right stands. The numbers are Apple's.
  public enum State: Int, Sendable {
    /// Nobody has asked yet.
    case unknown = 0
    /// The person is being asked.
    case authorizing = 1
    /// It was given.
    case authorized = 2
    /// It was declined, or taken back.
    case notAuthorized = 3
  }

  struct Authorization {
    var state = State.unknown
    /// What was shown, for the secret of a stored right.
    var context: LAContext?
    var reason = ""
  }

  let requirement: LAAuthenticationRequirement
  let transport: (any BlockingTransport)?
  let authorization = Mutex(Authorization())
  private let number = Mutex(0)

  /// A right that asks for a finger or the password.
  public convenience override init() { self.init(requirement: .default) }

  /// A right that asks for that.
  public init(requirement: LAAuthenticationRequirement) {
    self.requirement = requirement
    transport = nil
  }

  /// A right at another enclave than the process's where one is given.
  init(_ requirement: LAAuthenticationRequirement, transport: (any BlockingTransport)?) {
    self.requirement = requirement
    self.transport = transport
  }

  /// How it stands.
  open var state: State { authorization.withLock { $0.state } }

  /// A number of the program's own.
  open var tag: Int {
    get { number.withLock { $0 } }
    set { number.withLock { $0 = newValue } }
  }

  /// Asks the person for what the right takes, each time anew. Cancelling the task ends it.
  /// - Throws: as ``LAContext/evaluateAccessControl(_:operation:localizedReason:)-(_,_,_)``.
  open func authorize(localizedReason: String) async throws {
    let context = newContext()
    let before = authorization.withLock { now in
      defer { now = Authorization(state: .authorizing, context: context, reason: localizedReason) }
      return now.context
    }
    before?.invalidate()
    do {
      try await context.evaluateAccessControl(
        SecAccessControl(requirement.control), operation: .useItem, localizedReason: localizedReason)
    } catch {
      conclude(.notAuthorized, context)
      throw error
    }
    conclude(.authorized, context)
  }

  /// Unless another authorization has begun, or this one was taken back, meanwhile.
  private func conclude(_ state: State, _ context: LAContext) {
    authorization.withLock { now in
      guard now.context === context else { return }
      now.state = state
      if state == .notAuthorized { now.context = nil }
    }
  }

  /// Whether the right could be given now, without asking anybody.
  /// - Throws: why it could not, as ``LAContext/canEvaluatePolicy(_:error:)`` says it.
  open func checkCanAuthorize() async throws {
    let steps = Evaluation.Steps(requirement.control, for: .useItem)
    try await newContext().check(steps)
  }

  /// Takes the right back; an authorization that is under way ends with `appCancel`.
  open func deauthorize() async {
    let context = authorization.withLock { now in
      defer { now = Authorization(state: .notAuthorized) }
      return now.context
    }
    context?.invalidate()
  }

  private func newContext() -> LAContext { transport.map { LAContext(transport: $0) } ?? LAContext() }
}

extension LAContext {
  /// Whether these could be evaluated now.
  fileprivate func check(_ steps: Evaluation.Steps) async throws {
    guard case .policies(let policies) = steps else { return }
    let status = try await onThread { [transport] () throws(WhorlError) in try transport.status() }
    for policy in policies {
      if let refusal = Availability(status).refusal(ofEnclave: policy) { throw refusal }
    }
  }
}
