internal import Keychain

/// One run through a login program's stack, by a number that its PAM module drew at random: what the module is given in
/// a later step is given to whoever names it.
public struct LoginTransaction: Hashable, Sendable {
  /// How many bytes it has.
  public static let byteCount = 16
  private let bytes: [UInt8]

  /// The transaction of those bytes; nil where they are not 16.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }
}

/// Touches that logins were let in by and that would have opened a secret: each serves the next step of its own login,
/// once, and not for long.
struct LoginTouches {
  /// How long the next step of a login may take to come, in milliseconds: pages of a greeter may lie between.
  static let lifetime: Int64 = 120_000
  /// How many are remembered; the oldest makes way.
  static let capacity = 64

  private var touches: [LoginTransaction: (user: UserID, at: Int64)] = [:]

  mutating func insert(_ transaction: LoginTransaction, of user: UserID, at now: Int64) {
    touches = touches.filter { now - $0.value.at < Self.lifetime }
    if touches.count >= Self.capacity, let oldest = touches.min(by: { $0.value.at < $1.value.at }) {
      touches[oldest.key] = nil
    }
    touches[transaction] = (user, now)
  }

  /// Takes the touch of a login; false where there is none, or no longer, or it was another user's.
  mutating func take(_ transaction: LoginTransaction, of user: UserID, at now: Int64) -> Bool {
    guard let touch = touches.removeValue(forKey: transaction) else { return false }
    return touch.user == user && now - touch.at < Self.lifetime
  }

  /// A user's touches do not count any more.
  mutating func forget(_ user: UserID) { touches = touches.filter { $0.value.user != user } }
}
