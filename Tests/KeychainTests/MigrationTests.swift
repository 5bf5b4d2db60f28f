import Foundation
import TestKit
import Testing

@testable import Keychain

/// A keychain of each released format, opened by this version. How the files were made: Fixtures/README.md.
struct MigrationTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The fixture of a format, in a folder of its own.
  private func place(_ format: Int) throws -> String {
    let directory = folder("users/1000")
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/keychain-\(format).db")
    let target = directory + "/keychain.db"
    try FileManager.default.copyItem(atPath: source.path, toPath: target)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
    return directory
  }

  private func open(_ directory: String) throws -> UserKeychain {
    try UserKeychain(
      directory: directory, user: UserID(1000),
      deviceKey: try secret([UInt8](repeating: 0x11, count: 32)), now: { 1_764_000_500 })
  }

  @Test func `A keychain of format 1 comes over whole, and opens again as one of this format`() throws {
    let directory = try place(1)
    for _ in 0..<2 {
      let keychain = try open(directory)
      #expect(try keychain.owner() == "alice")
      #expect(try keychain.lockout() == LockoutRecord(misses: 3))
      #expect(try keychain.biometrySet().map(\.finger) == [7, 8])
      #expect(try keychain.isRegistered(print: [8, 8, 8])?.reader == "virtual_image/dev")
      let items = try keychain.find(ItemQuery(), includeInvalidated: true)
      #expect(items.map(\.attributes.service) == ["mail", "bank", "gone", "set", "code"])
      #expect(items.map { $0.state == .present } == [true, true, false, true, true])
      #expect(
        items.map(\.accessControl.constraints) == [
          [], [.biometryAny], [.biometryCurrentSet], [.biometryCurrentSet], [.devicePasscode],
        ])
      #expect(items[0].attributes.label == "Mail")
      #expect(items[0].attributes.generic == [1, 2, 3])
      #expect(items[0].created == 1_764_000_000)
      for (index, text) in [(0, "plain secret"), (1, "finger secret"), (3, "bound secret"), (4, "passcode secret")] {
        #expect(try keychain.secretText(items[index].id, items[index].accessControl) == text)
      }
      #expect(try keychain.find(ItemQuery(service: "bank", account: "alice")).count == 1)
    }
    let database = try Database(path: directory + "/keychain.db", mode: .existing)
    #expect(try database.number("PRAGMA user_version") == Schema.version)
  }

  @Test func `A changed table of an old format is refused, and the file stays of that format`() throws {
    let directory = try place(1)
    do {
      let editor = try Database(path: directory + "/keychain.db", mode: .existing)
      try editor.execute("CREATE TABLE trusted_reader(number INTEGER)")
    }
    #expect(throws: KeychainError.corrupt(directory + "/keychain.db")) { _ = try open(directory) }
    let editor = try Database(path: directory + "/keychain.db", mode: .existing)
    #expect(try editor.number("PRAGMA user_version") == 1)
  }

  @Test func `A new keychain has the same tables as one that came over`() throws {
    let old = try place(1)
    _ = try open(old)
    let fresh = folder("users/1001")
    _ = try open(fresh)
    let listing =
      "SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name)"
    func tables(_ directory: String) throws -> String? {
      var result: String?
      try Database(path: directory + "/keychain.db", mode: .existing).rows(listing) { (row) throws(KeychainError) in
        result = row.text(0)
        return false
      }
      return result
    }
    let expected = try tables(fresh)
    #expect(expected != nil)
    #expect(try tables(old) == expected)
  }
}
