extension LAError {
  /// What failed, and what leads to it on Linux.
  public enum Code: Int, _ErrorCodeProtocol, Sendable {
    /// The error type that these are codes of.
    public typealias _ErrorType = LAError

    /// No touch and no password was right in the tries allowed, nobody touched the reader in time, or the next password
    /// has to wait after too many wrong ones.
    case authenticationFailed = -1
    /// The user declined: by the agent's button or dialog.
    case userCancel = -2
    /// The user asked for the password where the policy allows fingers alone.
    case userFallback = -3
    /// The system ended it: the machine went to sleep, the daemon ended, or others have the reader.
    case systemCancel = -4
    /// The policy needs the account's password, and the account has none.
    case passcodeNotSet = -5
    /// There is no reader that can be used, or no enclave: the daemon is not there, or cannot open its store.
    case biometryNotAvailable = -6
    /// The user has no finger that opens secrets.
    case biometryNotEnrolled = -7
    /// Too many touches did not match: fingers count again once the account's password was given, which an evaluation of
    /// ``LAPolicy/deviceOwnerAuthentication`` asks for.
    case biometryLockout = -8
    /// The program ended it: by ``LAContext/invalidate()``, or by the end of the task that waited.
    case appCancel = -9
    /// The context was invalidated before.
    case invalidContext = -10
    /// A policy that needs a device nearby, which Linux has not.
    case companionNotAvailable = -11
    /// Never comes: there are no accessories to pair. A reader that is unplugged is ``biometryNotAvailable``.
    case biometryNotPaired = -12
    /// Never comes: a reader that is unplugged is ``biometryNotAvailable``, which programs for phones know, too.
    case biometryDisconnected = -13
    /// A prompt was needed and ``LAContext/interactionNotAllowed`` forbids it, or nobody can be asked: no agent runs.
    case notInteractive = -1004

    /// The former name of ``biometryNotAvailable``.
    public static let touchIDNotAvailable = biometryNotAvailable
    /// The former name of ``biometryNotEnrolled``.
    public static let touchIDNotEnrolled = biometryNotEnrolled
    /// The former name of ``biometryLockout``.
    public static let touchIDLockout = biometryLockout
    /// The former name of ``companionNotAvailable``.
    public static let watchNotAvailable = companionNotAvailable
  }

  /// See ``Code/authenticationFailed``.
  public static let authenticationFailed = Code.authenticationFailed
  /// See ``Code/userCancel``.
  public static let userCancel = Code.userCancel
  /// See ``Code/userFallback``.
  public static let userFallback = Code.userFallback
  /// See ``Code/systemCancel``.
  public static let systemCancel = Code.systemCancel
  /// See ``Code/passcodeNotSet``.
  public static let passcodeNotSet = Code.passcodeNotSet
  /// See ``Code/biometryNotAvailable``.
  public static let biometryNotAvailable = Code.biometryNotAvailable
  /// See ``Code/biometryNotEnrolled``.
  public static let biometryNotEnrolled = Code.biometryNotEnrolled
  /// See ``Code/biometryLockout``.
  public static let biometryLockout = Code.biometryLockout
  /// See ``Code/appCancel``.
  public static let appCancel = Code.appCancel
  /// See ``Code/invalidContext``.
  public static let invalidContext = Code.invalidContext
  /// See ``Code/companionNotAvailable``.
  public static let companionNotAvailable = Code.companionNotAvailable
  /// See ``Code/biometryNotPaired``.
  public static let biometryNotPaired = Code.biometryNotPaired
  /// See ``Code/biometryDisconnected``.
  public static let biometryDisconnected = Code.biometryDisconnected
  /// See ``Code/notInteractive``.
  public static let notInteractive = Code.notInteractive
  /// See ``Code/touchIDNotAvailable``.
  public static let touchIDNotAvailable = Code.biometryNotAvailable
  /// See ``Code/touchIDNotEnrolled``.
  public static let touchIDNotEnrolled = Code.biometryNotEnrolled
  /// See ``Code/touchIDLockout``.
  public static let touchIDLockout = Code.biometryLockout
  /// See ``Code/watchNotAvailable``.
  public static let watchNotAvailable = Code.companionNotAvailable
}
