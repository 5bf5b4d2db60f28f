import Bus
import GLibLoop
import TestKit

/// A program that speaks net.reactivated.Fprint by itself, call by call, and keeps all that it hears, in order.
@GLibActor
final class DesktopClient {
  /// One thing that happened.
  enum Event: Equatable, Sendable {
    case answered(String)
    case signal(String, [BusValue])
    case changed(String, BusValue)
  }

  nonisolated static let name = "net.reactivated.Fprint"

  let bus: BusConnection
  /// The reader's object, after ``findDevice()``.
  private(set) var device = ""
  /// All that happened, in the order in which it came off the bus.
  private(set) var events: [Event] = []
  private var subscriptions: [BusSubscription] = []
  private var waiter: (wanted: @GLibActor (Event) -> Bool, from: Int, continuation: CheckedContinuation<Void, Never>)?

  init(_ bus: PrivateBus) async throws {
    self.bus = try await BusConnection.open(address: bus.address)
    subscriptions = [
      try self.bus.subscribe(interface: Self.name + ".Device") { [weak self] signal in
        self?.note(.signal(signal.name, signal.arguments))
      },
      try self.bus.subscribe(interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged") {
        [weak self] signal in
        for (key, value) in (signal.arguments[1].asOptions ?? [:]).sorted(by: { $0.key < $1.key }) {
          self?.note(.changed(key, value))
        }
      },
    ]
  }

  private func note(_ event: Event) {
    events.append(event)
    guard let waiter, waiter.wanted(event) else { return }
    self.waiter = nil
    waiter.continuation.resume()
  }

  /// Waits for an event after the first `seen` that is wanted.
  func wait(after seen: Int = 0, for wanted: @escaping @GLibActor (Event) -> Bool) async {
    if events.dropFirst(seen).contains(where: wanted) { return }
    await withCheckedContinuation { waiter = (wanted, seen, $0) }
  }

  /// Waits for the last status of an operation and gives its word.
  func lastStatus(after seen: Int = 0) async -> String {
    let isLast: @GLibActor (Event) -> Bool = { event in
      guard case .signal("VerifyStatus", let values) = event else {
        guard case .signal("EnrollStatus", let values) = event else { return false }
        return values[1] == .boolean(true)
      }
      return values[1] == .boolean(true)
    }
    await wait(after: seen, for: isLast)
    guard case .signal(_, let values) = events.dropFirst(seen).first(where: isLast) else { return "" }
    return values[0].asString ?? ""
  }

  @discardableResult
  func findDevice() async throws -> String {
    let reply = try await bus.call(
      destination: Self.name, path: "/net/reactivated/Fprint/Manager", interface: Self.name + ".Manager",
      method: "GetDefaultDevice")
    device = reply.arguments[0].asObjectPath ?? ""
    return device
  }

  /// Calls a method of the device and notes its answer among the events.
  @discardableResult
  func call(_ method: String, _ arguments: String...) async throws -> [BusValue] {
    let reply = try await bus.call(
      destination: Self.name, path: device, interface: Self.name + ".Device", method: method,
      arguments: arguments.map { .string($0) })
    note(.answered(method))
    return reply.arguments
  }

  /// The last part of the name of the error that a call ends with; nil where it ends well.
  func error(_ method: String, _ arguments: String...) async throws -> String? {
    do {
      _ = try await bus.call(
        destination: Self.name, path: device, interface: Self.name + ".Device", method: method,
        arguments: arguments.map { .string($0) })
      return nil
    } catch {
      guard let name = error.remoteName else { throw error }
      return name.split(separator: ".").last.map(String.init)
    }
  }

  func property(_ name: String) async throws -> BusValue {
    try await bus.call(
      destination: Self.name, path: device, interface: "org.freedesktop.DBus.Properties", method: "Get",
      arguments: [.string(Self.name + ".Device"), .string(name)]
    ).arguments[0].unwrapped
  }

  /// Claims, waiting for another's claim to end; for tests that say in which order things happen, not how fast.
  func claimOnceFree() async throws {
    let limit = ContinuousClock.now + .seconds(20)
    while let error = try await error("Claim", "") {
      guard error == "AlreadyInUse", .now < limit else { throw WorldError("Claim ended with \(error)") }
    }
  }

  /// Leaves the bus as a program that ends does.
  func leave() { bus.close() }
}
