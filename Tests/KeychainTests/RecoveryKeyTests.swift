import SecretMemory
import Testing

@testable import Keychain

/// The key on paper: its text, and what it opens.
struct RecoveryKeyTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  private func unlocked() throws -> UserKeychain {
    let keychain = try store.open()
    try keychain.setPasscode(
      try StretchedPassword(try secret("swordfish"), parameters: StretchingParameters(cost: .none)))
    return keychain
  }

  private func text(_ key: borrowing RecoveryKey) throws -> String {
    String(decoding: array(try key.text()), as: UTF8.self)
  }

  private struct NoKey: Error {}

  private func key(_ text: String) throws -> RecoveryKey {
    guard let key = try RecoveryKey(typed: try secret(text)) else { throw NoKey() }
    return key
  }

  private func isKey(_ text: String) throws -> Bool {
    do {
      _ = try key(text)
      return true
    } catch is NoKey {
      return false
    }
  }

  @Test func `it is read back however it is typed`() throws {
    for _ in 0..<50 {
      let original = try RecoveryKey()
      let text = try text(original)
      #expect(text.count == 41)
      for typed in [
        text, text.lowercased(), text.replacing("-", with: ""), text.replacing("-", with: " "),
        text.replacing("1", with: "l").replacing("0", with: "o"), " \(text) ",
      ] {
        let back = try key(typed)
        let isSame = SecretBytes.constantTimeEqual(back.secret, original.secret)
        #expect(isSame)
      }
    }
  }

  @Test func `a mistyped one is none`() throws {
    let text = try text(try RecoveryKey())
    for typed in ["", "-", text + "0", String(text.dropLast()), String(text.dropLast()) + "U", text + "\n"] {
      #expect(try !isKey(typed))
    }
    var missed = 0
    for index in text.indices where text[index] != "-" {
      var other = text
      other.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
      if try isKey(other) { missed += 1 }
    }
    // Each is missed once in 32,768.
    #expect(missed <= 1)
  }

  @Test func `it unlocks without the passcode; a new one takes the old one's place; a revoked one opens nothing`()
    throws
  {
    let control = try AccessControl(protection: .whenPasscodeSet)
    let keychain = try unlocked()
    let id = try keychain.add("a", "me", control)
    #expect(try !keychain.hasRecoveryKey())
    let first = try text(try keychain.makeRecoveryKey())
    #expect(try keychain.hasRecoveryKey())
    let locked = try store.open()
    #expect(throws: KeychainError.locked(.afterFirstUnlock)) { _ = try locked.makeRecoveryKey() }
    #expect(try locked.unlock(with: try key(first)))
    #expect(try locked.secretText(id, control) == "secret")

    let second = try text(try locked.makeRecoveryKey())
    let again = try store.open()
    #expect(try !again.unlock(with: try key(first)))
    #expect(try again.unlock(with: try key(second)))

    #expect(try again.revokeRecoveryKey())
    #expect(try !again.revokeRecoveryKey())
    #expect(try !store.open().unlock(with: try key(second)))
  }

  @Test func `a lost device key is replaced, and everything is there again`() throws {
    let control = try AccessControl(protection: .afterFirstUnlock)
    let keychain = try unlocked()
    let plain = try keychain.add("plain")
    let locked = try keychain.add("locked", "me", control)
    try keychain.recordEnrolment(finger: 7, reader: "r", print: [1])
    let recovery = try text(try keychain.makeRecoveryKey())

    let other = try TestStore(deviceKey: [UInt8](repeating: 9, count: 32))
    let directory = store.directory()
    #expect(throws: KeychainError.tampered("the keybag in \(store.file())")) { try other.open(1000, in: directory) }
    let wrong = try RecoveryKey()
    let state = UnlockState()
    func replace(_ key: borrowing RecoveryKey) throws -> Bool {
      guard let rescued = try UserKeychain.rescue(inDirectory: directory, user: UserID(1000), by: key) else {
        return false
      }
      try rescued.adopt(try secret([UInt8](repeating: 9, count: 32)), state)
      return true
    }
    #expect(
      try UserKeychain.waysBack(inDirectory: directory) == UserKeychain.WaysBack(recoveryKey: true, passcode: nil))
    #expect(try !replace(wrong))
    #expect(try store.open().services() == ["plain", "locked"])  // nothing was touched
    #expect(try replace(try key(recovery)))
    #expect(state.isUnlocked)

    let back = try other.open(1000, in: directory)
    #expect(try back.secretText(plain) == "secret")
    #expect(try back.isRegistered(print: [1]) != nil)
    // The passcode's slot was of the old device key; the recovery key opens the rest, and the passcode is set anew.
    let passcode = try StretchedPassword(
      try secret("swordfish"), parameters: try #require(try back.passcodeParameters()))
    #expect(try !back.unlock(with: passcode))
    #expect(try back.unlock(with: try key(recovery)))
    try back.setPasscode(passcode)
    #expect(try other.open(1000, in: directory).unlock(with: passcode))
    #expect(try back.secretText(locked, control) == "secret")
    #expect(throws: KeychainError.self) { try store.open() }
  }

  @Test func `the passcode alone brings a keychain back where that was allowed, and only that passcode`() throws {
    let control = try AccessControl(protection: .afterFirstUnlock)
    let keychain = try unlocked()
    let locked = try keychain.add("locked", "me", control)
    #expect(try UserKeychain.waysBack(inDirectory: store.directory()).isEmpty)
    try keychain.allowRescue(
      by: try StretchedPassword(try secret("swordfish"), parameters: StretchingParameters(cost: .none)))
    let ways = try #require(try UserKeychain.waysBack(inDirectory: store.directory()).passcode)

    let other = try TestStore(deviceKey: [UInt8](repeating: 9, count: 32))
    let state = UnlockState()
    func bringBack(_ passcode: String) throws -> Bool {
      let rescue = try StretchedPassword(try secret(passcode), parameters: ways.rescue)
      let unlocking = try StretchedPassword(try secret(passcode), parameters: ways.unlocking)
      guard
        let rescued = try UserKeychain.rescue(
          inDirectory: store.directory(), user: UserID(1000), by: rescue, unlocking)
      else { return false }
      try rescued.adopt(try secret([UInt8](repeating: 9, count: 32)), state)
      return true
    }
    #expect(try !bringBack("sword fish"))
    #expect(try bringBack("swordfish"))
    let back = try other.open(1000, in: store.directory())
    #expect(
      try back.unlock(
        with: try StretchedPassword(
          try secret("swordfish"), parameters: try #require(try back.passcodeParameters()))))
    #expect(try back.secretText(locked, control) == "secret")
    // What stood for the lost key is gone with it.
    #expect(try !back.allowsRescue())
  }

  @Test func `a new passcode ends the way back of the old one`() throws {
    let keychain = try unlocked()
    func stretched(_ text: String) throws -> StretchedPassword {
      try StretchedPassword(try secret(text), parameters: StretchingParameters(cost: .none))
    }
    try keychain.allowRescue(by: try stretched("swordfish"))
    #expect(try keychain.allowsRescue())
    try keychain.setPasscode(try stretched("new"))
    #expect(try !keychain.allowsRescue())
  }
}
