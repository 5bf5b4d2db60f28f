internal import Bus
internal import CInterfaces
public import GLibLoop
internal import Glibc

/// Why an agent ended, or could not begin, other than by wish.
public enum PromptAgentError: Error, Sendable, Equatable {
  /// There is no whorld, no system bus, or the connection to it broke; says which.
  case noDaemon(String)
  /// Another agent serves this session; says which.
  case taken(String)
  /// The name org.whorl belongs to somebody else than root; says whom.
  case impostor(String)
  /// whorld is of a version that knows no agents.
  case unsupported
  /// There is nothing to show requests with and nothing to ask for passwords with; says what is missing.
  case useless(String)
  /// There is no terminal to ask on.
  case noTerminal
  /// Something else; says what.
  case failed(String)
}

/// `whorl agent`: shows what programs of the user ask of whorld and collects the passcode, for whorld alone; on a desktop
/// as notifications and through pinentry, else on a terminal.
@GLibActor
public final class PromptAgent {
  private static let service = "org.whorl"
  private static let path = "/org/whorl"
  private static let interface = "org.whorl.Authentication1"
  private static let agentPath = "/org/whorl/Agent"
  private static let agentInterface = "org.whorl.Agent1"
  /// So many milliseconds whorld may take for an answer.
  private static let patience = 10_000

  private enum Place {
    case desktop(Pinentry, environment: [String: String])
    case terminal(PromptTerminal, process: UInt32?)
  }

  private let place: Place
  private let tell: @GLibActor (String) -> Void

  private enum End: Equatable {
    /// The session's bus is gone, and the session with it.
    case sessionOver
    case failed(PromptAgentError)
  }

  /// - Parameters:
  ///   - pinentry: the path of a program that speaks pinentry's protocol.
  ///   - environment: the agent's own; pinentry gets of it what a dialog needs.
  ///   - tell: takes one line each for whoever looks after the agent.
  public init(
    pinentry: String, environment: [String: String], tell: @escaping @GLibActor @Sendable (String) -> Void
  ) {
    place = .desktop(Pinentry(program: pinentry, environment: environment), environment: environment)
    self.tell = tell
  }

  /// An agent on a terminal.
  /// - Parameters:
  ///   - process: the one whose requests it serves; nil serves the session.
  ///   - tell: takes one line each for whoever looks after the agent.
  public init(
    terminal: PromptTerminal, process: UInt32?, tell: @escaping @GLibActor @Sendable (String) -> Void
  ) {
    place = .terminal(terminal, process: process)
    self.tell = tell
  }

  /// Serves until the task is cancelled or the session's bus goes. What is shown then goes too.
  /// - Parameter ready: called once, when whorld knows the agent.
  /// - Throws: ``PromptAgentError``.
  public func run(ready: @GLibActor () -> Void = {}) async throws(PromptAgentError) {
    let bus: BusConnection
    do { bus = try await BusConnection.open() } catch { throw .noDaemon("\(error)") }
    let sessionBus: BusConnection?
    let prompts: any PromptFace
    let options: [String: BusValue]
    switch place {
    case .desktop(let pinentry, let environment):
      let hasPinentry = access(pinentry.program, X_OK) == 0
      let trouble: String?
      (sessionBus, trouble) = await Self.sessionBus(environment)
      let notifications = sessionBus.flatMap { try? Notifications(bus: $0) }
      // What the agent cannot do is said before it is ready for the rest.
      if notifications == nil {
        let why = trouble ?? "the session bus cannot be listened to"
        guard hasPinentry else { throw .useless("\(why), and \(pinentry.program) cannot be run") }
        tell(
          "There is no session bus (\(why)), so requests will not be shown, and only passwords asked for; to have them "
            + "shown start whorl agent from within a desktop session.")
      }
      if !hasPinentry {
        tell("\(pinentry.program) cannot be run, so no password can be asked for; install a pinentry, or name one.")
      }
      prompts = DesktopFace(pinentry: pinentry, notifications: notifications)
      options = [:]
    case .terminal(let terminal, let process):
      sessionBus = nil
      prompts = TerminalFace(terminal)
      options = process.map { ["process": .uint32($0)] } ?? [:]
    }
    let face = AgentFace(prompts, tell: tell)
    prompts.onWish = { [weak face] request, wish in
      Task { @GLibActor in await Self.carryOut(wish, request, face?.daemon, bus) }
    }
    let (ends, ended) = AsyncStream.makeStream(of: End.self)
    let closed = bus.onClosed { ended.yield(.failed(.noDaemon("the system bus is gone"))) }
    let sessionClosed = sessionBus?.onClosed { ended.yield(.sessionOver) }
    let registration: BusRegistration
    let comings: BusSubscription
    do {
      registration = try bus.export(
        path: Self.agentPath, interfaceXML: String(cString: whorl_interface_agent()), interface: Self.agentInterface,
        handler: face)
      comings = try bus.subscribe(
        sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged", firstArgument: Self.service
      ) { signal in
        guard signal.arguments.count == 3, let owner = signal.arguments[2].asString, owner != face.daemon else {
          return
        }
        face.hideAll()
        face.daemon = nil
        guard !owner.isEmpty else { return }
        Task { @GLibActor in
          do throws(PromptAgentError) { try await Self.register(at: owner, options, face, bus) } catch {
            // One that has gone again already: the next one is waited for.
            if case .noDaemon = error { return }
            ended.yield(.failed(error))
          }
        }
      }
    } catch {
      throw .failed("\(error)")
    }
    var end: End?
    do throws(PromptAgentError) {
      try await Self.register(at: try await Self.findDaemon(bus), options, face, bus)
      ready()
      var iterator = ends.makeAsyncIterator()
      end = await iterator.next()
    } catch {
      end = Task.isCancelled ? nil : .failed(error)
    }
    // In a task of its own, since this one may be cancelled.
    await Task { @GLibActor in
      face.hideAll()
      if let daemon = face.daemon, !bus.isClosed {
        _ = try? await Self.call("UnregisterAgent", [], daemon, bus)
      }
      if sessionBus?.isClosed != true { await prompts.finish() }
    }.value
    closed.cancel()
    sessionClosed?.cancel()
    comings.cancel()
    registration.unregister()
    if case .failed(let error)? = end { throw error }
  }

  // MARK: whorld

  private static func findDaemon(_ bus: BusConnection) async throws(PromptAgentError) -> String {
    do throws(BusError) {
      if let owner = try await bus.owner(of: service) { return owner }
      try await bus.startService(service)
      if let owner = try await bus.owner(of: service) { return owner }
    } catch {
      throw .noDaemon("\(error)")
    }
    throw .noDaemon("it ended right after its start")
  }

  private static func register(
    at daemon: String, _ options: [String: BusValue], _ face: AgentFace, _ bus: BusConnection
  ) async throws(PromptAgentError) {
    let uid: UInt32
    do { uid = try await bus.credentials(of: daemon).uid } catch { throw .noDaemon("\(error)") }
    // Who would get the passwords: root, or in private mode this user.
    guard uid == 0 || uid == geteuid() else { throw .impostor("uid \(uid)") }
    // Before the call: whorld may have something to show at once.
    face.daemon = daemon
    do throws(BusError) {
      try await call("RegisterAgent", [.options(options)], daemon, bus)
    } catch {
      if face.daemon == daemon { face.daemon = nil }
      switch error {
      case .remote("org.whorl.Error.Busy", let message): throw .taken(message)
      case .remote("org.freedesktop.DBus.Error.UnknownMethod", _): throw .unsupported
      case .remote(_, let message): throw .failed(message)
      case .closed, .timedOut: throw .noDaemon("\(error)")
      default: throw .failed("\(error)")
      }
    }
  }

  private static func call(
    _ method: String, _ arguments: [BusValue], _ daemon: String, _ bus: BusConnection
  ) async throws(BusError) {
    _ = try await bus.call(
      destination: daemon, path: path, interface: interface, method: method, arguments: arguments,
      timeoutMilliseconds: patience, options: .noAutoStart)
  }

  private static func carryOut(
    _ wish: PromptWish, _ request: UInt64, _ daemon: String?, _ bus: BusConnection
  ) async {
    guard let daemon else { return }
    // It may have ended meanwhile, which is as well.
    _ = try? await call(wish.method, [.uint64(request)], daemon, bus)
  }

  // MARK: The session

  /// The session's bus, or why there is none.
  private static func sessionBus(_ environment: [String: String]) async -> (BusConnection?, String?) {
    let address =
      environment["DBUS_SESSION_BUS_ADDRESS"] ?? environment["XDG_RUNTIME_DIR"].map { "unix:path=\($0)/bus" }
    guard let address, !address.isEmpty else { return (nil, "DBUS_SESSION_BUS_ADDRESS is not set") }
    do { return (try await BusConnection.open(address: address), nil) } catch { return (nil, "\(error)") }
  }
}
