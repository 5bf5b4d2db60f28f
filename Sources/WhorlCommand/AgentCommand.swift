import GLibLoop
import WhorlAgent

extension Commands {
  /// Serves the session until the command is ended or the session is; both are its proper end.
  func agent(_ pinentry: String) async throws(CommandFailure) {
    let agent = PromptAgent(pinentry: pinentry, environment: surroundings.environment) { [console] line in
      Task { @GLibActor in await console.complain(Escaping.line(line)) }
    }
    do throws(PromptAgentError) {
      try await agent.run { [console] in
        Task { @GLibActor in await console.tell("The agent is ready.") }
      }
    } catch {
      throw error.failure
    }
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
    case .failed(let why): CommandFailure(.failed, "agent: \(Escaping.clause(why)); journalctl -u whorld may say more")
    }
  }
}
