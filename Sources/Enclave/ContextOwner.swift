public import Keychain

/// Who a caller is, as the transport knows it: never taken from the message itself.
public struct ContextOwner: Hashable, Sendable {
  /// The bus connection's unique name, which the bus gives to nobody else ever again.
  public let connection: String
  /// The uid of that connection.
  public let user: UserID
  /// The one request of that connection that a context is for (`Enclave.contextForRequest`); nil for the program itself,
  /// which therefore does not own such a context.
  public let request: UInt64?

  /// The caller on that connection with that uid.
  public init(connection: String, user: UserID, request: UInt64? = nil) {
    self.connection = connection
    self.user = user
    self.request = request
  }
}

/// The number of an authentication context; not used twice while the daemon runs. It is no secret: every use is checked
/// against the owner.
public struct ContextID: Hashable, Sendable {
  /// The number as it goes over the bus; never 0.
  public let rawValue: UInt32

  /// The context of that number, if there is one.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// What `Enclave.evaluate` is to establish.
public enum Policy: String, Sendable, CaseIterable {
  /// LAPolicy.deviceOwnerAuthenticationWithBiometrics: a registered finger.
  case biometrics = "biometrics"
  /// LAPolicy.deviceOwnerAuthentication: a registered finger, or the passcode.
  case owner = "owner"
  /// The passcode alone (LAAccessControlOperation on an access control with devicePasscode).
  case passcode = "passcode"

  var need: AuthenticationContext.Need {
    switch self {
    case .biometrics: .biometry
    case .owner: .presence
    case .passcode: .passcode
    }
  }
}

/// What a person may choose in the place of a finger. The raw value is its name on the bus.
public enum Fallback: String, Sendable {
  /// The passcode, which is asked for then.
  case passcode
  /// A way of the program's own: the request ends with `.userFallback`.
  case program
}

/// Who ends a request, and so the error that it ends with.
public enum CancelKind: String, Sendable, CaseIterable {
  /// The person: `.userCancel`.
  case user = "user"
  /// The program: `.appCancel`.
  case app = "app"
  /// The person wants the passcode instead: `.passcodeNeeded` where that will do, else `.userFallback`.
  case fallback = "fallback"
  /// The system (sleep, the daemon's end): `.systemCancel`.
  case system = "system"

  var error: EnclaveError {
    switch self {
    case .user: .userCancel
    case .app: .appCancel
    case .fallback: .userFallback
    case .system: .systemCancel
    }
  }
}
