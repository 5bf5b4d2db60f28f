internal import CGLib

/// Where a bus is, and how it is connected to.
enum BusAddress {
  static var clientFlags: GDBusConnectionFlags {
    GDBusConnectionFlags(
      rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
  }

  /// The address, or that of the system bus, of unix: addresses alone: others carry no descriptors and no identities.
  /// - Throws: `.cannotConnect`.
  static func checked(_ given: String?) throws(BusError) -> String {
    let address = if let given { given } else { try systemBus() }
    let parts = address.split(separator: ";")
    guard !parts.isEmpty, parts.allSatisfy({ $0.hasPrefix("unix:") }), !address.utf8.contains(0) else {
      throw .cannotConnect(address: address, reason: "only unix: addresses are spoken to")
    }
    return address
  }

  private static func systemBus() throws(BusError) -> String {
    var error: UnsafeMutablePointer<GError>?
    guard let address = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, &error) else {
      throw .cannotConnect(address: "the system bus", reason: consume(error).description)
    }
    defer { g_free(address) }
    return String(cString: address)
  }

  /// What GDBus said of a connection that did not come about.
  static func reason(_ error: BusError) -> String {
    if case .failed(let reason) = error { reason } else { error.description }
  }
}
