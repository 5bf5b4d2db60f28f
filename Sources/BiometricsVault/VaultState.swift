/// What a vault keeps, and how.
public enum VaultState<Credentials>: CustomDebugStringConvertible {
  /// Nothing is kept, and there is no reader or no finger that could guard anything.
  case unavailable
  /// Nothing is kept.
  case ready
  /// These are kept, readable without a finger.
  case keychainSecured(Credentials)
  /// They are kept behind a finger, which was seen: they can be had again without another touch for as long as the data's
  /// context counts.
  case biometricsSecured(VaultData)
  /// They are kept behind a finger, which has to be shown first.
  case locked

  /// Whether it is ``biometricsSecured(_:)``.
  public var isBiometricsSecured: Bool { if case .biometricsSecured = self { true } else { false } }
  /// Whether it is ``keychainSecured(_:)``.
  public var isKeychainSecured: Bool { if case .keychainSecured = self { true } else { false } }
  /// Whether it is ``ready``.
  public var isReady: Bool { if case .ready = self { true } else { false } }
  /// Whether it is ``locked``.
  public var isLocked: Bool { if case .locked = self { true } else { false } }

  /// The state in words, never the credentials.
  public var debugDescription: String {
    switch self {
    case .unavailable: "No reader or no finger"
    case .ready: "Nothing is kept"
    case .keychainSecured: "Kept in the keychain"
    case .biometricsSecured: "Kept behind a finger, and open"
    case .locked: "Kept behind a finger, and locked"
    }
  }
}

extension VaultState: Sendable where Credentials: Sendable {}

extension VaultState: Equatable where Credentials: Equatable {
  /// Equal states that keep equal credentials; with a finger, in the same context.
  public static func == (left: VaultState, right: VaultState) -> Bool {
    switch (left, right) {
    case (.unavailable, .unavailable), (.ready, .ready), (.locked, .locked): true
    case (.keychainSecured(let left), .keychainSecured(let right)): left == right
    case (.biometricsSecured(let left), .biometricsSecured(let right)): left === right
    default: false
    }
  }
}
