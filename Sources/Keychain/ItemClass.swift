/// The kind of thing an item keeps. Its number is part of the file format.
public enum ItemClass: UInt8, Sendable, CaseIterable {
  /// A password or other secret, known by service and account.
  case genericPassword = 1
  /// A password for a server; not kept yet.
  case internetPassword = 2
  /// A cryptographic key; not kept yet.
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
  /// - Throws: `.unsupported` for a class that cannot be kept yet; `.invalidParameter` for any other text.
  public init(name: String) throws(KeychainError) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else {
      throw .invalidParameter("there is no item class named \(printable(name))")
    }
    try found.requireSupport()
    self = found
  }

  func requireSupport() throws(KeychainError) {
    guard self == .genericPassword else { throw .unsupported("the item class \(name)") }
  }
}
