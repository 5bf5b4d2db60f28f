internal import CGLib
public import GLibLoop

/// A method call as it arrived; its arguments have the types that the interface XML promises.
public struct BusCall: Sendable {
  /// Who calls: the unique name, as the bus says.
  public let sender: String
  /// The object called.
  public let path: String
  /// The interface called.
  public let interface: String
  /// The method called.
  public let method: String
  /// The in arguments.
  public let arguments: [BusValue]
  /// The descriptors that came along, close-on-exec; closed after the handler has returned unless taken.
  public let descriptors: [BusDescriptor]
  /// Whether the caller waits for polkit to ask the user.
  public let interactiveAuthorizationAllowed: Bool

  /// The descriptor that an h stands for.
  /// - Throws: InvalidArgs where the value is no h or points outside the descriptors.
  public func descriptor(_ value: BusValue) throws(BusMethodError) -> BusDescriptor {
    guard case .handle(let index) = value, descriptors.indices.contains(Int(index)) else {
      throw .invalidArguments("a file descriptor that did not come along")
    }
    return descriptors[Int(index)]
  }
}

/// What a method answers: of more than 8 MiB, the caller gets the error org.whorl.Error.TooLarge instead.
public struct BusAnswer: Sendable {
  /// The out arguments, in the types that the interface XML promises.
  public var arguments: [BusValue]
  /// Sent along: `.handle(n)` means the one at index n. Bus closes them once the answer is on its way or failed.
  public var descriptors: [Int32]
  /// Run once the answer is on its way: signals that are sent from here on come after it.
  public var whenSent: (@Sendable @GLibActor () -> Void)?

  /// An answer of these.
  public init(
    _ arguments: [BusValue] = [], descriptors: [Int32] = [], whenSent: (@Sendable @GLibActor () -> Void)? = nil
  ) {
    self.arguments = arguments
    self.descriptors = descriptors
    self.whenSent = whenSent
  }
}

/// Who answers the calls to one interface of one object.
@GLibActor
public protocol BusHandler: AnyObject {
  /// Answers one call. Each call runs in a task of its own: a slow one keeps nobody else waiting, and several may
  /// run in between each other's awaits. They start in the order in which they arrived.
  ///
  /// A BusMethodError goes to the caller as it is; anything else as org.freedesktop.DBus.Error.Failed without a
  /// word of what it was.
  func handle(_ call: BusCall) async throws -> BusAnswer

  /// The present value of a property that the interface XML declares readable, in the type declared there.
  func property(_ name: String, for sender: String) async throws -> BusValue
}

extension BusHandler {
  /// For interfaces without properties.
  public func property(_ name: String, for sender: String) async throws -> BusValue {
    throw BusMethodError(name: "org.freedesktop.DBus.Error.UnknownProperty", message: "no property \(name)")
  }
}

/// An interface on the bus until it is unregistered or let go.
@GLibActor
public final class BusRegistration {
  private let connection: GObjectReference
  private var id: UInt32

  init(connection: GObjectReference, id: UInt32) {
    self.connection = connection
    self.id = id
  }

  /// Takes the interface off the bus. Calls that run still end and are answered. Does nothing the second time.
  public func unregister() {
    if id != 0 { g_dbus_connection_unregister_object(connection.pointer, id) }
    id = 0
  }

  isolated deinit { if id != 0 { g_dbus_connection_unregister_object(connection.pointer, id) } }
}

extension BusConnection {
  /// Puts one interface of one object on the bus; call it again for further interfaces at the same path.
  ///
  /// Introspection, argument checks and the Properties and Peer interfaces come with it. Properties are read-only.
  /// - Parameters:
  ///   - interfaceXML: D-Bus introspection XML that has `interface` in it.
  ///   - handler: kept until the registration ends.
  /// - Throws: `.invalid` for a wrong path, XML or interface; `.failed` where the interface is there already.
  public func export(
    path: String, interfaceXML: String, interface: String, handler: any BusHandler
  ) throws(BusError) -> BusRegistration {
    try checkObjectPath(path)
    var error: UnsafeMutablePointer<GError>?
    guard let node = g_dbus_node_info_new_for_xml(interfaceXML, &error) else {
      throw .invalid("the interface XML of \(interface): \(consume(error))")
    }
    defer { g_dbus_node_info_unref(node) }
    // Transfer none: the registration takes a reference of its own.
    guard let info = g_dbus_node_info_lookup_interface(node, interface) else {
      throw .invalid("the interface XML has no \(interface)")
    }
    // Without get_property, GDBus hands reads of properties to method_call, where they may take their time. The
    // table is copied. The box is retained for the registration, which releases it.
    var table = GDBusInterfaceVTable()
    table.method_call = methodCalled
    let box = Unmanaged.passRetained(
      ExportBox(connection: self, handler: handler, interface: interface, properties: properties(of: info)))
    let id = g_dbus_connection_register_object(
      object.pointer, path, info, &table, box.toOpaque(), releaseExportBox, &error)
    guard id != 0 else {
      box.release()  // GDBus does not call the destroy notify of a registration that never was
      throw consume(error)
    }
    return BusRegistration(connection: object, id: id)
  }

  private func properties(of info: UnsafeMutablePointer<GDBusInterfaceInfo>) -> [String: String] {
    var result: [String: String] = [:]
    guard var next = info.pointee.properties else { return [:] }
    while let property = next.pointee?.pointee {
      if property.flags.rawValue & G_DBUS_PROPERTY_INFO_FLAGS_READABLE.rawValue != 0 {
        result[String(cString: property.name)] = String(cString: property.signature)
      }
      next += 1
    }
    return result
  }
}

// MARK: - Calls that arrive

/// What a registration keeps: who answers, and for what.
@GLibActor
final class ExportBox {
  private weak var connection: BusConnection?
  private let handler: any BusHandler
  private let interface: String
  /// The readable properties and their signatures.
  private let properties: [String: String]

  init(connection: BusConnection, handler: any BusHandler, interface: String, properties: [String: String]) {
    self.connection = connection
    self.handler = handler
    self.interface = interface
    self.properties = properties
  }

  func answer(_ call: BusCall, _ invocation: Invocation) {
    Task { @GLibActor in
      do {
        let answer =
          call.interface == "org.freedesktop.DBus.Properties"
          ? try await readProperties(call) : try await handler.handle(call)
        defer { for descriptor in answer.descriptors { Closer.shared.close(descriptor, isAbandoned: false) } }
        try invocation.succeed(answer)
        answer.whenSent?()
      } catch let error as BusMethodError {
        if !invocation.fail(error) { connection?.fault("\(interface).\(call.method) threw \(error)") }
      } catch {
        connection?.fault("\(interface).\(call.method) failed: \(error)")
        _ = invocation.fail(.failed("the service failed; its log says why"))
      }
      for descriptor in call.descriptors { descriptor.close() }
    }
  }

  private func readProperties(_ call: BusCall) async throws -> BusAnswer {
    switch (call.method, call.arguments.count) {
    case ("Get", 2):
      guard let name = call.arguments[1].asString, let signature = properties[name] else { break }
      return BusAnswer([.variant(try await read(name, signature, for: call.sender))])
    case ("GetAll", 1):
      var values: [String: BusValue] = [:]
      for (name, signature) in properties.sorted(by: { $0.key < $1.key }) {
        // One that cannot be read now is left out, so that the others can be.
        do { values[name] = try await read(name, signature, for: call.sender) } catch _ as BusMethodError {}
      }
      return BusAnswer([.options(values)])
    case ("Set", _):
      throw BusMethodError(name: "org.freedesktop.DBus.Error.PropertyReadOnly", message: "properties are read-only")
    default: break
    }
    throw BusMethodError(name: "org.freedesktop.DBus.Error.UnknownProperty", message: "no such property")
  }

  private func read(_ name: String, _ signature: String, for sender: String) async throws -> BusValue {
    let value = try await handler.property(name, for: sender)
    guard value.signature == signature else {
      throw BusError.invalid("property \(interface).\(name) is a \(signature), not a \(value.signature)")
    }
    return value
  }
}

/// One call that waits for its answer. A call that is let go unanswered is answered with Failed.
///
/// Unchecked: made in GDBus's callback, then used by one task on GLibActor alone, or by the deinit of its last owner;
/// GDBus itself allows answers from every thread.
final class Invocation: @unchecked Sendable {
  private var pointer: OpaquePointer?

  /// Takes over GDBus's reference, which every answer gives back.
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { _ = fail(.failed("the service gave no answer")) }

  /// - Throws: leaving the call unanswered, `BusError.invalid` where the answer is not what the interface promises,
  ///   TooLarge where it is more than a message may hold.
  func succeed(_ answer: BusAnswer) throws {
    guard let pointer else { return }
    let body = try Variant.tuple(answer.arguments)
    if let method = g_dbus_method_invocation_get_method_info(pointer) {
      let promised = signature(of: method.pointee.out_args)
      let given = answer.arguments.map(\.signature).joined()
      guard given == promised else { throw BusError.invalid("(\(given)) where the interface promises (\(promised))") }
    }
    guard body.fitsMessage else { throw BusMethodError.tooLarge }
    let list = try attach(answer.descriptors)
    self.pointer = nil
    // Transfer full of the invocation; the body and the list get references of their own.
    g_dbus_method_invocation_return_value_with_unix_fd_list(
      pointer, body.pointer, list.map { UnsafeMutablePointer($0.pointer) })
  }

  /// False where the error's name is none; the caller then gets Failed.
  func fail(_ error: BusMethodError) -> Bool {
    guard let pointer else { return true }
    let error = error.message.utf8.count < MessageLimits.outgoingBytes ? error : .tooLarge
    self.pointer = nil
    let valid = !error.name.utf8.contains(0) && g_dbus_is_error_name(error.name) != 0
    let name = valid ? error.name : "org.freedesktop.DBus.Error.Failed"
    g_dbus_method_invocation_return_dbus_error(pointer, name, valid ? error.message : "the service failed")
    return valid
  }

  private func signature(
    of arguments: UnsafeMutablePointer<UnsafeMutablePointer<GDBusArgInfo>?>?
  ) -> String {
    var result = ""
    guard var next = arguments else { return result }
    while let argument = next.pointee {
      result += String(cString: argument.pointee.signature)
      next += 1
    }
    return result
  }
}

private func methodCalled(
  _ connection: OpaquePointer?, _ sender: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?,
  _ interface: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, _ parameters: OpaquePointer?,
  _ invocation: OpaquePointer?, _ data: UnsafeMutableRawPointer?
) {
  guard let invocation else { return }
  let waiting = Invocation(owning: invocation)
  guard let data, let path, let interface, let method,
    let message = g_dbus_method_invocation_get_message(invocation)
  else { return }
  let box = Unmanaged<ExportBox>.fromOpaque(data).takeUnretainedValue()
  let descriptors = takeDescriptors(of: message)
  let interactive = G_DBUS_MESSAGE_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION.rawValue
  let call: BusCall
  do {
    call = BusCall(
      sender: sender.map { String(cString: $0) } ?? "", path: String(cString: path),
      interface: String(cString: interface), method: String(cString: method),
      arguments: try Variant.arguments(parameters, .unasked), descriptors: descriptors,
      interactiveAuthorizationAllowed: g_dbus_message_get_flags(message).rawValue & interactive != 0)
  } catch {
    _ = waiting.fail(.invalidArguments(error.description))
    return
  }
  GLibActor.assumeIsolated { box.answer(call, waiting) }
}

private func releaseExportBox(_ data: UnsafeMutableRawPointer?) {
  if let data { Unmanaged<ExportBox>.fromOpaque(data).release() }
}
