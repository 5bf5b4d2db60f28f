import Bus
import CInterfaces
import GLibLoop
import SecretMemory
import TestKit

@testable import WhorlCommand

/// A daemon on a bus of its own that follows a script, with the real interfaces.
@GLibActor
final class FakeWhorld: BusHandler {
  struct Item: Sendable {
    var constraints: [String] = []
    var secret: [UInt8] = []
  }

  let bus: PrivateBus
  var items: [String: Item] = [:]
  var passcode = "open sesame"
  /// What an awaited touch ends with; nil waits until it is cancelled.
  var touch: String? = "matched"
  /// The statuses of an enrolment or a verification; without a last one it goes on until it is stopped.
  var scans: [String: [(String, Bool)]] = [:]

  /// What a finger's wait comes to when the passcode is preferred.
  var fallback = "fallback"
  /// Told the method of each call before it is answered.
  var onCall: ((String) -> Void)?

  /// What was asked, as words.
  private(set) var calls: [String] = []
  private var connection: BusConnection
  private var registrations: [BusRegistration] = []
  private var contexts: Set<UInt32> = []
  private var passcodes: Set<UInt32> = []
  private var running: [UInt32: CheckedContinuation<String, Never>] = [:]
  private var watchers: [(call: String, waiter: CheckedContinuation<Void, Never>)] = []

  init(named: Bool = true) async throws {
    bus = try await PrivateBus()
    connection = try await BusConnection.open(address: bus.address)
    guard named else { return }
    for (path, xml, interface) in [
      ("/org/whorl", whorl_interface_authentication(), "org.whorl.Authentication1"),
      ("/org/whorl", whorl_interface_keychain(), "org.whorl.Keychain1"),
      ("/net/reactivated/Fprint/Manager", whorl_interface_fprint_manager(), "net.reactivated.Fprint.Manager"),
      ("/net/reactivated/Fprint/Device/0", whorl_interface_fprint_device(), "net.reactivated.Fprint.Device"),
    ] {
      let text = xml.map { String(cString: $0) } ?? ""
      registrations.append(
        try connection.export(path: path, interfaceXML: text, interface: interface, handler: self))
    }
    try await connection.requestName("org.whorl")
    try await connection.requestName("net.reactivated.Fprint")
  }

  /// What a program that shall find this daemon gets: nothing else, no HOME, no TERM, no locale.
  var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }

  /// Starts `whorl` on a terminal.
  func whorl(
    _ arguments: String..., hasTerminal: Bool = true, input: [UInt8]? = nil, output: PtyProgram.Place = .terminal,
    environment extra: [String: String] = [:]
  ) throws -> PtyProgram {
    try PtyProgram(
      try BuiltPrograms.path("whorl"), arguments, environment: environment.merging(extra) { $1 },
      hasTerminal: hasTerminal, input: input, output: output)
  }

  /// Waits until that was asked.
  func wasAsked(_ call: String) async {
    if calls.contains(call) { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { watchers.append((call, $0)) }
    } onCancel: {
      Task { @GLibActor in self.endWatches() }
    }
  }

  private func endWatches() {
    for watcher in watchers { watcher.waiter.resume() }
    watchers = []
  }

  private func note(_ call: String) {
    calls.append(call)
    for watcher in watchers where watcher.call == call { watcher.waiter.resume() }
    watchers.removeAll { $0.call == call }
  }

  // MARK: - Calls

  func property(_ name: String, for sender: String) async throws -> BusValue {
    switch name {
    case "name": .string("Fake Reader")
    case "scan-type": .string("press")
    case "num-enroll-stages": .int32(2)
    default: .boolean(false)
    }
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    let first = call.arguments.first
    onCall?(call.method)
    switch call.method {
    case "GetStatus": return BusAnswer([.options(["version": .string("0")])])
    case "CreateContext":
      let number = UInt32(contexts.count + 1)
      contexts.insert(number)
      note("CreateContext")
      return BusAnswer([.uint32(number)])
    case "InvalidateContext":
      note("InvalidateContext")
      return BusAnswer()
    case "Cancel":
      let how = call.arguments[1].asString ?? ""
      running.removeValue(forKey: first?.asUInt32 ?? 0)?.resume(returning: how == "fallback" ? fallback : how)
      note("Cancel \(how)")
      return BusAnswer()
    case "ProvidePasscode":
      let given = try bytes(call.arguments[1], of: call)
      note("ProvidePasscode")
      guard given == Array(passcode.utf8) else { throw whorl("AuthenticationFailed", "That is wrong.") }
      passcodes.insert(first?.asUInt32 ?? 0)
      return BusAnswer()
    case "CopyMatching":
      note("CopyMatching")
      let account = first?.asOptions?["account"]?.asString
      return BusAnswer([.array(element: "a{sv}", listing(account))])
    case "Add":
      let options = call.arguments[1].asOptions ?? [:]
      let name = first?.asOptions?["account"]?.asString ?? ""
      items[name] = Item(
        constraints: options["constraints"]?.asStrings ?? [], secret: try bytes(call.arguments[2], of: call))
      note("Add \(name)")
      return BusAnswer()
    case "CopySecret": return try await copySecret(call)
    case "Delete":
      guard items.removeValue(forKey: first?.asOptions?["account"]?.asString ?? "") != nil else {
        throw whorl("ItemNotFound", "Nothing matches.")
      }
      return BusAnswer([.uint32(1)])
    case "GetDevices":
      return BusAnswer([.array(element: "o", [.objectPath("/net/reactivated/Fprint/Device/0")])])
    case "GetDefaultDevice": return BusAnswer([.objectPath("/net/reactivated/Fprint/Device/0")])
    case "ListEnrolledFingers": return BusAnswer([.strings(["left-thumb"])])
    case "EnrollStart", "VerifyStart":
      let kind = String(call.method.dropLast("Start".count))
      note("\(call.method) \(first?.asString ?? "")")
      for (word, done) in scans[kind] ?? [] {
        try connection.emitSignal(
          destination: call.sender, path: call.path, interface: call.interface, name: "\(kind)Status",
          arguments: [.string(word), .boolean(done)])
      }
      return BusAnswer()
    case "DeleteEnrolledFinger":
      note("DeleteEnrolledFinger \(first?.asString ?? "")")
      return BusAnswer()
    default:
      note(call.method)
      return BusAnswer()
    }
  }

  private func listing(_ account: String?) -> [BusValue] {
    items.filter { account == nil || $0.key == account }.sorted { $0.key < $1.key }.map { name, item in
      .options([
        "class": .string("generic-password"), "service": .string("whorl"), "account": .string(name),
        "constraints": .strings(item.constraints), "state": .string("present"),
      ])
    }
  }

  private func copySecret(_ call: BusCall) async throws -> BusAnswer {
    let context = call.arguments[0].asUInt32 ?? 0
    guard let item = items[call.arguments[1].asOptions?["account"]?.asString ?? ""] else {
      throw whorl("ItemNotFound", "Nothing matches.")
    }
    if !item.constraints.isEmpty, !passcodes.contains(context) {
      if item.constraints == ["device-passcode"] { throw whorl("PasscodeNeeded", "This needs your login password.") }
      try progress(call, "waiting", ["reader": .string("Fake Reader"), "scan-type": .string("press")])
      note("waiting")
      let end: String
      if let touch { end = touch } else { end = await withCheckedContinuation { running[context] = $0 } }
      switch end {
      case "matched": break
      case "no-match":
        try progress(call, "no-match", ["tries-left": .uint32(0)])
        throw whorl("AuthenticationFailed", "The finger is not known.")
      case "fallback": throw whorl("UserFallback", "You chose the passcode.")
      default: throw whorl("AppCancel", "The program ended it.")
      }
    }
    let secret = try SecretBytes(copying: item.secret.span.bytes)
    return BusAnswer([.handle(0)], descriptors: [try SecretFile.seal(secret, name: "test")])
  }

  private func progress(_ call: BusCall, _ event: String, _ details: [String: BusValue]) throws {
    let operation = call.arguments[2].asOptions?["operation"]?.asUInt64 ?? 0
    try connection.emitSignal(
      destination: call.sender, path: "/org/whorl", interface: "org.whorl.Authentication1", name: "Progress",
      arguments: [.uint64(operation), .string(event), .options(details)])
  }

  private func bytes(_ value: BusValue, of call: BusCall) throws -> [UInt8] {
    try call.descriptor(value).withDescriptor { file in
      try SecretFile.take(file, limit: 1 << 21).withUnsafeBytes { Array($0) }
    }
  }

  private func whorl(_ name: String, _ message: String) -> BusMethodError {
    BusMethodError(name: "org.whorl.Error.\(name)", message: message)
  }
}
