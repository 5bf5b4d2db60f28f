/// What can go wrong with a bus, a call or a name.
public enum BusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No connection came about.
  case cannotConnect(address: String, reason: String)
  /// The connection is closed, or was while the call waited.
  case closed
  /// No answer within the call's limit.
  case timedOut(String)
  /// The task was cancelled. The other side may still do what was asked.
  case cancelled
  /// The other side, or the bus itself, answered with this D-Bus error. Both texts are the other side's.
  case remote(name: String, message: String)
  /// Something of our own that cannot be sent: what, and why.
  case invalid(String)
  /// The other side's answer is not what its interface promises, or beyond the limits.
  case badMessage(String)
  /// Somebody else owns the name.
  case nameTaken(String)
  /// GDBus failed in another way.
  case failed(String)

  /// One line for people.
  public var description: String {
    switch self {
    case .cannotConnect(let address, let reason): "cannot connect to the bus at \(address): \(reason)"
    case .closed: "the bus connection is closed"
    case .timedOut(let what): "no answer in time from \(what)"
    case .cancelled: "the call was cancelled"
    case .remote(let name, let message): "\(name): \(message)"
    case .invalid(let what): "cannot be sent: \(what)"
    case .badMessage(let what): "unexpected message: \(what)"
    case .nameTaken(let name): "the bus name \(name) is taken by another program; stop that program first"
    case .failed(let reason): "the bus failed: \(reason)"
    }
  }

  /// The D-Bus error name that the other side answered with, if it did.
  public var remoteName: String? { if case .remote(let name, _) = self { name } else { nil } }
}

/// What a handler throws to answer a call with an error.
public struct BusMethodError: Error, Hashable, Sendable {
  /// The D-Bus name of the error, such as org.whorl.Error.Busy.
  public let name: String
  /// One line for people.
  public let message: String

  /// An error of this name.
  public init(name: String, message: String) {
    self.name = name
    self.message = message
  }

  /// org.freedesktop.DBus.Error.InvalidArgs
  public static func invalidArguments(_ message: String) -> BusMethodError {
    BusMethodError(name: "org.freedesktop.DBus.Error.InvalidArgs", message: message)
  }

  /// What a caller gets instead of an answer that the bus would end our connection for.
  static let tooLarge = BusMethodError(
    name: "org.whorl.Error.TooLarge",
    message: "The answer is larger than \(MessageLimits.outgoingBytes >> 20) MiB; ask for less at a time.")

  /// org.freedesktop.DBus.Error.Failed
  public static func failed(_ message: String) -> BusMethodError {
    BusMethodError(name: "org.freedesktop.DBus.Error.Failed", message: message)
  }
}
