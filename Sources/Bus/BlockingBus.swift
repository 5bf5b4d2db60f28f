internal import CGLib
internal import Glibc

/// A connection to a message bus for programs that wait in their own thread: nothing of it runs on the main context or
/// in Swift's tasks, so that a caller may be any thread, the main one and those of a full thread pool among them.
///
/// It is this process's own, and losing it never ends the process. It closes when it is let go. After a fork it is of no
/// use to the child, nor is a new one: GDBus has one thread for all connections, which does not come along.
public final class BlockingBus: Sendable {
  /// The process that connected first, which a fork of it takes over.
  private static let home = getpid()

  private let object: GObjectReference
  /// The connection's name on the bus, such as :1.42.
  public let uniqueName: String

  private init(_ object: GObjectReference, uniqueName: String) {
    self.object = object
    self.uniqueName = uniqueName
  }

  deinit { g_dbus_connection_close(object.pointer, nil, nil, nil) }

  /// Connects to a bus and greets it. Blocks.
  ///
  /// - Parameter address: as for ``BusConnection/open(address:)``.
  /// - Throws: `.cannotConnect`; at once in a fork of a process that has connected before, where nothing would ever answer.
  public static func open(address: String? = nil) throws(BusError) -> BlockingBus {
    let address = try BusAddress.checked(address)
    guard home == getpid() else {
      throw .cannotConnect(
        address: address,
        reason: "this process was forked from one that had connected already; have it execute a program")
    }
    var error: UnsafeMutablePointer<GError>?
    guard
      let pointer = g_dbus_connection_new_for_address_sync(address, BusAddress.clientFlags, nil, nil, &error)
    else { throw .cannotConnect(address: address, reason: BusAddress.reason(consume(error))) }
    let object = GObjectReference(owning: pointer)
    addIncomingFilter(to: object.pointer)
    g_dbus_connection_set_exit_on_close(object.pointer, 0)
    guard let name = g_dbus_connection_get_unique_name(object.pointer) else {
      throw .cannotConnect(address: address, reason: "the bus gave no name")
    }
    return BlockingBus(object, uniqueName: String(cString: name))
  }

  /// Whether the connection is gone, from either side.
  public var isClosed: Bool { g_dbus_connection_is_closed(object.pointer) != 0 }

  /// Closes the connection; what waits on it fails with `.closed`.
  public func close() { g_dbus_connection_close(object.pointer, nil, nil, nil) }

  /// Calls a method and waits for its answer.
  ///
  /// - Parameters:
  ///   - sent: called once the call is on its way: what is sent afterwards arrives after it. Must not wait.
  ///   - The others: as for ``BusConnection``'s call.
  /// - Throws: as that call, but never `.cancelled`.
  public func call(
    destination: String, path: String, interface: String, method: String, arguments: [BusValue] = [],
    descriptors: [Int32] = [], expecting: String? = nil,
    timeoutMilliseconds: Int? = BusConnection.usualTimeout, options: BusCallOptions = [], sent: () -> Void = {}
  ) throws(BusError) -> BusReply {
    let message = try methodCall(destination, path, interface, method, arguments, descriptors, options)
    // A context of this call's own: the answer comes in this thread, whatever else the program does with GLib.
    guard let context = g_main_context_new() else { throw .failed("no main context") }
    defer { g_main_context_unref(context) }
    let pending = PendingReply()
    g_main_context_push_thread_default(context)
    g_dbus_connection_send_message_with_reply(
      object.pointer, message.pointer, G_DBUS_SEND_MESSAGE_FLAGS_NONE, timeout(timeoutMilliseconds), nil, nil,
      pendingReplied, Unmanaged.passRetained(pending).toOpaque())
    g_main_context_pop_thread_default(context)
    sent()
    while pending.result == nil { g_main_context_iteration(context, 1) }
    // Ended just now.
    switch pending.result ?? .failure(.closed) {
    case .success(let reply):
      try check(reply, expecting, interface, method)
      return reply
    case .failure(.timedOut): throw .timedOut("\(destination) (\(method))")
    case .failure(let error): throw error
    }
  }

  /// Sends a call whose answer nobody waits for. Never blocks; after the calls that were sent before it.
  /// - Throws: `.invalid`, `.closed`, `.failed`.
  public func send(
    destination: String, path: String, interface: String, method: String, arguments: [BusValue] = []
  ) throws(BusError) {
    let message = try methodCall(destination, path, interface, method, arguments, [], .noAutoStart)
    g_dbus_message_set_flags(
      message.pointer,
      GDBusMessageFlags(
        rawValue: g_dbus_message_get_flags(message.pointer).rawValue
          | G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED.rawValue))
    var error: UnsafeMutablePointer<GError>?
    guard
      g_dbus_connection_send_message(object.pointer, message.pointer, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, &error) != 0
    else { throw consume(error) }
  }
}

// MARK: - The bus itself

extension BlockingBus {
  private func askBus(_ method: String, _ arguments: [BusValue], expecting: String) throws(BusError) -> BusReply {
    try call(
      destination: BusConnection.driver, path: "/org/freedesktop/DBus", interface: BusConnection.driver,
      method: method, arguments: arguments, expecting: expecting)
  }

  /// The unique name of a name's owner; nil where nobody owns it. Blocks.
  public func owner(of name: String) throws(BusError) -> String? {
    try checkBusName(name)
    do {
      return try askBus("GetNameOwner", [.string(name)], expecting: "s").arguments[0].asString
    } catch .remote("org.freedesktop.DBus.Error.NameHasNoOwner", _) {
      return nil
    }
  }

  /// As ``BusConnection/startService(_:)``. Blocks.
  public func startService(_ name: String) throws(BusError) {
    try checkBusName(name)
    _ = try askBus("StartServiceByName", [.string(name), .uint32(0)], expecting: "u")
  }

  /// The uid of the user behind a connection. Ask by unique name. Blocks.
  /// - Throws: as ``BusConnection/credentials(of:)``.
  public func user(of name: String) throws(BusError) -> UInt32 {
    try checkBusName(name)
    let reply = try askBus("GetConnectionCredentials", [.string(name)], expecting: "a{sv}")
    return try BusCredentials(reply, of: name).uid
  }
}

/// What one call of a thread's waits for. Touched by that thread alone: its context dispatches the callback.
private final class PendingReply {
  var result: Result<BusReply, BusError>?
}

private func pendingReplied(
  _ source: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: UnsafeMutableRawPointer?
) {
  guard let data else { return }
  // Takes over the reference that the call was made with.
  Unmanaged<PendingReply>.fromOpaque(data).takeRetainedValue().result = finishedReply(source, result)
}
