internal import Bus
internal import Enclave
internal import GLibLoop

/// Sends a request's progress to its caller alone, as `org.whorl.Authentication1.Progress`, in order.
@GLibActor
final class ProgressSignals {
  /// For the enclave: called on any thread, never waits.
  let handler: ProgressHandler
  private let events: AsyncStream<VerificationProgress>.Continuation
  private let sending: Task<Void, Never>

  init(bus: BusConnection, receiver: String, operation: UInt64) {
    let (stream, events) = AsyncStream.makeStream(of: VerificationProgress.self)
    self.events = events
    handler = { events.yield($0) }
    sending = Task { @GLibActor in
      for await event in stream { Self.send(event, operation, to: receiver, on: bus) }
    }
  }

  /// Waits until all that was told has gone out, so that the reply that follows comes last.
  func finish() async {
    events.finish()
    await sending.value
  }

  /// Tells a login program, for the person, why there is no finger to be asked for.
  static func tellHomeClosed(_ operation: UInt64, to receiver: String, on bus: BusConnection) {
    emit("home-closed", [:], operation, to: receiver, on: bus)
  }

  private static func send(
    _ progress: VerificationProgress, _ operation: UInt64, to receiver: String, on bus: BusConnection
  ) {
    let (event, details): (String, [String: BusValue]) =
      switch progress {
      case .queued: ("queued", [:])
      case .waiting(let reader, let scanType, let fingers):
        ("waiting", ["reader": .string(reader), "scan-type": .string(scanType), "fingers": .strings(fingers)])
      case .retry(let reason): ("retry", ["reason": .string(reason)])
      case .noMatch(let triesLeft): ("no-match", ["tries-left": .uint32(UInt32(clamping: triesLeft))])
      case .matched(let finger): ("matched", ["finger": .string(finger)])
      }
    emit(event, details, operation, to: receiver, on: bus)
  }

  private static func emit(
    _ event: String, _ details: [String: BusValue], _ operation: UInt64, to receiver: String, on bus: BusConnection
  ) {
    do {
      try bus.emitSignal(
        destination: receiver, path: WhorlNames.path, interface: WhorlNames.authentication, name: "Progress",
        arguments: [.uint64(operation), .string(event), .options(details)])
    } catch {
      Log.warning("could not send progress: \(error)")
    }
  }
}

/// The names of Whorl's own bus faces.
enum WhorlNames {
  static let bus = "org.whorl"
  static let path = "/org/whorl"
  static let authentication = "org.whorl.Authentication1"
  static let keychain = "org.whorl.Keychain1"
  static let agent = "org.whorl.Agent1"
  static let agentPath = "/org/whorl/Agent"
}
