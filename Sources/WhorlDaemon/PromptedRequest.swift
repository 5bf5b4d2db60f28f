internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain

/// A request that may come to wait for a person: what an agent is told of it, and how it is ended from outside.
@GLibActor
final class PromptedRequest {
  /// What a request waits for, by its name on the bus.
  enum Wants: String {
    case finger, passcode
    case formerPasscode = "former-passcode"
  }

  let number: UInt64
  let caller: Caller
  let subject: PromptSubject
  /// For how many seconds the context lets what is shown count for more.
  var reuse = 0
  /// Whether the context lets anybody be asked at all.
  var mayPrompt = true
  /// The context in which it runs now.
  var scope: PromptScope?
  /// Whether the passcode would do in the place of the finger that it waits for.
  private var fallback: Fallback?
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
  /// - Parameter fallback: what would do in the place of the finger that it waits for.
  func show(
    _ wants: Wants, agents: () async -> [Agent], fallback: () async -> Fallback?,
    program: @escaping @GLibActor () async -> ClaimedProgram
  ) async {
    guard self.wants != wants else { return }
    self.wants = wants
    let details = await known(program)
    let fallback = await fallback()
    var chosen = agent
    if chosen == nil { chosen = await agents().first }
    // It may have ended, or come to want something else, meanwhile.
    guard !isOver, self.wants == wants, let chosen else { return }
    self.fallback = fallback
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
        var values = subject.details
        values["deed"] = .string(subject.deed.rawValue)
        if reuse > 0 { values["reuse"] = .uint32(UInt32(clamping: reuse)) }
        values["program"] = program.name.map { .string($0) }
        values["pid"] = program.pid.map { .uint32($0) }
        values["item"] = subject.item?.name.map { .string($0) }
        values["reason"] = PromptText.clean(subject.reason, limit: PromptText.reasonLimit).map { .string($0) }
        return values
      }
    details = task
    return await task.value
  }

  private func shown(_ details: [String: BusValue]) -> [String: BusValue] {
    var details = details
    details["wants"] = wants.map { .string($0.rawValue) }
    if wants == .finger { details["fallback"] = fallback.map { .string($0.rawValue) } }
    return details
  }
}
