public import Foundation
public import Security

/// The keychain refused a vault's request.
public struct VaultKeychainError: Error, LocalizedError, Hashable, Sendable {
  /// Why: a status code of Security, such as errSecNotAvailable.
  public let status: OSStatus

  /// The error of a status code.
  public init(status: OSStatus) { self.status = status }

  /// One line for people.
  public var errorDescription: String? {
    let reason = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "unknown reason"
    return "The keychain refused the vault's request: \(reason) (\(status))"
  }
}
