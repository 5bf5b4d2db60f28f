internal import Bus
internal import GLibLoop
internal import SecretMemory

/// org.whorl.Agent1: what whorld, and nobody else, has this agent show and ask.
@GLibActor
final class AgentFace: BusHandler {
  /// The most requests that are shown at once.
  static let mostShown = 32

  /// The one whorld that is answered: its unique name.
  var daemon: String?
  private let face: any PromptFace
  private let tell: @GLibActor (String) -> Void
  private var shown: Set<UInt64> = []
  /// The dialogs, by request.
  private var dialogs: [UInt64: Dialog] = [:]
  private var lastTrouble = ""

  /// - Parameter tell: takes one line for whoever looks after the agent, once for each trouble.
  init(_ face: any PromptFace, tell: @escaping @GLibActor (String) -> Void) {
    self.face = face
    self.tell = tell
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    guard let daemon, call.sender == daemon else {
      throw BusMethodError(
        name: "org.freedesktop.DBus.Error.AccessDenied", message: "Only whorld may ask through this agent.")
    }
    guard let request = call.arguments.first?.asUInt64 else {
      throw BusMethodError.invalidArguments("a request is a number")
    }
    switch call.method {
    case "Show":
      guard shown.contains(request) || shown.count < Self.mostShown else { return BusAnswer() }
      shown.insert(request)
      face.show(request, PromptWords(call.arguments.last?.asOptions ?? [:]))
      return BusAnswer()
    case "Hide":
      hide(request)
      return BusAnswer()
    case "RequestPasscode":
      let file = try await ask(request, PromptWords(call.arguments.last?.asOptions ?? [:]))
      return BusAnswer([.handle(0)], descriptors: [file])
    default:
      throw BusMethodError(
        name: "org.freedesktop.DBus.Error.UnknownMethod", message: "This agent has no method \(call.method).")
    }
  }

  /// Takes away all that is shown, dialogs too.
  func hideAll() {
    for request in shown.union(dialogs.keys) { hide(request) }
  }

  private func hide(_ request: UInt64) {
    dialogs[request]?.isEnding = true
    dialogs[request]?.task.cancel()
    if shown.remove(request) != nil { face.close(request) }
  }

  private func ask(_ request: UInt64, _ words: PromptWords) async throws(BusMethodError) -> Int32 {
    // One that was hidden takes a moment to close, in which whorld has the next question already.
    while let other = dialogs.values.first {
      guard other.isEnding else { throw Self.notInteractive("this agent asks for another password already") }
      _ = await other.task.value
    }
    let dialog = Task { @GLibActor [face] in
      defer { dialogs[request] = nil }
      do throws(PromptFailure) {
        let passcode = try await face.ask(request, words)
        do {
          return Result<Int32, PromptFailure>.success(try SecretFile.seal(passcode, name: "whorl-passcode"))
        } catch {
          return .failure(.unusable("what it gave cannot be handed on: \(error)"))
        }
      } catch {
        return .failure(error)
      }
    }
    dialogs[request] = Dialog(task: dialog)
    let result = await dialog.value
    do {
      return try result.get()
    } catch {
      switch error {
      case .cancelled: throw BusMethodError(name: "org.whorl.Error.UserCancel", message: "The person cancelled.")
      case .hidden: throw Self.notInteractive("the request is over")
      case .unusable(let why):
        let line = "\(face.name) cannot ask for a password: \(why)"
        if line != lastTrouble { tell(line) }
        lastTrouble = line
        throw Self.notInteractive(line)
      }
    }
  }

  /// A question that is open, or was hidden and closes.
  private struct Dialog {
    let task: Task<Result<Int32, PromptFailure>, Never>
    var isEnding = false
  }

  private static func notInteractive(_ message: String) -> BusMethodError {
    BusMethodError(name: "org.whorl.Error.NotInteractive", message: message)
  }
}
