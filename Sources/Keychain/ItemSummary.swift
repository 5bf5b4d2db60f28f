/// The number of an item within its user's keychain; never used again, and growing with each item added.
public struct ItemID: Hashable, Sendable {
  /// The number in the database.
  public let rawValue: Int64

  /// The item of that number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// Whether an item still has its secret.
public enum ItemState: Hashable, Sendable {
  /// It has.
  case present
  /// It lost it at that time (seconds since 1970), because the set of fingers it was bound to changed.
  case invalidated(at: Int64)
  /// It lost it at that time, because the account's password, which guarded it, was removed.
  case passcodeRemoved(at: Int64)

  /// As the row has it.
  var loss: (ItemLoss, at: Int64) {
    switch self {
    case .present: (.none, 0)
    case .invalidated(let time): (.fingersChanged, time)
    case .passcodeRemoved(let time): (.passcodeRemoved, time)
    }
  }

  /// The error of whoever asks for the secret; nil where it is there.
  public var error: KeychainError? {
    switch self {
    case .present: nil
    case .invalidated(let time): .invalidated(at: time)
    case .passcodeRemoved(let time): .passcodeRemoved(at: time)
    }
  }
}

/// All that can be known of an item without its secret.
public struct ItemSummary: Hashable, Sendable {
  /// Its number.
  public let id: ItemID
  /// What describes it.
  public let attributes: ItemAttributes
  /// What guards its secret.
  public let accessControl: AccessControl
  /// When it was added, in seconds since 1970.
  public let created: Int64
  /// When it was last changed, in seconds since 1970.
  public let modified: Int64
  /// Whether it still has its secret.
  public let state: ItemState
  /// The set of fingers that it was stored under, where a finger counts for it only with that (see
  /// `UserKeychain.takesFinger`).
  var storedSet: [UInt8]?
}

/// An item that cannot be read, and why; the other items are not affected.
public struct DamagedItem: Sendable {
  /// Its number.
  public let id: ItemID
  /// What is wrong with it.
  public let error: KeychainError
}
