internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain

/// What a request that may prompt is about, for the person who is asked.
struct PromptSubject: Sendable {
  /// What the program wants to do, by its name on the bus.
  enum Deed: String, Sendable {
    case read, change, authenticate
    case useKey = "use-key"
    case makeRecoveryKey = "make-recovery-key"
    case revokeRecoveryKey = "revoke-recovery-key"

    /// Whether what is shown for it must serve nothing else. Of an authentication it is the very sense that what follows
    /// builds on it.
    var isForItselfAlone: Bool { self != .authenticate }

    /// Whether it is about all of the user's secrets: no passcode that was asked for before serves it.
    var isAboutKeys: Bool { self == .makeRecoveryKey || self == .revokeRecoveryKey }
  }

  let context: ContextID
  let deed: Deed
  /// The program's own words; not cleaned yet.
  var reason = ""
  var item: ShownItem?
}

/// The context in which a request is to run.
struct PromptScope: Sendable {
  let context: ContextID
  let owner: ContextOwner
}

/// The item that a request is for, as the person is told of it: once told, the request can get no other one.
@GLibActor
final class ShownItem {
  private enum Found {
    case item(FoundItem)
    case none
  }

  private let asked: ItemQuery
  private let user: UserID
  private let frame: CallFrame
  private var found: Found?

  /// - Parameter query: as the program gave it.
  init(_ query: ItemQuery, of user: UserID, _ frame: CallFrame) {
    asked = query
    self.user = user
    self.frame = frame
  }

  /// What finds the item: as the program asked, or once a person was told of one, that one by its own name.
  /// - Throws: `.itemNotFound` where there was none when the person was to be told.
  var query: ItemQuery {
    get throws(EnclaveError) {
      switch found {
      case nil: return asked
      case .some(.none): throw .keychain(.itemNotFound)
      case .item(let found):
        var query = asked
        query.persistentReference = found.reference
        return query
      }
    }
  }

  /// Finds it, and gives its name fit to show.
  func name() async -> String? {
    let (asked, user, enclave) = (asked, user, frame.enclave)
    let items = try? await frame.limits.runAtStore(for: user) {
      try await enclave.copyMatching(user: user, query: asked, limit: 1)
    }
    guard let item = items?.first else {
      found = Found.none
      return nil
    }
    found = .item(item)
    return PromptText.name(of: item.item.attributes)
  }
}

/// A request that may come to wait for a person: what an agent is told of it, and how it is ended from outside.
@GLibActor
final class PromptedRequest {
  /// What a request waits for, by its name on the bus.
  enum Wants: String { case finger, passcode }

  let number: UInt64
  let caller: Caller
  let subject: PromptSubject
  /// For how many seconds the context lets what is shown count for more.
  var reuse = 0
  /// The agent to which it is shown.
  private(set) var agent: Agent?
  /// Why it was ended from outside.
  private(set) var ending: EnclaveError?
  private var cancel: (@Sendable () -> Void)?
  private var wants: Wants?
  private var isOver = false
  private var details: Task<[String: BusValue], Never>?

  init(number: UInt64, caller: Caller, subject: PromptSubject) {
    self.number = number
    self.caller = caller
    self.subject = subject
  }

  /// Runs `body` so that ``end(_:)`` and the end of the calling task end it.
  func run<R: Sendable>(_ body: @escaping @GLibActor () async throws -> R) async throws -> R {
    let work = Task { @GLibActor in try await body() }
    cancel = { work.cancel() }
    defer {
      isOver = true
      cancel = nil
      agent?.voice.tell("Hide", [.uint64(number)])
    }
    do {
      return try await withTaskCancellationHandler {
        try await work.value
      } onCancel: {
        work.cancel()
      }
    } catch {
      throw ending ?? error
    }
  }

  /// Ends it with this error, unless it comes to its own end first.
  func end(_ error: EnclaveError) {
    guard let cancel else { return }
    ending = ending ?? error
    cancel()
  }

  /// Whether it is shown to that connection.
  func isShown(to connection: String) -> Bool { agent?.connection == connection }

  /// Has it shown by the agent that shows it already, or by the first of `agents`.
  func show(_ wants: Wants, agents: () async -> [Agent], program: @escaping @GLibActor () async -> ClaimedProgram) async
  {
    guard self.wants != wants else { return }
    self.wants = wants
    let details = await known(program)
    var chosen = agent
    if chosen == nil { chosen = await agents().first }
    // It may have ended, or come to want something else, meanwhile.
    guard !isOver, self.wants == wants, let chosen else { return }
    show(details, to: chosen)
  }

  /// Has another agent show it from now on.
  func move(to other: Agent, program: @escaping @GLibActor () async -> ClaimedProgram) async {
    guard agent?.connection != other.connection else { return }
    let details = await known(program)
    guard !isOver else { return }
    agent?.voice.tell("Hide", [.uint64(number)])
    show(details, to: other)
  }

  private func show(_ details: [String: BusValue], to agent: Agent) {
    self.agent = agent
    agent.voice.tell("Show", [.uint64(number), .options(shown(details))])
  }

  /// All that is known of it, for the agent.
  func known(_ program: @escaping @GLibActor () async -> ClaimedProgram) async -> [String: BusValue] {
    let task =
      details
      ?? Task { @GLibActor [subject, reuse] in
        let program = await program()
        var values: [String: BusValue] = ["deed": .string(subject.deed.rawValue)]
        if reuse > 0 { values["reuse"] = .uint32(UInt32(clamping: reuse)) }
        values["program"] = program.name.map { .string($0) }
        values["pid"] = program.pid.map { .uint32($0) }
        values["item"] = await subject.item?.name().map { .string($0) }
        values["reason"] = PromptText.clean(subject.reason, limit: PromptText.reasonLimit).map { .string($0) }
        return values
      }
    details = task
    return await task.value
  }

  private func shown(_ details: [String: BusValue]) -> [String: BusValue] {
    var details = details
    details["wants"] = wants.map { .string($0.rawValue) }
    return details
  }
}
