import Foundation

/// A wrapper of the keychain that imports nothing but Foundation.
public struct Wrapper: Sendable {
  /// A status of the keychain's.
  public struct Failure: Error, Equatable {
    /// The status.
    public let status: OSStatus
  }

  let service: String

  /// A wrapper for a service, by default named after the app.
  public init(service: String = Bundle.main.bundleIdentifier!) {
    self.service = service
  }

  /// Keeps a text, in place of what was there.
  public func set(_ text: String, for key: String) throws {
    var query = self.query(key)
    SecItemDelete(query as CFDictionary)
    query[kSecValueData as String] = Data(text.utf8)
    query[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
    try check(SecItemAdd(query as CFDictionary, nil))
  }

  /// What is kept.
  public func text(for key: String) throws -> String? {
    var query = self.query(key)
    query[kSecReturnData as String] = kCFBooleanTrue
    query[kSecMatchLimit as String] = kSecMatchLimitOne
    var result: AnyObject?
    try check(withUnsafeMutablePointer(to: &result) { SecItemCopyMatching(query as CFDictionary, $0) })
    return (result as? Data).flatMap { String(data: $0, encoding: .utf8) }
  }

  /// Forgets it.
  public func remove(_ key: String) throws {
    try check(SecItemDelete(query(key) as CFDictionary))
  }

  func query(_ key: String) -> [String: Any] {
    [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
      kSecAttrAccount as String: key,
    ]
  }

  func check(_ status: OSStatus) throws {
    if status != errSecSuccess { throw Failure(status: status) }
  }
}
