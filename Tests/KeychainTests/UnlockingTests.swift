import SecretMemory
import Testing

@testable import Keychain

/// Protection classes, the passcode's slot, and what becomes of items when the passcode goes.
struct UnlockingTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  private func stretched(_ passcode: String, _ keychain: UserKeychain) throws -> StretchedPassword {
    try StretchedPassword(
      try secret(passcode), parameters: try keychain.passcodeParameters() ?? StretchingParameters(cost: .none))
  }

  private func unlocked(_ passcode: String = "swordfish") throws -> UserKeychain {
    let keychain = try store.open()
    try keychain.setPasscode(try stretched(passcode, keychain))
    return keychain
  }

  private static let lockable = ProtectionClass.allCases.filter(\.needsPasscode)

  @Test(arguments: lockable)
  func `an item of a locked class can be neither added nor read, and is found all the same`(
    protection: ProtectionClass
  ) throws {
    let control = try AccessControl(protection: protection)
    let fresh = try store.open()
    #expect(try fresh.keybagState() == .unused)
    #expect(throws: KeychainError.locked(protection)) { try fresh.add("early", "me", control) }

    let keychain = try unlocked()
    let id = try keychain.add("a", "me", control, secret: "kept")
    #expect(try keychain.secretText(id, control) == "kept")

    let again = try store.open()
    #expect(try again.keybagState() == .locked)
    #expect(throws: KeychainError.locked(protection)) { try again.secretText(id, control) }
    #expect(throws: KeychainError.locked(protection)) { try again.add("b", "me", control) }
    #expect(try again.services() == ["a"])
    #expect(try again.unlock(with: try stretched("swordfish", again)))
    #expect(try again.secretText(id, control) == "kept")
    #expect(try again.keybagState() == .unlocked)
    // Deleting needs no key.
    #expect(try store.open().delete(id))
  }

  @Test func `items that need no passcode are there without one`() throws {
    for protection in [ProtectionClass.always, .alwaysThisDeviceOnly] {
      let control = try AccessControl(protection: protection)
      let id = try store.open().add(protection.name, "me", control)
      #expect(try store.open().secretText(id, control) == "secret")
    }
  }

  @Test func `a wrong passcode opens nothing, and another machine's device key does not either`() throws {
    _ = try unlocked()
    let keychain = try store.open()
    #expect(try !keychain.unlock(with: try stretched("sword fish", keychain)))
    #expect(
      try !keychain.unlock(
        with: try StretchedPassword(try secret("swordfish"), parameters: StretchingParameters(cost: .none))))
    #expect(try keychain.keybagState() == .locked)
    let other = try TestStore(deviceKey: [UInt8](repeating: 7, count: 32))
    let slot = try #require(try store.editor().blob("SELECT wrapped FROM keybag WHERE kind = 2"))
    let parameters = try #require(try store.editor().blob("SELECT parameters FROM keybag WHERE kind = 2"))
    _ = try other.open()
    try other.editor().run(
      "INSERT INTO keybag(slot, kind, version, parameters, wrapped) VALUES(2, 2, 1, ?, ?)",
      [.blob(parameters), .blob(slot)])
    let thief = try other.open()
    #expect(try !thief.unlock(with: try stretched("swordfish", thief)))
  }

  @Test func `while the sessions are locked only classes for unlocked sessions are out of reach`() throws {
    let keychain = try unlocked()
    var ids: [ProtectionClass: ItemID] = [:]
    for protection in ProtectionClass.allCases {
      ids[protection] = try keychain.add(protection.name, "me", try AccessControl(protection: protection))
    }
    keychain.unlockState.isSessionLocked = true
    #expect(try keychain.keybagState() == .sessionLocked)
    for (protection, id) in ids {
      let control = try AccessControl(protection: protection)
      if protection.endsAtSessionLock {
        #expect(throws: KeychainError.locked(protection)) { try keychain.secretText(id, control) }
      } else {
        #expect(try keychain.secretText(id, control) == "secret")
      }
    }
    keychain.unlockState.isSessionLocked = false
    for (protection, id) in ids {
      #expect(try keychain.secretText(id, try AccessControl(protection: protection)) == "secret")
    }
  }

  @Test func `a new passcode takes the place of the old one while the keychain is unlocked, and only then`() throws {
    let control = try AccessControl(protection: .afterFirstUnlock)
    let keychain = try unlocked("old")
    let id = try keychain.add("a", "me", control)
    try keychain.setPasscode(try StretchedPassword(try secret("new"), parameters: StretchingParameters(cost: .none)))

    let locked = try store.open()
    #expect(throws: KeychainError.locked(.afterFirstUnlock)) { try locked.setPasscode(try stretched("third", locked)) }
    #expect(try !locked.unlock(with: try stretched("old", locked)))
    #expect(try locked.unlock(with: try stretched("new", locked)))
    #expect(try locked.secretText(id, control) == "secret")
  }

  @Test func `what is unlocked outlives the keychain that it was unlocked through`() throws {
    let state = UnlockState()
    func open() throws -> UserKeychain {
      try UserKeychain(
        directory: store.directory(), user: UserID(1000), deviceKey: try secret((0..<32).map { $0 }), unlockState: state
      )
    }
    let control = try AccessControl(protection: .whenUnlocked)
    var id: ItemID?
    do {
      let keychain = try open()
      try keychain.setPasscode(try stretched("swordfish", keychain))
      id = try keychain.add("a", "me", control)
    }
    #expect(try open().secretText(try #require(id), control) == "secret")
    state.lock()
    #expect(throws: KeychainError.locked(.whenUnlocked)) { try open().secretText(try #require(id), control) }
  }

  @Test func `with the passcode its items lose their secrets for good, and others keep theirs`() throws {
    let keychain = try unlocked()
    var ids: [ProtectionClass: ItemID] = [:]
    for protection in ProtectionClass.allCases {
      ids[protection] = try keychain.add(protection.name, "me", try AccessControl(protection: protection))
    }
    let before = try Database(path: store.file(), mode: .existing)
    let classKey = try #require(try before.blob("SELECT wrapped FROM class_key WHERE class = 4"))
    let rows = try ids.map { protection, id in
      (
        protection, id, try #require(try before.blob("SELECT key FROM item WHERE id = ?", [.integer(id.rawValue)])),
        try #require(try before.blob("SELECT secret FROM item WHERE id = ?", [.integer(id.rawValue)])),
        try #require(try before.blob("SELECT attributes FROM item WHERE id = ?", [.integer(id.rawValue)]))
      )
    }
    store.clock.now = 5000
    #expect(try keychain.destroyItemsOfPasscode() == 2)
    #expect(try keychain.destroyItemsOfPasscode() == 0)
    for (protection, id) in ids {
      let control = try AccessControl(protection: protection)
      guard protection.endsWithPasscode else {
        #expect(try keychain.secretText(id, control) == "secret")
        continue
      }
      #expect(throws: KeychainError.passcodeRemoved(at: 5000)) { try keychain.secretText(id, control) }
      #expect(try keychain.summary(of: id).state == .passcodeRemoved(at: 5000))
    }
    // A password again: the class begins anew, and the name is free.
    let again = try store.open()
    #expect(try again.unlock(with: try stretched("swordfish", again)))
    let control = try AccessControl(protection: .whenPasscodeSet)
    let id = try again.add("when-passcode-set", "me", control, secret: "second")
    #expect(try again.secretText(id, control) == "second")
    // Whoever kept the rows from before, but not the class key, has nothing.
    for (protection, old, key, sealed, attributes) in rows where protection == .whenPasscodeSetThisDeviceOnly {
      try before.run(
        "UPDATE item SET state = 0, key = ?, secret = ?, attributes = ? WHERE id = ?",
        [.blob(key), .blob(sealed), .blob(attributes), .integer(old.rawValue)])
      #expect(throws: KeychainError.tampered("item \(old.rawValue) of user 1000")) {
        try again.secretText(old, try AccessControl(protection: protection))
      }
    }
    #expect(classKey != (try before.blob("SELECT wrapped FROM class_key WHERE class = 4")))
  }

  @Test func `no byte of a slot or of what stretches the passcode can be changed`() throws {
    let keychain = try unlocked()
    let passcode = try stretched("swordfish", keychain)
    let editor = try store.editor()
    let wrapped = try #require(try editor.blob("SELECT wrapped FROM keybag WHERE kind = 2"))
    for index in wrapped.indices {
      var changed = wrapped
      changed[index] ^= 1
      try editor.run("UPDATE keybag SET wrapped = ? WHERE kind = 2", [.blob(changed)])
      #expect(try !store.open().unlock(with: passcode))
    }
    try editor.run("UPDATE keybag SET wrapped = ? WHERE kind = 2", [.blob(wrapped)])
    let parameters = try #require(try editor.blob("SELECT parameters FROM keybag WHERE kind = 2"))
    for index in parameters.indices {
      var changed = parameters
      changed[index] ^= 1
      try editor.run("UPDATE keybag SET parameters = ? WHERE kind = 2", [.blob(changed)])
      guard let other = try? store.open() else { continue }
      #expect(try !other.unlock(with: passcode))
    }
    try editor.run("UPDATE keybag SET parameters = ? WHERE kind = 2", [.blob(parameters)])
    #expect(try store.open().unlock(with: passcode))
  }

  @Test(arguments: [[], [1], [UInt8](repeating: 0xff, count: 25), [UInt8](repeating: 0, count: 25)] as [[UInt8]])
  func `parameters that ask for absurd work are none`(bytes: [UInt8]) throws {
    #expect(StretchingParameters(bytes) == nil)
    _ = try unlocked()
    try store.editor().run("UPDATE keybag SET parameters = ? WHERE kind = 2", [.blob(bytes)])
    #expect(throws: KeychainError.tampered("the keybag in \(store.file())")) { try store.open() }
  }
}
