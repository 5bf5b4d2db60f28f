/// What guards an item: its protection class and the constraint to satisfy first, if any.
public struct AccessControl: Hashable, Sendable {
  /// When the item can be read at all.
  public let protection: ProtectionClass
  /// What a person must show first: none or one, for now.
  public let constraints: [Constraint]

  /// An access control of that class and those constraints.
  /// - Throws: `.unsupported`, naming the class or constraint that cannot be kept yet, or where there are several.
  public init(protection: ProtectionClass = .always, constraints: [Constraint] = []) throws(KeychainError) {
    try protection.requireSupport()
    for constraint in constraints { try constraint.requireSupport() }
    guard constraints.count <= 1 else { throw .unsupported("more than one constraint on an item") }
    self.init(trusted: protection, constraints)
  }

  private init(trusted protection: ProtectionClass, _ constraints: [Constraint]) {
    self.protection = protection
    self.constraints = constraints
  }

  /// Nothing to show: the item is readable to its user's programs whenever the machine runs.
  public static let unconstrained = AccessControl(trusted: .always, [])

  /// Whether the item's key depends on the set of enrolled fingers.
  public var isBoundToBiometrySet: Bool { constraints.contains(.biometryCurrentSet) }

  private static let formatVersion: UInt8 = 1

  /// The one byte form of this access control: what the database keeps and what every ciphertext is bound to.
  var canonicalBytes: [UInt8] {
    [Self.formatVersion, protection.rawValue, UInt8(constraints.count)] + constraints.map(\.code)
  }

  /// Reads `canonicalBytes` back. nil where the bytes are no such form; throws `.unsupported` for a known one of
  /// later versions.
  init?(canonicalBytes bytes: [UInt8]) throws(KeychainError) {
    guard bytes.count >= 3 else { return nil }
    guard bytes[0] == Self.formatVersion else { throw .unsupported("an access control of version \(bytes[0])") }
    guard let protection = ProtectionClass(rawValue: bytes[1]) else {
      throw .unsupported("a protection class of number \(bytes[1])")
    }
    guard bytes.count == 3 + Int(bytes[2]) else { return nil }
    var constraints: [Constraint] = []
    for code in bytes[3...] {
      guard let constraint = Constraint.allCases.first(where: { $0.code == code }) else {
        throw .unsupported("a constraint of number \(code)")
      }
      constraints.append(constraint)
    }
    try self.init(protection: protection, constraints: constraints)
  }
}
