internal import CGLib
internal import GLibLoop

/// What a call brought back.
public struct BusReply: Sendable {
  /// The out arguments.
  public let arguments: [BusValue]
  /// The descriptors that came along, close-on-exec; each is closed with its object unless it is taken.
  public let descriptors: [BusDescriptor]
  /// Who answered: the unique name, as the bus says; empty where the bus did not say.
  public let sender: String

  /// The descriptor that an h stands for.
  /// - Throws: `.badMessage` where the value is no h or points outside the descriptors.
  public func descriptor(_ value: BusValue?) throws(BusError) -> BusDescriptor {
    guard case .handle(let index) = value, descriptors.indices.contains(Int(index)) else {
      throw .badMessage("a file descriptor that did not come along")
    }
    return descriptors[Int(index)]
  }
}

/// How a call is made.
public struct BusCallOptions: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8
  /// The options with these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The other side may ask the user for leave, through polkit.
  public static let interactive = BusCallOptions(rawValue: 1)
  /// The bus shall not start the other side.
  public static let noAutoStart = BusCallOptions(rawValue: 2)
}

extension BusConnection {
  /// GDBus's own usual limit for a call.
  public nonisolated static let usualTimeout = 25_000

  /// Calls a method and waits for its answer.
  ///
  /// Cancelling the task ends the wait with `.cancelled`; the bus has no means to tell the other side.
  /// - Parameters:
  ///   - descriptors: sent along as duplicates: an `.handle(n)` in the arguments means the one at index n. They
  ///     stay the caller's.
  ///   - expecting: the signature of all out arguments together, such as "su"; others are `.badMessage`. Nil takes
  ///     what comes.
  ///   - timeoutMilliseconds: nil waits for as long as the other side lives.
  /// - Throws: every BusError but `.cannotConnect` and `.nameTaken`.
  public func call(
    destination: String, path: String, interface: String, method: String, arguments: [BusValue] = [],
    descriptors: [Int32] = [], expecting: String? = nil, timeoutMilliseconds: Int? = usualTimeout,
    options: BusCallOptions = []
  ) async throws(BusError) -> BusReply {
    let message = try methodCall(destination, path, interface, method, arguments, descriptors, options)
    let reply = try await send(message, timeoutMilliseconds: timeoutMilliseconds, what: "\(destination) (\(method))")
    try check(reply, expecting, interface, method)
    return reply
  }

  private func send(
    _ message: GObjectReference, timeoutMilliseconds: Int?, what: String
  ) async throws(BusError) -> BusReply {
    let timeout = timeout(timeoutMilliseconds)
    let object = self.object
    let result = await asynchronously(BusReply.self) { cancellable, waiter in
      g_dbus_connection_send_message_with_reply(
        object.pointer, message.pointer, G_DBUS_SEND_MESSAGE_FLAGS_NONE, timeout, nil, cancellable, replied, waiter)
    }
    switch result {
    case .success(let reply): return reply
    case .failure(.timedOut): throw .timedOut(what)
    case .failure(let error): throw error
    }
  }
}

/// Ends one call: turns the reply into plain values.
private func replied(
  _ source: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: UnsafeMutableRawPointer?
) {
  Waiter.resume(data, finishedReply(source, result))
}

/// What came of a call that GDBus says has ended.
func finishedReply(
  _ source: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?
) -> Result<BusReply, BusError> {
  var error: UnsafeMutablePointer<GError>?
  let connection = source.map { OpaquePointer($0) }
  guard let pointer = g_dbus_connection_send_message_with_reply_finish(connection, result, &error) else {
    return .failure(consume(error))
  }
  let message = GObjectReference(owning: pointer)
  return Result { () throws(BusError) in try reply(of: message.pointer) }
}

/// The message of a call.
/// - Throws: `.invalid` for what cannot be sent.
func methodCall(
  _ destination: String, _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue],
  _ descriptors: [Int32], _ options: BusCallOptions
) throws(BusError) -> GObjectReference {
  try checkBusName(destination)
  try checkObjectPath(path)
  try checkInterface(interface)
  try checkMember(method)
  let body = try Variant.outgoing(arguments)
  let list = try attach(descriptors)
  let message = GObjectReference(owning: g_dbus_message_new_method_call(destination, path, interface, method))
  if !arguments.isEmpty { g_dbus_message_set_body(message.pointer, body.pointer) }
  if let list { g_dbus_message_set_unix_fd_list(message.pointer, UnsafeMutablePointer(list.pointer)) }
  var flags = G_DBUS_MESSAGE_FLAGS_NONE.rawValue
  if options.contains(.interactive) { flags |= G_DBUS_MESSAGE_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION.rawValue }
  if options.contains(.noAutoStart) { flags |= G_DBUS_MESSAGE_FLAGS_NO_AUTO_START.rawValue }
  g_dbus_message_set_flags(message.pointer, GDBusMessageFlags(rawValue: flags))
  return message
}

/// GDBus's form of a limit; nil is none.
func timeout(_ milliseconds: Int?) -> Int32 {
  milliseconds.map { Int32(clamping: max($0, 1)) } ?? Int32.max  // G_MAXINT: no limit
}

/// - Throws: `.badMessage` where the answer has other types than its interface promises.
func check(_ reply: BusReply, _ expecting: String?, _ interface: String, _ method: String) throws(BusError) {
  guard let expecting else { return }
  let got = reply.arguments.map(\.signature).joined()
  guard got == expecting else {
    throw .badMessage("\(interface).\(method) answered with (\(got)) instead of (\(expecting))")
  }
}

private func reply(of message: OpaquePointer) throws(BusError) -> BusReply {
  let descriptors = takeDescriptors(of: message)
  if g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_ERROR {
    let name = g_dbus_message_get_error_name(message).map { String(cString: $0) } ?? ""
    let arguments = try Variant.arguments(g_dbus_message_get_body(message), .reply)
    throw .remote(name: name, message: arguments.first?.asString ?? "")
  }
  return BusReply(
    arguments: try Variant.arguments(g_dbus_message_get_body(message), .reply), descriptors: descriptors,
    sender: g_dbus_message_get_sender(message).map { String(cString: $0) } ?? "")
}
