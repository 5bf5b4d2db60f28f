/// What can go wrong with the login keyring.
public enum LoginKeyringError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no session bus to ask; says why.
  case noBus(String)
  /// Nobody serves the keyring in this session.
  case notRunning
  /// The session's secret service is another one than gnome-keyring.
  case otherService
  /// gnome-keyring has no login keyring.
  case noKeyring
  /// The password is not the keyring's.
  case denied
  /// It failed in another way; says how, in the words of the other side.
  case failed(String)

  /// One line for people: what happened.
  public var description: String {
    switch self {
    case .noBus(let why): "there is no session bus (\(why))"
    case .notRunning: "gnome-keyring does not run in this session"
    case .otherService: "this session's secrets are kept by another program than gnome-keyring"
    case .noKeyring: "there is no login keyring"
    case .denied: "the password is not the login keyring's"
    case .failed(let why): "gnome-keyring failed: \(why)"
    }
  }
}
