/// The kind of thing an item keeps (Apple: kSecClass). Its number is part of the file format.
public enum ItemClass: UInt8, Sendable, CaseIterable {
  /// A password or other secret, known by service and account.
  case genericPassword = 1
  /// A password for a server.
  case internetPassword = 2
  /// A cryptographic key.
  case key = 3

  /// The name on the bus, such as `generic-password`.
  public var name: String {
    switch self {
    case .genericPassword: "generic-password"
    case .internetPassword: "internet-password"
    case .key: "key"
    }
  }

  /// The class of that bus name.
  /// - Throws: `.unsupported` for `certificate` and `identity`, which are not kept; `.invalidParameter` for any other
  ///   text.
  public init(name: String) throws(KeychainError) {
    if ["certificate", "identity"].contains(name) { throw .unsupported("the item class \(name)") }
    guard let found = Self.allCases.first(where: { $0.name == name }) else {
      throw .invalidParameter("there is no item class named \(printable(name))")
    }
    self = found
  }

  /// The attributes that tell items of the class apart: no two have them all the same (Apple: errSecDuplicateItem).
  var identity: [ItemAttribute] {
    switch self {
    case .genericPassword: [.service, .account, .accessGroup]
    case .internetPassword:
      [.account, .securityDomain, .server, .protocolType, .authenticationType, .port, .path, .accessGroup]
    case .key:
      [.keyRole, .applicationLabel, .applicationTag, .keyType, .keySizeInBits, .effectiveKeySize, .accessGroup]
    }
  }

  /// Whether items of the class can have that attribute.
  func has(_ attribute: ItemAttribute) -> Bool {
    switch attribute {
    case .accessGroup, .label, .itemDescription, .comment, .creator, .type, .generic, .invisible, .negative,
      .synchronizable:
      true
    case .service: self == .genericPassword
    case .account: self != .key
    case .server, .port, .protocolType, .path, .authenticationType, .securityDomain: self == .internetPassword
    case .keyRole, .keyType, .applicationLabel, .applicationTag, .keySizeInBits, .effectiveKeySize: self == .key
    }
  }
}
