internal import Foundation
internal import LocalAuthentication
internal import Security

/// One vault's two places in the keychain: one for credentials that any program of the user's may read, one for those
/// behind a finger. They are apart, so that a change between the two writes before it removes.
///
/// Every call blocks. May be used from every thread.
struct VaultStorage: Sendable {
  /// Where credentials are.
  enum Place: Sendable {
    case plain, guarded
  }

  let key: String

  /// What is there; nil for nothing. Asks the user where the place is guarded and the context does not cover it.
  func read(_ place: Place, in context: LAContext) throws(VaultKeychainError) -> Data? {
    var query = query(place, in: context)
    query[kSecReturnData] = true
    var found: AnyObject?
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status != errSecItemNotFound else { return nil }
    try check(status)
    guard let data = found as? Data else { throw VaultKeychainError(status: errSecDecode) }
    return data
  }

  /// Whether something is there that can be had. Never asks the user.
  func hasItem(_ place: Place, in context: LAContext) throws(VaultKeychainError) -> Bool {
    let status = SecItemCopyMatching(query(place, in: context) as CFDictionary, nil)
    guard status != errSecItemNotFound else { return false }
    try check(status)
    return true
  }

  /// Writes, in place of what was there before. Never asks the user.
  func write(_ data: Data, to place: Place, in context: LAContext) throws(VaultKeychainError) {
    var item = query(place, in: context)
    item[kSecValueData] = data
    switch place {
    case .plain: item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlock
    case .guarded: item[kSecAttrAccessControl] = try Self.accessControl()
    }
    let status = SecItemAdd(item as CFDictionary, nil)
    guard status == errSecDuplicateItem else { return try check(status) }
    try delete(place, in: context)
    try check(SecItemAdd(item as CFDictionary, nil))
  }

  /// Removes what is there; no error where nothing is. Never asks the user.
  func delete(_ place: Place, in context: LAContext) throws(VaultKeychainError) {
    let status = SecItemDelete(query(place, in: context) as CFDictionary)
    if status != errSecItemNotFound { try check(status) }
  }

  /// What guards credentials that are behind a finger: one of the fingers that are enrolled now.
  static func accessControl() throws(VaultKeychainError) -> SecAccessControl {
    guard
      let control = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil)
    else { throw VaultKeychainError(status: errSecParam) }
    return control
  }

  func query(_ place: Place, in context: LAContext) -> [CFString: Any] {
    [
      kSecClass: kSecClassGenericPassword,
      kSecAttrService: place == .plain ? "BiometricsVault" : "BiometricsVault.biometrics",
      kSecAttrAccount: key,
      kSecUseAuthenticationContext: context,
    ]
  }

  private func check(_ status: OSStatus) throws(VaultKeychainError) {
    guard status == errSecSuccess else { throw VaultKeychainError(status: status) }
  }
}
