import Foundation
import LocalAuthentication
import Security

/// Keeps a password that comes out only after a finger or the passcode, and reads it.
@main
struct TouchIDKeychain {
  static func main() {
    remove("ada")  // of a run that did not get to its end
    do {
      try add(password: "correct horse", for: "ada")
      print("The password of ada: \(try read(for: "ada"))")
    } catch {
      print("\(error)")
    }
    remove("ada")
  }

  struct KeychainFailure: Error, CustomStringConvertible {
    let status: OSStatus
    var description: String { "\(SecCopyErrorMessageString(status, nil) as String? ?? "?") (\(status))" }
  }

  /// Adding never asks anybody, and is told not to.
  static func add(password: String, for account: String) throws {
    var error: Unmanaged<CFError>?
    guard
      let access = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .userPresence, &error)
    else { throw error!.takeRetainedValue() as Error }  // set wherever nil is returned
    let context = LAContext()
    context.interactionNotAllowed = true
    let query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: "www.example.com",
      kSecAttrAccount as String: account,
      kSecAttrAccessControl as String: access,
      kSecUseAuthenticationContext as String: context,
      kSecValueData as String: Data(password.utf8),
    ]
    let status = SecItemAdd(query as CFDictionary, nil)
    guard status == errSecSuccess else { throw KeychainFailure(status: status) }
  }

  /// Asks for a finger, or for the passcode, and says what for.
  static func read(for account: String) throws -> String {
    let context = LAContext()
    context.localizedReason = "sign in to www.example.com"
    let query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: "www.example.com",
      kSecAttrAccount as String: account,
      kSecMatchLimit as String: kSecMatchLimitOne,
      kSecUseAuthenticationContext as String: context,
      kSecReturnData as String: true,
    ]
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    guard status == errSecSuccess, let data = result as? Data else { throw KeychainFailure(status: status) }
    return String(decoding: data, as: UTF8.self)
  }

  /// Removing asks nobody.
  static func remove(_ account: String) {
    let query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: "www.example.com",
      kSecAttrAccount as String: account,
    ]
    _ = SecItemDelete(query as CFDictionary)
  }
}
