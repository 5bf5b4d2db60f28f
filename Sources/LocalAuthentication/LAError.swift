@_exported public import Security

/// The domain of the errors of LocalAuthentication.
public let LAErrorDomain: String = "com.apple.LocalAuthentication"

/// Why an authentication failed. The names and numbers are Apple's; what leads to each of them on Linux is said at
/// ``LAError/Code``.
///
/// What fails is thrown as an `NSError` of ``LAErrorDomain``, and can be caught as that and as this: `catch let error as
/// LAError`, `catch LAError.userCancel`, `error as? LAError` and `(error as NSError).code` all work. In its `userInfo` are
/// a line for people and, under `NSUnderlyingErrorKey`, the `WhorlError` that says what the enclave said.
public struct LAError: CustomNSError, Hashable, Sendable {
  /// Foundation's form of the error.
  public let _nsError: NSError

  /// An error of this kind.
  /// - Parameter userInfo: what it carries besides, such as a text under `NSLocalizedDescriptionKey`.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(_nsError: NSError(domain: LAErrorDomain, code: code.rawValue, userInfo: userInfo))
  }

  /// An error that Foundation has already.
  public init(_nsError error: NSError) { _nsError = error }

  /// The domain of these errors.
  public static var errorDomain: String { LAErrorDomain }

  /// What failed.
  public var code: Code { Code(rawValue: _nsError.code) ?? .authenticationFailed }

  /// The number of what failed.
  public var errorCode: Int { _nsError.code }

  /// What the error carries besides.
  public var userInfo: [String: Any] { _nsError.userInfo }

  /// The same.
  public var errorUserInfo: [String: Any] { _nsError.userInfo }

  /// A line for people.
  public var localizedDescription: String { _nsError.localizedDescription }

  /// Whether both are the same error with the same content.
  public static func == (left: LAError, right: LAError) -> Bool { left._nsError.isEqual(right._nsError) }

  /// Hashes domain and code.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(_nsError.domain)
    hasher.combine(_nsError.code)
  }
}

extension LAError: _BridgedStoredNSError {
  /// The domain of these errors.
  public static var _nsErrorDomain: String { LAErrorDomain }
}

/// So that `as?`, `catch let … as` and `catch LAError.userCancel` work on the `NSError` that was thrown.
extension LAError: _ObjectiveCBridgeable {
  /// As `as NSError`.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// As `as!`.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
    result = _conditionallyBridge(source)
  }

  /// As `as?`: nil for an error of another domain, or with a code that there is not.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
    result = _conditionallyBridge(source)
    return result != nil
  }

  /// As `as`. Errors of other domains, which only a mistake brings here, come out as `authenticationFailed`.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
    source.flatMap(_conditionallyBridge) ?? LAError(.authenticationFailed)
  }

  private static func _conditionallyBridge(_ source: NSError) -> LAError? {
    guard source.domain == LAErrorDomain, Code(rawValue: source.code) != nil else { return nil }
    return LAError(_nsError: source)
  }
}
