import Testing

@testable import Keychain

@Suite struct LockoutTests {
  private let record = LockoutRecord(
    misses: 4, passcodeFailures: 255, passcodeNotBefore: .max, bootID: [UInt8](repeating: 3, count: 16),
    passcodeNotBeforeSinceBoot: 12)

  @Test func `a new user has no failures`() throws {
    #expect(try TestStore().open().lockout() == LockoutRecord())
  }

  @Test func `the record survives reopening and is the user's own`() throws {
    let store = try TestStore()
    try store.open().setLockout(record)
    #expect(try store.open().lockout() == record)
    #expect(try store.open(1001).lockout() == LockoutRecord())
  }

  @Test func `numbers out of range are refused and the record stays`() throws {
    let keychain = try TestStore().open()
    try keychain.setLockout(record)
    for change: (inout LockoutRecord) -> Void in [
      { $0.misses = -1 }, { $0.misses = 256 }, { $0.passcodeFailures = .max }, { $0.passcodeNotBefore = -1 },
      { $0.bootID = [1] }, { $0.passcodeNotBeforeSinceBoot = -1 },
    ] {
      var bad = record
      change(&bad)
      #expect(throws: KeychainError.self) { try keychain.setLockout(bad) }
    }
    #expect(try keychain.lockout() == record)
  }

  @Test func `an altered, lost or borrowed record means locked, until a new one is stored`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    _ = try store.open(1001)
    let editor = try store.editor()
    func isLocked() throws {
      let found = try keychain.lockout()
      #expect(found.isDamaged && found.misses == 255 && found.passcodeFailures == 10 && found.passcodeNotBefore == 0)
    }
    var sealed: [UInt8] = []
    try editor.rows("SELECT sealed FROM lockout") { (row) throws(KeychainError) in
      sealed = row.blob(0) ?? []
      return true
    }
    #expect(!sealed.isEmpty)
    for index in sealed.indices {
      var altered = sealed
      altered[index] ^= 0x10
      try editor.run("UPDATE lockout SET sealed = ?", [.blob(altered)])
      try isLocked()
    }
    try editor.run("UPDATE lockout SET sealed = ?, version = 2", [.blob(sealed)])
    try isLocked()
    try editor.run("DELETE FROM lockout")
    try isLocked()
    try editor.run("INSERT INTO lockout(id, version, sealed) VALUES(1, 1, x'')")
    try isLocked()

    var foreign: [UInt8] = []
    try store.editor(1001).rows("SELECT sealed FROM lockout") { (row) throws(KeychainError) in
      foreign = row.blob(0) ?? []
      return true
    }
    try editor.run("UPDATE lockout SET version = 1, sealed = ?", [.blob(foreign)])
    try isLocked()

    try keychain.setLockout(LockoutRecord())
    #expect(try keychain.lockout() == LockoutRecord())
  }
}
