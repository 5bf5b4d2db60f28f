import Foundation
import Testing

@testable import Keychain

@Suite struct BiometrySetTests {
  private let reader = "synaptics/0"

  @Test func `a finger enrolled is registered under its exact print, also after reopening`() throws {
    let store = try TestStore()
    store.clock.now = 77
    try store.open().recordEnrolment(finger: 7, reader: reader, print: [1, 2, 3])
    let keychain = try store.open()
    let member = try #require(try keychain.isRegistered(print: [1, 2, 3]))
    #expect(member.finger == 7 && member.reader == reader && member.enrolledAt == 77)
    #expect(member.id.count == 16 && member.printDigest.count == 32)
    #expect(try keychain.biometrySet() == [member])
    #expect(try keychain.isRegistered(print: [1, 2, 4]) == nil)
    #expect(try keychain.isRegistered(print: [1, 2]) == nil)
  }

  @Test func `a print registered by one user is not by another`() throws {
    let store = try TestStore()
    let (one, two) = (try store.open(1000), try store.open(1001))
    try one.recordEnrolment(finger: 7, reader: reader, print: [1])
    try two.recordEnrolment(finger: 7, reader: reader, print: [2])
    #expect(try two.isRegistered(print: [1]) == nil)
    #expect(try one.biometrySet().first?.printDigest != two.biometrySet().first?.printDigest)
  }

  @Test func `the same finger enrolled again takes the earlier one's place, on its reader alone`() throws {
    let keychain = try TestStore().open()
    try keychain.recordEnrolment(finger: 7, reader: reader, print: [1])
    try keychain.recordEnrolment(finger: 7, reader: "other", print: [2])
    try keychain.recordEnrolment(finger: 7, reader: reader, print: [3])
    #expect(try keychain.biometrySet().map(\.reader) == ["other", reader])
    #expect(try keychain.isRegistered(print: [1]) == nil)
    #expect(try keychain.isRegistered(print: [2]) != nil)
  }

  @Test func `a deletion names finger and reader; of one that is not there nothing changes`() throws {
    let keychain = try TestStore().open()
    try keychain.recordEnrolment(finger: 7, reader: reader, print: [1])
    let id = try keychain.add("a", "me", .requiring(.biometryCurrentSet))
    let state = try keychain.biometryDomainState()
    #expect(try keychain.setMark() != state, "programs see nothing of what marks items")
    #expect(try keychain.recordDeletion(finger: 6, reader: reader) == false)
    #expect(try keychain.recordDeletion(finger: 7, reader: "other") == false)
    #expect(try keychain.biometryDomainState() == state)
    #expect(try keychain.secretText(id, .requiring(.biometryCurrentSet)) == "secret")
    #expect(try keychain.recordDeletion(finger: 7, reader: reader) == true)
    #expect(try keychain.isRegistered(print: [1]) == nil)
  }

  @Test func `what is no finger, reader or print is refused`() throws {
    let keychain = try TestStore().open()
    for finger: UInt8 in [0, 11, 255] {
      #expect(throws: KeychainError.invalidParameter("there is no finger \(finger), only 1 to 10")) {
        try keychain.recordEnrolment(finger: finger, reader: reader, print: [1])
      }
    }
    for name in ["", "a\u{0}", String(repeating: "x", count: 1025)] {
      #expect(throws: KeychainError.self) { try keychain.recordEnrolment(finger: 1, reader: name, print: [1]) }
    }
    #expect(throws: KeychainError.invalidParameter("the print is empty")) {
      try keychain.recordEnrolment(finger: 1, reader: reader, print: [])
    }
    #expect(throws: KeychainError.tooLarge("the print", limit: 4 << 20)) {
      try keychain.recordEnrolment(finger: 1, reader: reader, print: [UInt8](repeating: 1, count: 4 << 20 + 1))
    }
    #expect(try keychain.biometrySet().isEmpty)
  }

  @Test func `the domain state stays over reopening and is new after each change, also back to the same fingers`()
    throws
  {
    let store = try TestStore()
    var seen: Set<[UInt8]> = []
    func note() throws {
      let state = try store.open().biometryDomainState()
      #expect(state.count == 32)
      #expect(try store.open().biometryDomainState() == state)
      #expect(seen.insert(state).inserted)
    }
    let keychain = try store.open()
    try note()
    for _ in 0..<2 {
      try keychain.recordEnrolment(finger: 7, reader: reader, print: [1])
      try note()
      try _ = keychain.recordDeletion(finger: 7, reader: reader)
      try note()
    }
    try keychain.resetBiometrySet()
    try note()
  }

  @Test func `an item cannot be bound to a set without a finger`() throws {
    let keychain = try TestStore().open()
    #expect(throws: KeychainError.invalidParameter("no finger is registered for an item to be bound to")) {
      try keychain.add("a", "me", .requiring(.biometryCurrentSet))
    }
    #expect(try keychain.services() == [])
  }

  enum Change: CaseIterable {
    case enrolment, deletion, replacement, reset
    func make(_ keychain: UserKeychain) throws {
      switch self {
      case .enrolment: try keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
      case .deletion: #expect(try keychain.recordDeletion(finger: 1, reader: "r"))
      case .replacement: try keychain.recordEnrolment(finger: 1, reader: "r", print: [9])
      case .reset: try keychain.resetBiometrySet()
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `each change of the set ends the items bound to it, and no others`(change: Change) throws {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    try keychain.recordEnrolment(finger: 3, reader: "r", print: [3])
    let ids = try AccessControl.all.map { ($0, try keychain.add("s", "\($0.constraints)", $0)) }
    store.clock.now = 5000
    try change.make(keychain)
    for handle in [keychain, try store.open()] {
      for (own, id) in ids {
        if own.isBoundToBiometrySet {
          #expect(throws: KeychainError.invalidated(at: 5000)) { try handle.secretText(id, own) }
          #expect(throws: KeychainError.invalidated(at: 5000)) {
            try handle.update(id, under: own, changes: ItemQuery(), secret: try secret("new"))
          }
        } else {
          #expect(try handle.secretText(id, own) == "secret")
        }
      }
      #expect(try handle.find(ItemQuery()).count == 4)
      let all = try handle.find(ItemQuery(), includeInvalidated: true)
      #expect(all.count == 5)
      #expect(all.filter { $0.state == .invalidated(at: 5000) }.map(\.accessControl.isBoundToBiometrySet) == [true])
    }
  }

  @Test func `an invalidated item makes way for a new one, and stays dead`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    let own = try AccessControl.requiring(.biometryCurrentSet)
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    let old = try keychain.add("a", "me", own, secret: "old")
    try keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    let new = try keychain.add("a", "me", own, secret: "new")
    #expect(new != old)
    #expect(try keychain.secretText(new, own) == "new")
    #expect(throws: KeychainError.itemNotFound) { try keychain.secretText(old, own) }
    #expect(try keychain.find(ItemQuery(), includeInvalidated: true).map(\.id) == [new])
  }

  @Test func `a rename onto an invalidated item replaces it`() throws {
    let keychain = try TestStore().open()
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    try keychain.add("a", "me", .requiring(.biometryCurrentSet))
    let other = try keychain.add("b")
    try _ = keychain.recordDeletion(finger: 1, reader: "r")
    try keychain.update(other, under: .unconstrained, changes: ItemQuery(service: "a"), secret: nil)
    #expect(try keychain.find(ItemQuery(), includeInvalidated: true).map(\.id) == [other])
  }

  @Test func `an invalidated item can be deleted, by query and by number`() throws {
    let keychain = try TestStore().open()
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    let own = try AccessControl.requiring(.biometryCurrentSet)
    try keychain.add("a", "me", own)
    let second = try keychain.add("b", "me", own)
    try keychain.resetBiometrySet()
    #expect(try keychain.delete(ItemQuery(service: "a")) == 1)
    #expect(try keychain.delete(second))
    #expect(try keychain.find(ItemQuery(), includeInvalidated: true).isEmpty)
  }

  @Test func `the encrypted secret and key of an invalidated, changed or deleted item are in no file any more`() throws
  {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    func ciphertexts() throws -> [[UInt8]] {
      var result: [[UInt8]] = []
      try store.editor().rows("SELECT key, secret FROM item") { (row) throws(KeychainError) in
        result += [row.blob(0), row.blob(1)].compactMap { $0 }
        return true
      }
      return result
    }
    func areGone(_ old: [[UInt8]]) throws {
      #expect(old.count == 2)
      for (name, content) in try store.files() {
        for text in old { #expect(content.range(of: Data(text)) == nil, "\(name)") }
      }
    }
    let own = try AccessControl.requiring(.biometryCurrentSet)
    let secret = String(repeating: "long ", count: 3000)
    let id = try keychain.add("a", "me", own, secret: secret)
    let first = try ciphertexts()
    try keychain.update(id, under: own, changes: ItemQuery(), secret: try Tests.secret(secret))
    try areGone(first)
    let second = try ciphertexts()
    try keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    try areGone(second)
    try keychain.add("b", "me", own, secret: secret)
    let third = try ciphertexts()
    #expect(try keychain.delete(ItemQuery(service: "b")) == 1)
    try areGone(third)
  }
}
