/// The class of an item, as `kSecClass` says it.
package enum SecItemClass: String, Sendable, CaseIterable {
  /// kSecClassGenericPassword.
  case genericPassword
  /// kSecClassInternetPassword.
  case internetPassword
  /// kSecClassKey.
  case key
  /// kSecClassCertificate; none are kept.
  case certificate
  /// kSecClassIdentity; none are kept.
  case identity

  /// The value of `kSecClass`.
  package var constant: String {
    switch self {
    case .genericPassword: kSecClassGenericPassword
    case .internetPassword: kSecClassInternetPassword
    case .key: kSecClassKey
    case .certificate: kSecClassCertificate
    case .identity: kSecClassIdentity
    }
  }

  /// The enclave's name; nil for a class that it does not keep.
  package var enclaveName: String? {
    switch self {
    case .genericPassword: "generic-password"
    case .internetPassword: "internet-password"
    case .key: "key"
    case .certificate, .identity: nil
    }
  }

  /// The class of an enclave's name.
  package init?(enclaveName: String?) {
    guard let enclaveName, let found = Self.allCases.first(where: { $0.enclaveName == enclaveName }) else { return nil }
    self = found
  }

  /// The class, for messages.
  var subject: String {
    switch self {
    case .genericPassword: "a generic password"
    case .internetPassword: "an internet password"
    case .key: "a key"
    case .certificate: "a certificate"
    case .identity: "an identity"
    }
  }

  static let byConstant = [String: SecItemClass](uniqueKeysWithValues: allCases.map { ($0.constant, $0) })
}
