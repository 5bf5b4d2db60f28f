import CPAM
import CSystemd

/// One message; the reference is its own.
struct BusMessage: ~Copyable {
  let raw: OpaquePointer

  /// Takes over the caller's reference.
  init(owning raw: OpaquePointer) { self.raw = raw }

  deinit { sd_bus_message_unref(raw) }

  /// Whether the bus says that `name` sent it. Only the bus itself can say so: senders cannot set it.
  func isFrom(_ name: CText) -> Bool {
    guard let sender = sd_bus_message_get_sender(raw) else { return false }
    return strcmp(sender, name) == 0
  }

  func isFrom(_ name: StaticString) -> Bool {
    guard let sender = sd_bus_message_get_sender(raw) else { return false }
    return equals(sender, name)
  }

  /// Whether it answers the call with that cookie.
  func answers(_ cookie: UInt64) -> Bool {
    var replied: UInt64 = 0
    return sd_bus_message_get_reply_cookie(raw, &replied) >= 0 && replied == cookie
  }

  /// The name of the error that it is; nil for anything else. Lives as long as the message.
  var errorName: CText? {
    guard sd_bus_message_is_method_error(raw, nil) > 0, let error = sd_bus_message_get_error(raw) else { return nil }
    return error.pointee.name
  }

  func hasSignature(_ signature: StaticString) -> Bool {
    guard let found = sd_bus_message_get_signature(raw, 1) else { return false }
    return equals(found, signature)
  }

  /// The next value as text, which lives as long as the message; nil where it is none.
  func readText(_ type: BusType = .string) -> CText? {
    var text: CText?
    return withUnsafeMutablePointer(to: &text) { sd_bus_message_read_basic(raw, type.code, $0) > 0 } ? text : nil
  }

  func readUInt32() -> UInt32? {
    var value: UInt32 = 0
    return sd_bus_message_read_basic(raw, BusType.uint32.code, &value) > 0 ? value : nil
  }

  func readUInt64() -> UInt64? {
    var value: UInt64 = 0
    return sd_bus_message_read_basic(raw, BusType.uint64.code, &value) > 0 ? value : nil
  }

  /// Enters a container that must be there; false at the end of the one around it and for anything else.
  func enter(_ type: BusType, _ contents: StaticString) -> Bool {
    withCString(contents) { sd_bus_message_enter_container(raw, type.code, $0) > 0 }
  }

  func exit() -> Bool { sd_bus_message_exit_container(raw) >= 0 }

  /// Skips one value of any type.
  func skipVariant() -> Bool { withCString("v") { sd_bus_message_skip(raw, $0) >= 0 } }

  /// Whether the next value is a variant that holds `signature`.
  func nextVariantHolds(_ signature: StaticString) -> Bool {
    var type: CChar = 0
    var contents: CText?
    guard sd_bus_message_peek_type(raw, &type, &contents) > 0, type == BusType.variant.code, let contents else {
      return false
    }
    return equals(contents, signature)
  }

  func append(text: CText) -> Bool { sd_bus_message_append_basic(raw, BusType.string.code, text) >= 0 }

  func append(text: StaticString) -> Bool { withCString(text) { append(text: $0) } }

  func append(uint32 value: UInt32) -> Bool {
    var value = value
    return sd_bus_message_append_basic(raw, BusType.uint32.code, &value) >= 0
  }

  /// Appends one entry of an a{sv} that is open.
  func append(option key: StaticString, uint32 value: UInt32) -> Bool {
    var value = value
    return append(option: key, type: .uint32, signature: "u", value: &value)
  }

  func append(option key: StaticString, uint64 value: UInt64) -> Bool {
    var value = value
    return append(option: key, type: .uint64, signature: "t", value: &value)
  }

  /// Appends one entry of an a{sv} that is open.
  func append(option key: StaticString, flag: Bool) -> Bool {
    // sd-bus takes a boolean as an int.
    var value: CInt = flag ? 1 : 0
    return append(option: key, type: .boolean, signature: "b", value: &value)
  }

  /// Appends one entry of an a{sv} that is open.
  func append(option key: StaticString, bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    open(.entry, "sv") && append(text: key) && open(.variant, "ay")
      && sd_bus_message_append_array(raw, BusType.byte.code, bytes, count) >= 0 && close() && close()
  }

  /// Appends an array of one descriptor, of which the message keeps a duplicate, or of none (-1).
  func append(handles file: CInt) -> Bool {
    var file = file
    return open(.array, "h") && (file < 0 || sd_bus_message_append_basic(raw, BusType.handle.code, &file) >= 0)
      && close()
  }

  /// Appends a descriptor, of which the message keeps a duplicate.
  func append(handle file: CInt) -> Bool {
    var file = file
    return sd_bus_message_append_basic(raw, BusType.handle.code, &file) >= 0
  }

  /// The next value as a descriptor, which is the message's own; nil where it is none.
  func readHandle() -> CInt? {
    var file: CInt = -1
    return sd_bus_message_read_basic(raw, BusType.handle.code, &file) > 0 ? file : nil
  }

  /// The next value as a boolean; nil where it is none.
  func readFlag() -> Bool? {
    var value: CInt = 0
    return sd_bus_message_read_basic(raw, BusType.boolean.code, &value) > 0 ? value != 0 : nil
  }

  private func append(
    option key: StaticString, type: BusType, signature: StaticString, value: UnsafeRawPointer
  ) -> Bool {
    open(.entry, "sv") && append(text: key) && open(.variant, signature)
      && sd_bus_message_append_basic(raw, type.code, value) >= 0 && close() && close()
  }

  func open(_ type: BusType, _ contents: StaticString) -> Bool {
    withCString(contents) { sd_bus_message_open_container(raw, type.code, $0) >= 0 }
  }

  func close() -> Bool { sd_bus_message_close_container(raw) >= 0 }
}

/// D-Bus type codes.
enum BusType {
  case string, boolean, uint32, uint64, byte, handle, array, variant, entry

  var code: CChar {
    switch self {
    case .string: 0x73
    case .boolean: 0x62
    case .uint32: 0x75
    case .uint64: 0x74
    case .byte: 0x79
    case .handle: 0x68
    case .array: 0x61
    case .variant: 0x76
    case .entry: 0x65
    }
  }
}

/// A fixed text as C wants it: literals end in a NUL.
func withCString<R: ~Copyable, E: Error>(_ text: StaticString, _ body: (CText) throws(E) -> R) throws(E) -> R {
  try text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1, body)
}

/// Why the bus gave no answer.
enum BusFailure: Error {
  /// The moment passed.
  case late
  /// The bus, or who was asked, is gone or broken, or memory ran out.
  case broken
}

/// Descriptors that are watched beside the bus.
struct Watch {
  /// Where keys, or a program's answers, come; -1 for none.
  var input: Int32 = -1
  /// Where held signals show; -1 for none.
  var signals: Int32 = -1
  /// What the last wait saw. The end of the input shows as input.
  private(set) var hasInput = false
  private(set) var hasSignals = false

  var hasSomething: Bool { hasInput || hasSignals }

  /// Waits for anything, that long at most. Being interrupted is as good as nothing.
  mutating func poll(bus: Int32, events: Int16, microseconds: UInt64) {
    hasInput = false
    hasSignals = false
    // Rounded up: one that ends too early would be asked again at once.
    let milliseconds = Int32(min(microseconds / 1000 + 1, 3_600_000))
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 3) { list in
      list.initializeElement(at: 0, to: pollfd(fd: bus, events: events, revents: 0))
      list.initializeElement(at: 1, to: pollfd(fd: input, events: Int16(POLLIN), revents: 0))
      list.initializeElement(at: 2, to: pollfd(fd: signals, events: Int16(POLLIN), revents: 0))
      guard let start = list.baseAddress, CPAM.poll(start, 3, milliseconds) > 0 else { return }
      hasInput = list[1].revents != 0
      hasSignals = list[2].revents != 0
    }
  }
}

/// A connection of this call's own to the system bus. Closing it drops what is still unsent and never waits.
struct BusConnection: ~Copyable {
  private let raw: OpaquePointer

  /// Begins to connect.
  ///
  /// The address is sd-bus's business: DBUS_SYSTEM_BUS_ADDRESS, which it reads with secure_getenv, so that a
  /// set-user-ID program never takes it from its caller; else the system's own.
  init() throws(BusFailure) {
    var opened: OpaquePointer?
    guard sd_bus_open_system(&opened) >= 0, let opened else { throw .broken }
    raw = opened
  }

  deinit { sd_bus_close_unref(raw) }

  /// A method call to fill.
  func newCall(
    _ destination: CText, _ path: StaticString, _ interface: StaticString, _ method: StaticString
  ) throws(BusFailure) -> BusMessage {
    var message: OpaquePointer?
    let result = withCString(path) { path in
      withCString(interface) { interface in
        withCString(method) { sd_bus_message_new_method_call(raw, &message, destination, path, interface, $0) }
      }
    }
    guard result >= 0, let message else { throw .broken }
    return BusMessage(owning: message)
  }

  /// A call of the bus's own method, about the connection or the name `subject`.
  func newBusCall(_ method: StaticString, about subject: CText) throws(BusFailure) -> BusMessage {
    let name: StaticString = "org.freedesktop.DBus"
    let call = try withCString(name) { (destination) throws(BusFailure) in
      try newCall(destination, "/org/freedesktop/DBus", name, method)
    }
    guard call.append(text: subject) else { throw .broken }
    return call
  }

  /// Sends a call without waiting for anything; gives its cookie.
  func send(_ message: borrowing BusMessage) throws(BusFailure) -> UInt64 {
    var cookie: UInt64 = 0
    guard sd_bus_send(raw, message.raw, &cookie) >= 0 else { throw .broken }
    return cookie
  }

  /// The next message, whatever it is; nil where `deadline` passes first. A signal handler of the program's that
  /// runs meanwhile changes nothing.
  func next(until deadline: UInt64) throws(BusFailure) -> BusMessage? {
    var nothing = Watch()
    return try next(until: deadline, or: &nothing)
  }

  /// As `next(until:)`; also nil where something is to be had on a descriptor of `watch`, which then says so. A message
  /// that has come goes first.
  func next(until deadline: UInt64, or watch: inout Watch) throws(BusFailure) -> BusMessage? {
    while true {
      let now = csystemd_monotonic_usec()
      guard now < deadline else { return nil }
      var message: OpaquePointer?
      let processed = sd_bus_process(raw, &message)
      if let message { return BusMessage(owning: message) }
      if processed < 0 && processed != -EINTR { throw .broken }
      if processed > 0 { continue }
      try wait(until: deadline, now, &watch)
      if watch.hasSomething { return nil }
    }
  }

  private func wait(until deadline: UInt64, _ now: UInt64, _ watch: inout Watch) throws(BusFailure) {
    let (descriptor, events) = (sd_bus_get_fd(raw), sd_bus_get_events(raw))
    guard descriptor >= 0, events >= 0 else { throw .broken }
    var due: UInt64 = .max
    guard sd_bus_get_timeout(raw, &due) >= 0 else { throw .broken }
    let end = min(deadline, due)
    watch.poll(bus: descriptor, events: Int16(truncatingIfNeeded: events), microseconds: end > now ? end - now : 0)
  }

  /// Sends a call to the bus itself and gives its answer, which may be an error.
  func ask(_ message: borrowing BusMessage, until deadline: UInt64) throws(BusFailure) -> BusMessage {
    let cookie = try send(message)
    while let answer = try next(until: deadline) {
      if answer.answers(cookie), answer.isFrom("org.freedesktop.DBus") { return answer }
    }
    throw .late
  }
}
