internal import Bus
internal import Glibc

extension WhorlError {
  /// Why the way to a service did not come about.
  init(connectingTo service: String, _ error: BusError) {
    self =
      switch error {
      case .cancelled: WhorlError(.cancelled, "The request was cancelled.")
      case .timedOut: WhorlError(.noAnswer, "The bus did not start \(service) in time; see its log.")
      case .cannotConnect(let address, let reason):
        WhorlError(.noDaemon, "There is no bus at \(address) (\(reason)); start the D-Bus system bus.")
      case .remote("org.freedesktop.DBus.Error.ServiceUnknown", _):
        WhorlError(.noDaemon, "Nothing on the bus is called \(service); install Whorl or start whorld.")
      case .remote(_, let message): WhorlError(.noDaemon, "The bus cannot start \(service): \(message)")
      default: WhorlError(.noDaemon, "\(service) cannot be reached: \(error)")
      }
  }

  /// Why a call of the service failed.
  init(calling method: String, _ error: BusError) {
    self =
      switch error {
      case .cancelled: WhorlError(.cancelled, "The request was cancelled.")
      case .closed: Self.gone
      case .timedOut: WhorlError(.noAnswer, "The daemon does not answer (\(method)); restart whorld.")
      case .badMessage: WhorlError(.badAnswer, "The daemon's answer makes no sense: \(error)")
      case .invalid(let what): WhorlError(.param, "The request cannot be sent: \(what)")
      case .remote where error.meansGone: Self.gone
      case .remote(let name, let message):
        switch name {
        case "org.freedesktop.DBus.Error.AccessDenied": WhorlError(.denied, "The bus forbids it: \(message)")
        case "org.freedesktop.DBus.Error.LimitsExceeded": WhorlError(.busy, "Too many requests at once: \(message)")
        case "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownObject",
          "org.freedesktop.DBus.Error.UnknownInterface":
          WhorlError(.unsupported, "The daemon does not know \(method); it is of another version than this program.")
        default: WhorlError(WhorlError.Code(busName: name), message)
        }
      case .cannotConnect, .nameTaken, .failed: WhorlError(.disconnected, "The bus failed: \(error)")
      }
  }

  private static let gone = WhorlError(
    .disconnected, "The daemon went away in the middle of the request; try again.")
  static let startedAnew = WhorlError(
    .invalidContext, "The daemon was started anew since; authenticate again.")
}

extension BusError {
  /// The instance had gone before it got the call: whoever came after it may have it instead.
  var isUndelivered: Bool {
    ["org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner"]
      .contains(remoteName ?? "")
  }

  /// That instance, or the connection, is not there any more.
  var meansGone: Bool {
    if case .closed = self { return true }
    return isUndelivered || remoteName == "org.freedesktop.DBus.Error.NoReply"
  }
}

/// Nothing is sent to a name that belongs to a program of neither root nor this process's own user.
/// - Throws: `.impostor`.
func checkOwner(_ uid: UInt32, of service: String) throws(WhorlError) {
  guard uid == 0 || uid == geteuid() else {
    throw WhorlError(
      .impostor, "The bus name \(service) belongs to user \(uid) instead of root; have the administrator look at it.")
  }
}
