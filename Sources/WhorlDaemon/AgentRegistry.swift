internal import Bus
internal import GLibLoop
internal import Glibc
internal import Keychain

/// A program that shows requests to its user and asks for the passcode (`whorl agent`).
struct Agent {
  let connection: String
  let user: UserID
  /// logind's name of the session that it is in; nil for a service of the user's, which is in none.
  let session: String?
  /// The one process that it serves; nil for an agent of the whole session.
  let process: UInt32?
  /// Grows from one registration to the next.
  let number: UInt64
  let voice: AgentVoice
}

/// The agents there are: one for each user and session, as the bus and logind say which those are, and those that serve one
/// process on its terminal.
@GLibActor
final class AgentRegistry {
  /// Agents of one user in as many sessions, and as many again that serve one process each: those never take the place of
  /// the sessions'.
  static let perUser = 8

  private let bus: BusConnection
  private let clients: ClientTasks
  private let sessions: Sessions
  /// One registration of a user's at a time: each may have to find out whether another agent still answers.
  private let lines = AccountLines(atOnce: 1)
  private var agents: [String: Agent] = [:]
  private var lastNumber: UInt64 = 0

  init(bus: BusConnection, clients: ClientTasks, sessions: Sessions) {
    self.bus = bus
    self.clients = clients
    self.sessions = sessions
    clients.onVanish { [weak self] in self?.agents[$0] = nil }
  }

  /// Makes the caller an agent. One of the same session that does not answer any more makes way.
  /// - Parameter process: the one process that it serves. Where another agent serves that already, because it serves
  ///   the caller too, there is no place for this one.
  /// - Throws: `Busy`, which names the one that is there.
  func register(_ caller: Caller, for process: UInt32? = nil) async throws(BusMethodError) {
    guard await lines.enter(caller.user) else { throw .whorl("AppCancel", "The agent is gone.") }
    defer { lines.leave(caller.user) }
    guard agents[caller.connection] == nil else { return }
    let session = await sessions.session(of: caller.connection)
    while let other = await rival(of: caller, session, process) {
      guard await !other.voice.answers() else { throw await refusal(other) }
      agents[other.connection] = nil
    }
    // No await from here on: what was looked at still holds.
    let count = agents.values.count { $0.user == caller.user && ($0.process == nil) == (process == nil) }
    guard count < Self.perUser else {
      let places = process == nil ? "in as many sessions" : "on terminals"
      throw .whorl("Busy", "You have \(count) agents \(places), which is the most there can be; end one.")
    }
    try clients.follow(caller.connection)
    lastNumber += 1
    agents[caller.connection] = Agent(
      connection: caller.connection, user: caller.user, session: session, process: process, number: lastNumber,
      voice: AgentVoice(bus: bus, connection: caller.connection))
  }

  /// Who has that place already.
  private func rival(of caller: Caller, _ session: String?, _ process: UInt32?) async -> Agent? {
    let others = agents.values.filter { $0.user == caller.user }
    guard let process else { return others.first { $0.process == nil && $0.session == session } }
    if let same = others.first(where: { $0.process == process }) { return same }
    return await self.agents(for: caller).first
  }

  /// The caller is no agent any more.
  func unregister(_ caller: Caller) { agents[caller.connection] = nil }

  /// Whether a user has any agent, which costs nothing to ask.
  func serves(_ user: UserID) -> Bool { agents.values.contains { $0.user == user } }

  /// The agents that may ask for a program, the best one first: that of its session and the user's service, then of other
  /// sessions that their seat shows, then those of sessions of which nothing is known. Never another user's.
  ///
  /// Of equals the one that came first: the user's service, which begins with the session, is not pushed aside by what a
  /// program starts later in that session.
  func agents(for caller: Caller) async -> [Agent] {
    let own = await sessions.session(of: caller.connection)
    // Asked of the bus only where it matters.
    let isBound = agents.values.contains { $0.user == caller.user && $0.process != nil }
    let process = isBound ? try? await bus.credentials(of: caller.connection).pid : nil
    func rank(_ agent: Agent) -> Int? {
      if let served = agent.process { return served == process ? 0 : nil }
      guard let session = agent.session, session != own else { return 0 }
      return switch sessions.standing(ofSession: session) {
      case .active: 1
      case .unknown: 3
      // Nobody sits there.
      case .background, .remote: nil
      }
    }
    return agents.values.filter { $0.user == caller.user }
      .compactMap { agent in rank(agent).map { (rank: $0, agent: agent) } }
      .sorted { ($0.rank, $0.agent.number) < ($1.rank, $1.agent.number) }.map(\.agent)
  }

  /// What `GetStatus` tells of the agent that would ask for a program: which kind, and what that calls itself.
  func status(for caller: Caller) async -> [String: BusValue] {
    guard let agent = await agents(for: caller).first else { return ["agent": .string("none")] }
    let program = await ClaimedProgram.find(agent.connection, on: bus)
    var values: [String: BusValue] = ["agent": .string(agent.session == nil ? "service" : "session")]
    values["agent-program"] = program.name.map { .string($0) }
    values["agent-pid"] = program.pid.map { .uint32($0) }
    return values
  }

  private func refusal(_ other: Agent) async -> BusMethodError {
    let facts = await ClaimedProgram.find(other.connection, on: bus)
    let name = facts.name.map { "\($0), " } ?? ""
    let process = facts.pid.map { "process \($0)" } ?? "connection \(other.connection)"
    return .whorl("Busy", "An agent of yours is there already in this session (\(name)\(process)); end that one first.")
  }
}

/// What a program claims to be: what the kernel calls its process, a name that it may have chosen itself.
struct ClaimedProgram: Sendable, Hashable {
  /// Printable, at most 15 bytes.
  var name: String?
  var pid: UInt32?
  /// Its file, where the kernel lets us know: whorld without the right to trace does not learn that of others.
  var executable: String?

  private static func file(of pid: UInt32) -> String? {
    var path = [CChar](repeating: 0, count: 4096)
    let length = readlink("/proc/\(pid)/exe", &path, path.count)
    guard length > 0 else { return nil }
    return String(validating: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// By what the bus and the kernel say of a connection; nothing where they do not.
  @GLibActor
  static func find(_ connection: String, on bus: BusConnection) async -> ClaimedProgram {
    guard let pid = try? await bus.credentials(of: connection).pid else { return ClaimedProgram() }
    return ClaimedProgram(name: Sessions.program(pid), pid: pid, executable: file(of: pid))
  }
}
