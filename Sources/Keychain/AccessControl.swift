/// What guards an item: its protection class and the constraints to satisfy first (Apple: SecAccessControl).
public struct AccessControl: Hashable, Sendable {
  /// How several constraints that a person shows go together (Apple: SecAccessControlCreateFlags `and`, `or`).
  public enum Combination: String, Sendable, CaseIterable {
    /// All of them are needed.
    case and
    /// Any one of them will do.
    case or
  }

  /// When the item can be read at all.
  public let protection: ProtectionClass
  /// What has to be shown first, in the order of their numbers.
  public let constraints: [Constraint]
  /// How those go together that a person shows; `.and` where there is one or none.
  public let combination: Combination

  /// An access control of that class and those constraints.
  /// - Parameter combination: needed where a person has to show more than one; `nil` otherwise.
  /// - Throws: `.invalidParameter` where a constraint is there twice, or where it has to be said whether all or one of
  ///   several is needed.
  public init(
    protection: ProtectionClass = .always, constraints: [Constraint] = [], combination: Combination? = nil
  ) throws(KeychainError) {
    guard Set(constraints).count == constraints.count else {
      throw .invalidParameter("a constraint is given twice")
    }
    let personal = constraints.filter(\.isPersonal).count
    guard personal <= 1 || combination != nil else {
      throw .invalidParameter("of several constraints it must be said whether all (and) or one (or) is needed")
    }
    guard personal > 1 || combination == nil else {
      throw .invalidParameter("\"\(combination?.rawValue ?? "")\" needs two constraints of a person to join")
    }
    self.init(trusted: protection, constraints.sorted { $0.code < $1.code }, combination ?? .and)
  }

  /// From names on the bus, with `and` or `or` among the constraints where there are several.
  /// - Throws: as the other initialiser, and for names that there are not.
  public init(protection: ProtectionClass = .always, names: [String]) throws(KeychainError) {
    var constraints: [Constraint] = []
    var combination: Combination?
    for name in names {
      guard let joint = Combination(rawValue: name) else {
        constraints.append(try Constraint(name: name))
        continue
      }
      guard combination == nil else { throw .invalidParameter("constraints can be joined by one of and, or") }
      combination = joint
    }
    try self.init(protection: protection, constraints: constraints, combination: combination)
  }

  private init(trusted protection: ProtectionClass, _ constraints: [Constraint], _ combination: Combination) {
    self.protection = protection
    self.constraints = constraints
    self.combination = combination
  }

  /// Nothing to show: the item is readable to its user's programs whenever the machine runs.
  public static let unconstrained = AccessControl(trusted: .always, [], .and)

  /// The constraints as names on the bus, `and` or `or` last where there are several.
  public var names: [String] {
    constraints.map(\.rawValue) + (personal.count > 1 ? [combination.rawValue] : [])
  }

  /// The constraints that a person shows.
  public var personal: [Constraint] { constraints.filter(\.isPersonal) }

  /// Whether the item's key depends on the set of enrolled fingers, so that the item ends with the set.
  public var isBoundToBiometrySet: Bool {
    constraints.contains(.biometryCurrentSet) && (personal.count == 1 || combination == .and)
  }

  /// Whether a finger counts only while the set of enrolled fingers is the one from when the item was stored, and
  /// something else opens the item afterwards.
  public var prefersBiometrySet: Bool { constraints.contains(.biometryCurrentSet) && !isBoundToBiometrySet }

  /// Whether a password of the program's own is mixed into the item's key.
  public var needsApplicationPassword: Bool { constraints.contains(.applicationPassword) }

  /// Whether it is for the use of a private key.
  public var isPrivateKeyUsage: Bool { constraints.contains(.privateKeyUsage) }

  private static let plainVersion: UInt8 = 1
  private static let combinedVersion: UInt8 = 2

  /// The one byte form of this access control: what the database keeps and what every ciphertext is bound to.
  var canonicalBytes: [UInt8] {
    let codes = [UInt8(constraints.count)] + constraints.map(\.code)
    guard personal.count > 1 else { return [Self.plainVersion, protection.rawValue] + codes }
    return [Self.combinedVersion, protection.rawValue, combination == .and ? 1 : 2] + codes
  }

  /// Reads `canonicalBytes` back. nil where the bytes are no such form; throws `.unsupported` for one of later versions.
  init?(canonicalBytes bytes: [UInt8]) throws(KeychainError) {
    guard bytes.count >= 3 else { return nil }
    guard bytes[0] == Self.plainVersion || bytes[0] == Self.combinedVersion else {
      throw .unsupported("an access control of version \(bytes[0])")
    }
    guard let protection = ProtectionClass(rawValue: bytes[1]) else {
      throw .unsupported("a protection class of number \(bytes[1])")
    }
    var rest = bytes[2...]
    var combination: Combination?
    if bytes[0] == Self.combinedVersion {
      switch rest.removeFirst() {
      case 1: combination = .and
      case 2: combination = .or
      case let other: throw .unsupported("constraints joined by number \(other)")
      }
    }
    guard let count = rest.popFirst(), rest.count == Int(count) else { return nil }
    var constraints: [Constraint] = []
    for code in rest {
      guard let constraint = Constraint.allCases.first(where: { $0.code == code }) else {
        throw .unsupported("a constraint of number \(code)")
      }
      constraints.append(constraint)
    }
    do {
      try self.init(protection: protection, constraints: constraints, combination: combination)
    } catch {
      return nil
    }
    // One access control has one form.
    guard canonicalBytes == bytes else { return nil }
  }
}
