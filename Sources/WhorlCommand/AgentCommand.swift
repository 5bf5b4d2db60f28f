import GLibLoop
internal import Glibc
import WhorlAgent

extension Commands {
  /// Serves the session, or a process on this terminal, until the command, the session or the one who started it is
  /// ended; all are its proper end.
  func agent(_ order: AgentOrder) async throws(CommandFailure) {
    for descriptor in [order.readyDescriptor, order.parentDescriptor].compactMap(\.self)
    where fcntl(descriptor, F_GETFD) < 0 {
      throw CommandFailure(.usage, "agent: descriptor \(descriptor) is not open; open it, or leave out its option")
    }
    let tell: @GLibActor @Sendable (String) -> Void = { [console] line in
      Task { @GLibActor in await console.complain(Escaping.line(line)) }
    }
    guard order.isOnTerminal else {
      let agent = PromptAgent(pinentry: order.pinentry, environment: surroundings.environment, tell: tell)
      return try await serve(agent, order)
    }
    // What others have the terminal for is not changed, so that nothing stops this process.
    signal(SIGTTOU, SIG_IGN)
    signal(SIGTTIN, SIG_IGN)
    guard let terminal = PromptTerminal() else { throw PromptAgentError.noTerminal.failure }
    console.lend(to: terminal)
    defer { console.lend(to: nil) }
    try await serve(PromptAgent(terminal: terminal, process: order.process, tell: tell), order)
  }

  private func serve(_ agent: PromptAgent, _ order: AgentOrder) async throws(CommandFailure) {
    let serving = Task { @GLibActor [console] () -> PromptAgentError? in
      do throws(PromptAgentError) {
        try await agent.run {
          Self.tellReady(order.readyDescriptor)
          if order.readyDescriptor == nil {
            Task { @GLibActor in await console.tell("The agent is ready.") }
          }
        }
        return nil
      } catch {
        return error
      }
    }
    // Whoever has the other end says that this is over, or is gone.
    var parent: FDWatch?
    parent = order.parentDescriptor.map { descriptor in
      FDWatch(descriptor: descriptor, for: .readable) { _ in
        parent?.cancel()
        serving.cancel()
      }
    }
    defer { parent?.cancel() }
    let failure = await withTaskCancellationHandler {
      await serving.value
    } onCancel: {
      serving.cancel()
    }
    if let failure { throw failure.failure }
  }

  private static func tellReady(_ descriptor: Int32?) {
    guard let descriptor else { return }
    _ = write(descriptor, "\n", 1)
    if descriptor > 2 { close(descriptor) }
  }
}

extension PromptAgentError {
  var failure: CommandFailure {
    switch self {
    case .noDaemon(let why):
      CommandFailure(
        .noDaemon, "agent: whorld is not there (\(Escaping.clause(why))); try: sudo systemctl start whorld")
    case .taken(let who): CommandFailure(.busy, "agent: \(Escaping.clause(who))")
    case .impostor(let who):
      CommandFailure(
        .notAllowed,
        "agent: whorld's name on the bus belongs to \(who) instead of root; have the administrator look at it")
    case .unsupported:
      CommandFailure(.failed, "agent: whorld knows no agents; whorl and whorld must be of one version")
    case .useless(let why):
      CommandFailure(
        .failed,
        "agent: it could neither show requests nor ask for passwords: \(Escaping.clause(why)); start it from within a "
          + "desktop session, or install a pinentry")
    case .noTerminal: CommandFailure(.noTerminal, "agent: there is no terminal to ask on; run whorl on one")
    case .failed(let why): CommandFailure(.failed, "agent: \(Escaping.clause(why)); journalctl -u whorld may say more")
    }
  }
}
