import Foundation
import SecretMemory
import Synchronization
import TestKit
import Testing

@testable import Keychain

/// The bytes of a secret as an array: for comparisons in tests alone.
func array(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// A secret of those bytes.
func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }

func secret(_ text: String) throws -> SecretBytes { try secret(Array(text.utf8)) }

/// A clock that stands still until it is set.
final class TestClock: Sendable {
  private let value: Mutex<Int64>
  init(_ start: Int64 = 1000) { value = Mutex(start) }
  var now: Int64 {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

/// A folder for keychains of one machine: one device key, as many users as asked for.
final class TestStore: Sendable {
  let folder: TemporaryFolder
  let clock = TestClock()
  private let deviceKey: [UInt8]

  init(deviceKey: [UInt8] = (0..<32).map { $0 }) throws {
    folder = try TemporaryFolder()
    self.deviceKey = deviceKey
  }

  func directory(_ user: UInt32 = 1000) -> String { folder("users/\(user)") }
  func file(_ user: UInt32 = 1000) -> String { directory(user) + "/keychain.db" }

  func open(_ user: UInt32 = 1000, in directory: String? = nil) throws -> UserKeychain {
    let clock = clock
    return try UserKeychain(
      directory: directory ?? self.directory(user), user: UserID(user), deviceKey: try secret(deviceKey),
      now: { clock.now })
  }

  /// A connection to edit the database behind the keychain's back.
  func editor(_ user: UInt32 = 1000) throws -> Database {
    let database = try Database(path: file(user), mode: .existing)
    try database.execute("PRAGMA synchronous = OFF")
    return database
  }

  /// Every file of the user's folder with its content.
  func files(_ user: UInt32 = 1000) throws -> [String: Data] {
    var result: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory(user)) {
      result[name] = try Data(contentsOf: URL(fileURLWithPath: directory(user) + "/" + name))
    }
    return result
  }

  func mode(_ path: String) -> mode_t {
    var status = stat()
    lstat(path, &status)
    return status.st_mode & 0o777
  }
}

extension AccessControl {
  static func requiring(_ constraint: Constraint) throws -> AccessControl {
    try AccessControl(constraints: [constraint])
  }

  /// Every access control there is so far.
  static var all: [AccessControl] {
    get throws {
      try [.unconstrained]
        + [Constraint.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode].map { try .requiring($0) }
    }
  }
}

extension UserKeychain {
  @discardableResult
  func add(
    _ service: String, _ account: String = "me", _ accessControl: AccessControl = .unconstrained,
    secret text: String = "secret"
  ) throws -> ItemID {
    try add(
      ItemAttributes(service: service, account: account), accessControl: accessControl, secret: try Tests.secret(text))
  }

  func secretText(_ id: ItemID, _ accessControl: AccessControl = .unconstrained) throws -> String {
    String(decoding: array(try secret(of: id, under: accessControl)), as: UTF8.self)
  }

  func services(_ query: ItemQuery = ItemQuery(), limit: Int? = nil, includeInvalidated: Bool = false) throws
    -> [String]
  {
    try find(query, limit: limit, includeInvalidated: includeInvalidated).map(\.attributes.service)
  }
}

/// Lets a member function of the same name reach the global one.
enum Tests {
  static func secret(_ text: String) throws -> SecretBytes { try KeychainTests.secret(text) }
}
