import Bus
import Foundation
import GLibLoop
import SecretMemory
import TestKit

@testable import WhorlClient

typealias Answer = @GLibActor @Sendable (BusCall) async throws -> BusAnswer

/// Plays whorld on a bus: answers each method as the test says, and keeps what it was asked.
@GLibActor
final class FakeDaemon: BusHandler {
  static let interfaces = [
    ("org.whorl.Authentication1", "/org/whorl"), ("org.whorl.Keychain1", "/org/whorl"),
    ("net.reactivated.Fprint.Manager", "/net/reactivated/Fprint/Manager"),
    ("net.reactivated.Fprint.Device", "/net/reactivated/Fprint/Device/0"),
    ("net.reactivated.Fprint.Device", "/net/reactivated/Fprint/Device/1"),
  ]

  let bus: BusConnection
  var answers: [String: Answer]
  var properties: [String: BusValue] = [:]
  private(set) var calls: [BusCall] = []
  private var registrations: [BusRegistration] = []

  init(address: String, _ answers: [String: Answer]) async throws {
    bus = try await BusConnection.open(address: address)
    self.answers = answers
    for (interface, path) in Self.interfaces {
      let xml = try String(contentsOfFile: SourceTree.path("data/dbus/\(interface).xml"), encoding: .utf8)
      registrations.append(try bus.export(path: path, interfaceXML: xml, interface: interface, handler: self))
    }
    try await bus.requestName("org.whorl", options: .allowReplacement)
    try await bus.requestName("net.reactivated.Fprint", options: .allowReplacement)
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    calls.append(call)
    guard let answer = answers[call.method] else { throw BusMethodError.failed("\(call.method) was not scripted") }
    return try await answer(call)
  }

  func property(_ name: String, for sender: String) async throws -> BusValue {
    guard let value = properties[name] else { throw BusMethodError.failed("no \(name)") }
    return value
  }

  func called(_ method: String) -> [BusCall] { calls.filter { $0.method == method } }

  /// As the enclave reports: to the caller alone.
  func progress(_ call: BusCall, _ operation: BusValue?, _ event: String, _ details: [String: BusValue] = [:]) throws {
    try bus.emitSignal(
      destination: call.sender, path: "/org/whorl", interface: "org.whorl.Authentication1", name: "Progress",
      arguments: [operation ?? .uint64(0), .string(event), .options(details)])
  }

  func scanStatus(_ call: BusCall, _ kind: String, _ word: String, done: Bool, path: String? = nil) throws {
    try bus.emitSignal(
      destination: call.sender, path: path ?? call.path, interface: "net.reactivated.Fprint.Device",
      name: kind + "Status", arguments: [.string(word), .boolean(done)])
  }

  /// Ends as a crash would.
  func crash() { bus.close() }
}

/// A daemon that answers as scripted, and a client of it.
@GLibActor
final class Scene {
  let bus: PrivateBus
  let daemon: FakeDaemon
  let client: WhorlClient
  let fprint: FprintClient

  init(_ answers: [String: Answer]) async throws {
    bus = try await PrivateBus()
    daemon = try await FakeDaemon(address: bus.address, answers)
    client = WhorlClient(transport: BusTransport(address: bus.address))
    fprint = FprintClient(address: bus.address)
  }
}

func withScene(
  _ answers: [String: Answer] = [:], _ body: @escaping @GLibActor @Sendable (Scene) async throws -> Void
) async throws {
  GLibLoop.startThread()
  try await body(try await Scene(answers))
}

/// Something to wait for: opens once.
@GLibActor
final class Gate {
  private(set) var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  nonisolated init() {}

  func open() {
    isOpen = true
    for waiter in waiting { waiter.resume() }
    waiting = []
  }

  func wait() async {
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }
}

/// The code of the error that `body` throws; nil where it throws none.
@GLibActor
func code(_ body: @GLibActor () async throws(WhorlError) -> Void) async -> WhorlError.Code? {
  do throws(WhorlError) {
    try await body()
    return nil
  } catch {
    return error.code
  }
}

func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }

func bytes(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { [UInt8]($0) } }

/// The secret that came with a call, as the daemon takes it.
@GLibActor
func received(_ call: BusCall, _ handle: BusValue) throws -> [UInt8] {
  try call.descriptor(handle).withDescriptor { bytes(try SecretFile.take($0, limit: 1 << 20)) }
}

let context = WhorlContext(number: 7, daemon: "")
