import Bus
import EmbeddedLink
import GLibLoop
import Glibc

/// org.whorl.Agent1 for the program: whorld's questions for a passcode are passed on to it.
@GLibActor
final class PassingAgent: BusHandler {
  static let path = "/org/whorl/Agent"
  static let interface = "org.whorl.Agent1"

  private let desk: EventDesk
  /// whorld's unique name: nobody else is answered.
  private let daemon: String

  init(desk: EventDesk, daemon: String) {
    self.desk = desk
    self.daemon = daemon
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    guard call.sender == daemon else { throw Self.denied }
    guard let request = call.arguments.first?.asUInt64 else {
      throw BusMethodError.invalidArguments("a request is a number")
    }
    switch call.method {
    case "RequestPasscode":
      let file = try await desk.ask(request, call.arguments.last?.asOptions ?? [:])
      return BusAnswer([.handle(0)], descriptors: [file])
    case "Hide": desk.drop(request)
    default: break  // The program knows by itself what it waits for.
    }
    return BusAnswer()
  }

  static let denied = BusMethodError(
    name: "org.freedesktop.DBus.Error.AccessDenied", message: "This is not for you.")
}

/// What the library calls, of the process that started us alone.
@GLibActor
final class EmbeddedFace: BusHandler {
  private let bus: BusConnection
  private let desk: EventDesk
  private let fingers: FingerWork
  private let parent: UInt32
  /// Connections that are that process's.
  private var known: Set<String> = []

  init(bus: BusConnection, desk: EventDesk, fingers: FingerWork, parent: pid_t) {
    self.bus = bus
    self.desk = desk
    self.fingers = fingers
    self.parent = UInt32(parent)
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    if !known.contains(call.sender) {
      guard try await bus.credentials(of: call.sender).pid == parent else { throw PassingAgent.denied }
      known.insert(call.sender)
    }
    if call.method == "Next" {
      let event = await desk.next()
      return BusAnswer([.string(event.kind.rawValue), .uint64(event.number), .options(event.details)])
    }
    guard let number = call.arguments.first?.asUInt64 else {
      throw BusMethodError.invalidArguments("\(call.method) takes a number")
    }
    let finger = call.arguments.last?.asString ?? ""
    switch call.method {
    case "Answer":
      guard let file = try call.descriptor(call.arguments[1]).take() else {
        throw BusMethodError.invalidArguments("a passcode that did not come along")
      }
      if !desk.answer(number, .success(file)) { close(file) }
    case "Decline":
      _ = desk.answer(
        number, .failure(BusMethodError(name: "org.whorl.Error.UserCancel", message: "The person cancelled.")))
    case "Enroll": fingers.begin(number, .enroll(finger))
    case "Register": fingers.begin(number, .register(finger))
    case "Fingers": fingers.begin(number, .list)
    case "Delete": fingers.begin(number, .delete(finger))
    case "Cancel": fingers.cancel(number)
    default: throw BusMethodError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "No \(call.method) here.")
    }
    return BusAnswer()
  }
}
