internal import Synchronization

/// Has `whorl agent --terminal` ask for a finger and the passcode while a request of this process needs that, where the
/// process has its terminal to itself and no other agent is there: so a program never sees the passcode, not even one that
/// knows nothing but its terminal.
///
/// All requests of the process that run at the same time share one agent, which ends with the last of them.
package final class TerminalAgent: Sendable {
  private struct State {
    /// Requests that the agent is there for.
    var users = 0
    var agent: AgentProcess?
    /// The process that started it: a fork has none of its own.
    var process: Int32 = 0
  }

  private let address: String?
  private let program: String?
  /// Held while the agent is started or ended, so that others wait for that.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - address: of the bus; nil is the system bus.
  ///   - program: what to start, where the daemon is in private mode; nil is the installed command.
  init(address: String?, program: String? = nil) {
    self.address = address
    self.program = program
  }

  /// Whether this process could ask on a terminal at all; cheap.
  var isPossible: Bool { ControllingTerminal.isForeground }

  /// Runs a request with an agent for it, where there is none yet that would ask.
  /// - Parameters:
  ///   - status: what the daemon says of agents; asked for only where this process has none yet.
  ///   - isCancelled: whether the request is not wanted any more, which ends the wait for an agent to be ready.
  func run<R: ~Copyable>(
    status: () throws(WhorlError) -> WhorlStatus, isCancelled: () -> Bool, _ request: () throws(WhorlError) -> R
  ) throws(WhorlError) -> R {
    try enter(status, isCancelled)
    defer { leave() }
    return try request()
  }

  private func enter(
    _ status: () throws(WhorlError) -> WhorlStatus, _ isCancelled: () -> Bool
  ) throws(WhorlError) {
    try state.withLock { state throws(WhorlError) in
      if state.process != ControllingTerminal.thisProcess {
        // Another process's is not ours to end.
        state.agent?.forget()
        state = State(process: ControllingTerminal.thisProcess)
      }
      if state.agent?.isRunning != true {
        state.agent?.end()
        state.agent = nil
        let status = try status()
        if status.agent == "none" {
          state.agent = AgentProcess.start(
            chosen: program, isPrivate: status.isPrivate, address: address, isCancelled: isCancelled)
        }
      }
      state.users += 1
    }
  }

  private func leave() {
    state.withLock { state in
      guard state.process == ControllingTerminal.thisProcess else { return }
      state.users -= 1
      guard state.users == 0 else { return }
      state.agent?.end()
      state.agent = nil
    }
  }
}
