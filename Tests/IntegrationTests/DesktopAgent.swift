import Bus
import CInterfaces
import GLibLoop
import Glibc
import SecretMemory
import TestKit

/// `whorl agent` on a world's bus, with a pinentry and where wanted a notification service of the test's.
struct DesktopAgent: Sendable {
  let program: RunningProgram
  let pinentry: FakePinentry
  let notifications: NotificationsMock?

  /// Starts it and waits until whorld knows it.
  /// - Parameters:
  ///   - answers: what pinentry answers, see ``FakePinentry``.
  ///   - notifications: what kind of service there is; nil for none.
  init(
    _ world: World, answers: [String] = [], user: UInt32? = nil, notifications mode: String? = nil,
    isReady: Bool = true, before: (RunningProgram) throws -> Void = { _ in }
  ) async throws {
    pinentry = try FakePinentry(answers: answers)
    notifications =
      if let mode { try await NotificationsMock(address: world.bus.address, mode: mode) } else { nil }
    program = try world.start(
      ["agent", "--pinentry", pinentry.path], user: user,
      adding: ["DBUS_SESSION_BUS_ADDRESS": world.bus.address, "DISPLAY": ":7"])
    world.keep(self)
    try before(program)
    if isReady { try await program.waitFor("ready", in: .errors) }
  }
}

/// An agent that does what a test says.
@GLibActor
final class OddAgent: BusHandler {
  let bus: BusConnection
  /// What it was told, as words.
  private(set) var heard: [String] = []
  private(set) var details: [[String: BusValue]] = []
  /// The number of the request that it was told of last.
  private(set) var request = BusValue.uint64(0)
  private let answer: @GLibActor (BusCall) async throws -> BusAnswer
  private var registration: BusRegistration?

  /// - Parameter output: the type of its answer to RequestPasscode.
  init(
    _ world: World, output: String = "h", answer: @escaping @GLibActor (BusCall) async throws -> BusAnswer
  ) async throws {
    bus = try await BusConnection.open(address: world.bus.address)
    self.answer = answer
    let xml = String(cString: whorl_interface_agent()).replacing("type=\"h\"", with: "type=\"\(output)\"")
    registration = try bus.export(
      path: "/org/whorl/Agent", interfaceXML: xml, interface: "org.whorl.Agent1", handler: self)
    _ = try await whorld("RegisterAgent", [.options([:])])
  }

  func whorld(_ method: String, _ arguments: [BusValue] = []) async throws -> BusReply {
    try await bus.call(
      destination: "org.whorl", path: "/org/whorl", interface: "org.whorl.Authentication1", method: method,
      arguments: arguments)
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    heard.append(call.method)
    if let number = call.arguments.first { request = number }
    if let last = call.arguments.last?.asOptions { details.append(last) }
    guard call.method == "RequestPasscode" else { return BusAnswer() }
    return try await answer(call)
  }

  /// Waits until it was told that.
  func hears(_ method: String, times: Int = 1) async throws {
    while heard.count(where: { $0 == method }) < times {
      try Task.checkCancellation()
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}

extension Client {
  /// The secret of an item of the service "whorl", as an app gets it.
  func secret(
    _ name: String, in context: BusValue? = nil, _ options: [String: BusValue] = [:]
  ) async throws -> String {
    let context = if let context { context } else { try await newContext() }
    let query: [String: BusValue] = ["service": .string("whorl"), "account": .string(name)]
    let reply = try await call("Keychain1", "CopySecret", [context, .options(query), .options(options)])
    return try reply.descriptor(reply.arguments[0]).withDescriptor { file in
      try SecretFile.take(file, limit: 1 << 20).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// The name of the error that ``secret(_:in:_:)`` ends with, without its beginning; nil where it ends well.
  func refusal(
    _ name: String, in context: BusValue? = nil, _ options: [String: BusValue] = [:]
  ) async throws -> String? {
    do {
      _ = try await secret(name, in: context, options)
      return nil
    } catch let error as BusError {
      return error.remoteName?.replacing("org.whorl.Error.", with: "")
    }
  }
}
