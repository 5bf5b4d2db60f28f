internal import CGLib

/// The descriptors of one message, in their order, from the filter to whoever takes them.
private final class DescriptorBox {
  let descriptors: [BusDescriptor]

  init(_ descriptors: [BusDescriptor]) { self.descriptors = descriptors }
}

private let boxKey = "whorl-descriptors"

/// Has every message pass `filterMessage` before GDBus looks at it.
func addIncomingFilter(to connection: OpaquePointer) {
  _ = g_dbus_connection_add_filter(connection, filterMessage, nil, nil)
}

/// The descriptors of a message, ours from now on; GDBus has set close-on-exec on them.
func takeDescriptors(of message: OpaquePointer) -> [BusDescriptor] {
  let object = UnsafeMutableRawPointer(message).assumingMemoryBound(to: GObject.self)
  guard let box = g_object_steal_data(object, boxKey) else { return listedDescriptors(of: message) }
  // Takes over the reference that the message had.
  return Unmanaged<DescriptorBox>.fromOpaque(box).takeRetainedValue().descriptors
}

/// Takes them out of GDBus's own list, which closes what is left in it in whichever thread lets the message go.
private func listedDescriptors(of message: OpaquePointer) -> [BusDescriptor] {
  guard let list = g_dbus_message_get_unix_fd_list(message) else { return [] }
  var count: Int32 = 0
  // Transfer full: the array is freed here, the descriptors in it belong to their objects.
  guard let descriptors = g_unix_fd_list_steal_fds(list, &count) else { return [] }
  defer { g_free(descriptors) }
  return (0..<Int(count)).map { BusDescriptor(owning: descriptors[$0]) }
}

/// Runs in GDBus's own thread, for every message either way. Takes the message and gives back what is to be done with:
/// it, or nothing.
private func filterMessage(
  _ connection: OpaquePointer?, _ message: OpaquePointer?, _ incoming: gboolean, _ data: UnsafeMutableRawPointer?
) -> OpaquePointer? {
  guard let message, incoming != 0 else { return message }
  let descriptors = listedDescriptors(of: message)
  if !descriptors.isEmpty {
    let box = Unmanaged.passRetained(DescriptorBox(descriptors)).toOpaque()
    let object = UnsafeMutableRawPointer(message).assumingMemoryBound(to: GObject.self)
    g_object_set_data_full(object, boxKey, box) { box in
      if let box { Unmanaged<DescriptorBox>.fromOpaque(box).release() }
    }
  }
  guard isTooLarge(message) else { return message }
  if let connection { refuse(message, on: connection) }
  g_object_unref(UnsafeMutableRawPointer(message))
  return nil
}

/// Whether a call or a signal is more than we take. Replies are for who waits for them to judge.
private func isTooLarge(_ message: OpaquePointer) -> Bool {
  switch g_dbus_message_get_message_type(message) {
  case G_DBUS_MESSAGE_TYPE_METHOD_CALL, G_DBUS_MESSAGE_TYPE_SIGNAL: break
  default: return false
  }
  // GDBus puts paths and arguments into the errors that it answers by itself, and these may then be more than the bus
  // bears from us.
  if let path = g_dbus_message_get_path(message), strnlen(path, MessageLimits.path + 1) > MessageLimits.path {
    return true
  }
  guard let body = g_dbus_message_get_body(message) else { return false }
  return g_variant_get_size(body) > UInt(MessageLimits.unasked.bytes)
}

private func refuse(_ message: OpaquePointer, on connection: OpaquePointer) {
  guard g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL,
    g_dbus_message_get_flags(message).rawValue & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED.rawValue == 0
  else { return }
  let reply = GObjectReference(
    owning: g_dbus_message_new_method_error_literal(
      message, "org.freedesktop.DBus.Error.LimitsExceeded",
      "The call is larger than \(MessageLimits.unasked.bytes >> 20) MiB, or its path is too long; send less at a time."
    ))
  _ = g_dbus_connection_send_message(connection, reply.pointer, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, nil)
}
