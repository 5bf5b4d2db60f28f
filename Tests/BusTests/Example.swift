import GLibLoop
import TestKit

@testable import Bus

/// What the tests put on the bus.
let exampleXML = """
  <node>
    <interface name="org.example.First">
      <method name="Echo"><arg type="v" direction="in"/><arg type="v" direction="out"/></method>
      <method name="Add">
        <arg type="i" direction="in"/><arg type="i" direction="in"/><arg type="i" direction="out"/>
      </method>
      <method name="Pass"><arg type="h" direction="in"/><arg type="h" direction="out"/></method>
      <method name="Fail"><arg type="s" direction="in"/></method>
      <method name="Wait"/>
      <method name="Who"><arg type="s" direction="out"/><arg type="b" direction="out"/></method>
      <signal name="Happened"><arg type="s"/></signal>
      <property name="Colour" type="s" access="read"/>
      <property name="Broken" type="u" access="read"/>
      <property name="Size" type="u" access="read"/>
    </interface>
    <interface name="org.example.Second">
      <method name="Name"><arg type="s" direction="out"/></method>
    </interface>
  </node>
  """

typealias Method = @GLibActor @Sendable (BusCall) async throws -> BusAnswer

@GLibActor
final class Example: BusHandler {
  var methods: [String: Method] = [
    "Echo": { BusAnswer($0.arguments) },
    "Who": { BusAnswer([.string($0.sender), .boolean($0.interactiveAuthorizationAllowed)]) },
  ]
  var properties: [String: BusValue] = ["Colour": .string("blue")]

  init(_ methods: [String: Method] = [:]) { self.methods.merge(methods) { $1 } }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    guard let method = methods[call.method] else { throw BusMethodError.failed("no method for \(call.method)") }
    return try await method(call)
  }

  func property(_ name: String, for sender: String) async throws -> BusValue {
    guard let value = properties[name] else { throw BusMethodError.failed("\(name) is not known now") }
    return value
  }
}

/// A bus with a service and a client on it.
@GLibActor
final class Scene {
  let bus: PrivateBus
  let service: BusConnection
  let client: BusConnection
  let example: Example
  let registration: BusRegistration

  fileprivate init(_ methods: [String: Method]) async throws {
    bus = try await PrivateBus()
    service = try await BusConnection.open(address: bus.address)
    client = try await BusConnection.open(address: bus.address)
    example = Example(methods)
    registration = try service.export(
      path: "/example", interfaceXML: exampleXML, interface: "org.example.First", handler: example)
  }

  func call(
    _ method: String, _ arguments: [BusValue] = [], descriptors: [Int32] = [], timeout: Int? = nil,
    options: BusCallOptions = []
  ) async throws(BusError) -> BusReply {
    try await client.call(
      destination: service.uniqueName, path: "/example", interface: "org.example.First", method: method,
      arguments: arguments, descriptors: descriptors, timeoutMilliseconds: timeout, options: options)
  }

  func callProperties(_ method: String, _ arguments: [BusValue]) async throws(BusError) -> BusReply {
    try await client.call(
      destination: service.uniqueName, path: "/example", interface: "org.freedesktop.DBus.Properties", method: method,
      arguments: arguments, timeoutMilliseconds: nil)
  }
}

/// Runs `body` on the loop, which is started first, since tests that are isolated to it would wait for it for good.
func withScene(
  _ methods: [String: Method] = [:], _ body: @escaping @GLibActor @Sendable (Scene) async throws -> Void
) async throws {
  GLibLoop.startThread()
  try await body(try await Scene(methods))
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

/// The error that `body` throws.
@GLibActor
func busError(_ body: @GLibActor () async throws(BusError) -> some Any) async -> BusError? {
  do throws(BusError) {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}
