/// What a secret asks for before it comes out: the values of `--require`.
enum Requirement: String, Sendable, CaseIterable {
  /// Any enrolled finger.
  case any
  /// Any of the fingers that are enrolled now; enrolling or deleting one destroys the secret.
  case current
  /// A finger, or the passcode where no finger will do.
  case presence
  /// The passcode.
  case passcode
  /// Nothing.
  case none

  /// The constraints as the bus names them.
  var constraints: [String] {
    switch self {
    case .any: ["biometry-any"]
    case .current: ["biometry-current-set"]
    case .presence: ["user-presence"]
    case .passcode: ["device-passcode"]
    case .none: []
    }
  }

  /// The requirement of an item with these constraints; nil where this version has no word for them.
  init?(constraints: [String]) {
    guard let found = Self.allCases.first(where: { $0.constraints == constraints }) else { return nil }
    self = found
  }
}
