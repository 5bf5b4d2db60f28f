internal import Bus
internal import GLibLoop

/// Tells one agent what to show and what to take away again, in that order and one call at a time: an agent that does
/// not answer costs nobody anything, and never more than one of the calls that the bus lets whorld have open.
@GLibActor
final class AgentVoice {
  /// So many milliseconds an agent may take for an answer.
  static let patience = 2_000
  /// So much may wait to be told; an agent that lets more pile up misses the rest.
  static let mostWaiting = 64

  private let bus: BusConnection
  private let connection: String
  private var waiting: [(method: String, arguments: [BusValue])] = []
  private var telling: Task<Void, Never>?

  init(bus: BusConnection, connection: String) {
    self.bus = bus
    self.connection = connection
  }

  /// Has the agent told, soon.
  func tell(_ method: String, _ arguments: [BusValue]) {
    guard waiting.count < Self.mostWaiting else { return }
    waiting.append((method, arguments))
    guard telling == nil else { return }
    telling = Task { @GLibActor in
      while !waiting.isEmpty {
        let next = waiting.removeFirst()
        // One that did not answer in time has not heard what comes next either.
        if await !call(next.method, next.arguments) { waiting.removeAll { $0.method != "Hide" } }
      }
      telling = nil
    }
  }

  /// Whether the agent still answers.
  func answers() async -> Bool { await call("Hide", [.uint64(0)]) }

  /// False where the agent is gone or did not answer in time; an error that it answers with is an answer.
  private func call(_ method: String, _ arguments: [BusValue]) async -> Bool {
    do {
      _ = try await bus.call(
        destination: connection, path: WhorlNames.agentPath, interface: WhorlNames.agent, method: method,
        arguments: arguments, timeoutMilliseconds: Self.patience, options: .noAutoStart)
      return true
    } catch .remote(let name, _) {
      return !Self.isGone(name)
    } catch {
      return false
    }
  }

  /// Whether an error of the bus's says that nobody is there any more.
  static func isGone(_ errorName: String) -> Bool {
    ["NoReply", "ServiceUnknown", "NameHasNoOwner", "Disconnected"].contains {
      errorName == "org.freedesktop.DBus.Error.\($0)"
    }
  }
}
