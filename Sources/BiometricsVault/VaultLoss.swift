public import Foundation

/// Why credentials that a vault kept behind a finger are gone for good. Not in the original, which shows such a vault as one
/// that never kept anything.
public enum VaultLoss: Error, LocalizedError, Hashable, Sendable {
  /// A finger was enrolled or deleted since.
  case fingersChanged
  /// The account's password was removed since.
  case passcodeRemoved

  /// One line for people, in English.
  public var errorDescription: String? {
    switch self {
    case .fingersChanged:
      "The enrolled fingers changed, so the credentials that they guarded were destroyed; log in again."
    case .passcodeRemoved:
      "The account's password was removed, so the credentials were destroyed; log in again."
    }
  }
}
