import Bus
import GLibLoop
import TestKit

/// A client of `net.reactivated.Fprint.Device`, call by call and signal by signal.
@GLibActor
final class FprintProbe {
  /// A status that the device told, or the answer to a call, in the order in which they came.
  struct Event: Sendable, Hashable, CustomStringConvertible {
    let what: String
    let isLast: Bool

    var description: String { isLast ? what + "!" : what }
  }

  private static let interface = "net.reactivated.Fprint.Device"

  let bus: BusConnection
  let path: String
  private(set) var properties: [String: BusValue] = [:]
  /// How often the reader has begun to wait for a finger.
  private var needs = 0
  private var needsSeen = 0
  private var events: [Event] = []
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var subscriptions: [BusSubscription] = []

  init(_ world: World) async throws {
    bus = try await BusConnection.open(address: world.bus.address)
    let reply = try await bus.call(
      destination: "net.reactivated.Fprint", path: "/net/reactivated/Fprint/Manager",
      interface: "net.reactivated.Fprint.Manager", method: "GetDefaultDevice")
    guard case .objectPath(let path)? = reply.arguments.first else { throw WorldError("no path of a device") }
    self.path = path
    for member in ["VerifyStatus", "EnrollStatus", "VerifyFingerSelected"] {
      subscriptions.append(
        try bus.subscribe(path: path, interface: Self.interface, member: member) { [weak self] signal in
          self?.note(signal.arguments.first?.asString ?? "?", signal.arguments.dropFirst().first?.asBool ?? false)
        })
    }
    subscriptions.append(
      try bus.subscribe(path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged") {
        [weak self] signal in
        guard let self, signal.arguments.count > 1, let changed = signal.arguments[1].asOptions else { return }
        properties.merge(changed) { _, new in new }
        if changed["finger-needed"] == .boolean(true) { needs += 1 }
        wake()
      })
    // The bus has the rules once it has answered something that came after them.
    _ = try await bus.owner(of: "org.freedesktop.DBus")
  }

  // MARK: Calls

  func call(_ method: String, _ argument: String? = nil) async throws -> BusReply {
    try await bus.call(
      destination: "net.reactivated.Fprint", path: path, interface: Self.interface, method: method,
      arguments: argument.map { [.string($0)] } ?? [])
  }

  /// Calls a Start and notes the moment of its answer among the signals.
  func start(_ method: String, _ finger: String) async throws {
    _ = try await call(method, finger)
    note("answered", false)
  }

  /// The last part of the name of the error that a call ends with; nil where it ends well.
  func error(_ method: String, _ argument: String? = nil) async throws -> String? {
    do {
      _ = try await call(method, argument)
      return nil
    } catch let error as BusError {
      guard let name = error.remoteName else { throw error }
      return String(name.split(separator: ".").last ?? "")
    }
  }

  /// The devices that the manager names.
  func devices() async throws -> [String] {
    let reply = try await bus.call(
      destination: "net.reactivated.Fprint", path: "/net/reactivated/Fprint/Manager",
      interface: "net.reactivated.Fprint.Manager", method: "GetDevices")
    return (reply.arguments.first?.asArray ?? []).compactMap {
      if case .objectPath(let path) = $0 { path } else { nil }
    }
  }

  /// What the last enrolment of this client was refused for.
  func explanation() async throws -> String {
    let reply = try await bus.call(
      destination: "org.whorl", path: "/org/whorl", interface: "org.whorl.Authentication1",
      method: "ExplainEnrollment")
    return reply.arguments.first?.asString ?? ""
  }

  // MARK: Signals

  private func note(_ what: String, _ isLast: Bool) {
    events.append(Event(what: what, isLast: isLast))
    wake()
  }

  private func wake() {
    let woken = waiters
    waiters = []
    for waiter in woken { waiter.resume() }
  }

  /// Waits for the next event and takes it.
  func next() async -> Event {
    while events.isEmpty { await change() }
    return events.removeFirst()
  }

  /// Waits for the last status of an operation and takes all that came before.
  func last() async -> String {
    while true {
      let event = await next()
      if event.isLast { return event.what }
    }
  }

  /// What has come and was not taken.
  var pendingEvents: [Event] { events }

  /// Waits until a property has this value.
  func property(_ name: String, is value: BusValue) async { while properties[name] != value { await change() } }

  /// Waits until the reader has begun to wait for a finger once more than at the last call of this.
  func needsFinger() async {
    while needs <= needsSeen { await change() }
    needsSeen += 1
  }

  private func change() async { await withCheckedContinuation { waiters.append($0) } }

  // MARK: Sequences

  /// Enrols what SCANs of `id` show, on a reader that takes commands.
  /// - Returns: every status, the last one at the end.
  @discardableResult
  func enroll(_ finger: String, scanning id: String, on world: World) async throws -> [String] {
    try await start("EnrollStart", finger)
    _ = await next()
    var statuses: [String] = []
    while true {
      // What is scanned before a reader waits may be lost; in between its stages it is kept.
      try await world.device.scan(id)
      let event = await next()
      statuses.append(event.what)
      if event.isLast { break }
    }
    _ = try await call("EnrollStop")
    return statuses
  }

  /// Verifies what a SCAN of `id` shows.
  /// - Returns: the last status.
  func verify(_ finger: String = "any", scanning id: String, on world: World) async throws -> String {
    try await start("VerifyStart", finger)
    try await world.device.scan(id)
    let status = await last()
    _ = try await call("VerifyStop")
    return status
  }
}
