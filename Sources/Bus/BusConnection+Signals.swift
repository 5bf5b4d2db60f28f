internal import CGLib
internal import GLibLoop

/// A signal as it arrived.
public struct BusSignal: Sendable {
  /// Who sent it: the unique name, as the bus says.
  public let sender: String
  /// The object that sent it.
  public let path: String
  /// The interface it belongs to.
  public let interface: String
  /// Its name.
  public let name: String
  /// Its arguments, whose types are the sender's choice: check them.
  public let arguments: [BusValue]
}

extension BusConnection {
  /// Sends a signal, to all who listen or, with a destination, to that connection alone.
  ///
  /// - Throws: `.invalid`, `.closed`, `.failed`. A destination that is gone is no error.
  public func emitSignal(
    destination: String? = nil, path: String, interface: String, name: String, arguments: [BusValue] = []
  ) throws(BusError) {
    if let destination { try checkBusName(destination) }
    try checkObjectPath(path)
    try checkInterface(interface)
    try checkMember(name)
    let body = try Variant.outgoing(arguments)
    var error: UnsafeMutablePointer<GError>?
    guard
      g_dbus_connection_emit_signal(object.pointer, destination, path, interface, name, body.pointer, &error) != 0
    else { throw consume(error) }
  }

  /// Tells all who listen that properties have new values; those in `invalidated` are to be read again.
  /// - Throws: as ``emitSignal(destination:path:interface:name:arguments:)``.
  public func emitPropertiesChanged(
    path: String, interface: String, changed: [String: BusValue], invalidated: [String] = []
  ) throws(BusError) {
    try checkInterface(interface)
    try emitSignal(
      path: path, interface: "org.freedesktop.DBus.Properties", name: "PropertiesChanged",
      arguments: [.string(interface), .options(changed), .strings(invalidated)])
  }

  /// Calls `handler` for the signals that match; nil matches everything. One that cannot be decoded is dropped.
  ///
  /// Signals come in the order in which they were sent, and before the reply to a call that was sent after them.
  /// - Parameters:
  ///   - sender: give the unique name wherever it matters who sent it: a well-known name may change hands.
  ///   - firstArgument: what the first argument, an s, must be; the bus filters, so that others wake nobody.
  /// - Throws: `.invalid`, `.closed`.
  public func subscribe(
    sender: String? = nil, path: String? = nil, interface: String? = nil, member: String? = nil,
    firstArgument: String? = nil, handler: @escaping @GLibActor (BusSignal) -> Void
  ) throws(BusError) -> BusSubscription {
    if let sender { try checkBusName(sender) }
    if let path { try checkObjectPath(path) }
    if let interface { try checkInterface(interface) }
    if let member { try checkMember(member) }
    guard !isClosed else { throw .closed }
    let box = SignalBox(sender: sender, handler)
    // Retained for the subscription; GDBus releases it once no call to the callback can be left.
    let id = g_dbus_connection_signal_subscribe(
      object.pointer, sender, interface, member, path, firstArgument, G_DBUS_SIGNAL_FLAGS_NONE, signalArrived,
      Unmanaged.passRetained(box).toOpaque(), releaseSignalBox)
    let object = self.object
    return BusSubscription {
      box.handler = nil
      g_dbus_connection_signal_unsubscribe(object.pointer, id)
    }
  }
}

@GLibActor
private final class SignalBox {
  nonisolated let uniqueSender: String?
  var handler: (@GLibActor (BusSignal) -> Void)?

  init(sender: String?, _ handler: @escaping @GLibActor (BusSignal) -> Void) {
    // What the bus stamps on messages is a unique name, or its own.
    uniqueSender = sender.flatMap { $0.hasPrefix(":") || $0 == "org.freedesktop.DBus" ? $0 : nil }
    self.handler = handler
  }
}

private func signalArrived(
  _ connection: OpaquePointer?, _ sender: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?,
  _ interface: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ body: OpaquePointer?,
  _ data: UnsafeMutableRawPointer?
) {
  guard let data, let sender, let path, let interface, let name else { return }
  let box = Unmanaged<SignalBox>.fromOpaque(data).takeUnretainedValue()
  let from = String(cString: sender)
  if let expected = box.uniqueSender, expected != from { return }
  guard let arguments = try? Variant.arguments(body, .unasked) else { return }
  let signal = BusSignal(
    sender: from, path: String(cString: path), interface: String(cString: interface), name: String(cString: name),
    arguments: arguments)
  GLibActor.assumeIsolated { box.handler?(signal) }
}

private func releaseSignalBox(_ data: UnsafeMutableRawPointer?) {
  if let data { Unmanaged<SignalBox>.fromOpaque(data).release() }
}
