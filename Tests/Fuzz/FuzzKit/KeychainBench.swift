import SecretMemory

@testable import Keychain

/// A keychain in memory whose keys are known, and whose tables take values of any type: a hostile file's do too, for
/// SQLite looks at types when it writes.
final class KeychainBench {
  /// Whose it is.
  static let user = UserID(1000)

  /// The device key that it is under.
  let deviceKey: SecretBytes

  let database: Database

  /// An empty one.
  init() throws {
    deviceKey = try secret((0..<32).map { $0 })
    database = try Database(path: ":memory:", mode: .memory)
    let strict = try Database(path: ":memory:", mode: .memory)
    try Schema.create(in: strict)
    var statements: [String] = []
    try strict.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid") {
      (row) throws(KeychainError) in
      if let text = row.text(0) { statements.append(text) }
      return true
    }
    for statement in statements {
      var loose = statement
      for word in [" STRICT", " NOT NULL", " UNIQUE"] { loose = loose.replacing(word, with: "") }
      try database.execute(loose)
    }
  }

  /// A keychain in it with keys, one registered finger and a passcode, which was given.
  func makeKeychain() throws -> UserKeychain {
    let user = Self.user
    try Keybag.create(in: database, user: user, deviceKey: deviceKey)
    try BiometrySetStore.create(
      in: database, user: user, keys: try Keybag.open(from: database, user: user, deviceKey: deviceKey))
    let keychain = try openKeychain(UnlockState())
    try keychain.recordEnrolment(finger: 1, reader: "virtual/1", print: [1])
    try keychain.setPasscode(try Self.passcode(StretchingParameters(cost: .none)))
    return keychain
  }

  /// The keychain in it.
  func openKeychain(_ state: UnlockState) throws(KeychainError) -> UserKeychain {
    try UserKeychain(
      over: database, user: Self.user, deviceKey: deviceKey, unlockState: state, quota: .usual, now: { 1000 })
  }

  /// The passcode, stretched.
  static func passcode(_ parameters: StretchingParameters) throws -> StretchedPassword {
    try StretchedPassword(try secret(Array("passcode".utf8)), parameters: parameters)
  }
}

extension DatabaseValue {
  /// A value of any type.
  init(_ input: inout FuzzInput) {
    switch input.choice(5) {
    case 0: self = .null
    case 1: self = .integer(Int64(Int8(bitPattern: input.byte())))
    case 2: self = .integer(input.number(Int64.self))
    case 3: self = .blob(input.field())
    // SQLite ends a text at its first NUL.
    default: self = .text(input.text().replacing("\0", with: ""))
    }
  }
}

/// A secret of those bytes.
func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }
