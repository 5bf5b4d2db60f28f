import KeychainArchive
import SecretMemory
import Testing

@testable import Keychain

/// Items on their way out of one keychain and into another.
struct KeychainImportTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  private func portable(_ service: String, _ control: AccessControl? = .unconstrained) throws -> PortableItem {
    let body = ItemBody(attributes: ItemAttributes(service: service, account: "me"), created: 7, modified: 8)
    return try PortableItem(attributes: body.bytes, accessControl: control?.canonicalBytes ?? [])
  }

  @Test func `an item's byte forms bring all of it back`() throws {
    var attributes = ItemAttributes(service: "mail", account: "me", accessGroup: "group")
    attributes.label = "Mail"
    attributes.generic = [0, 1]
    attributes.invisible = true
    let keychain = try store.open()
    let control = try AccessControl(names: ["biometry-any", "device-passcode", "or"])
    let id = try keychain.add(attributes, accessControl: control, secret: try secret("kept"))
    let out = PortableItem(try keychain.summary(of: id))
    store.clock.now = 5000
    let other = try store.open(1001)
    let changes = try KeychainImport(into: other)
    let item = try PortableItem(attributes: out.attributeBytes, accessControl: out.accessControlBytes)
    try changes.add(item, accessControl: .unconstrained, secret: try secret("kept"))
    try changes.commit()
    let found = try #require(try other.find(ItemQuery()).first)
    #expect(found.attributes == attributes)
    #expect(found.accessControl == control)
    #expect((found.created, found.modified) == (1000, 1000))
    #expect(try other.secretText(found.id, control) == "kept")
  }

  @Test func `an item of a list is a generic password of now, guarded as the importer says`() throws {
    let item = try PortableItem(
      attributes: PlainAttributes.bytes(service: "whorl", name: "mail"), accessControl: [])
    var expected = ItemAttributes(service: "whorl", account: "mail")
    expected.label = "mail"
    #expect(item.attributes == expected)
    #expect(item.accessControl == nil)
    let keychain = try store.open()
    let control = try AccessControl.requiring(.userPresence)
    let changes = try KeychainImport(into: keychain)
    try changes.add(item, accessControl: control, secret: try secret("x"))
    try changes.commit()
    let found = try #require(try keychain.find(ItemQuery()).first)
    #expect(found.accessControl == control)
    #expect((found.created, found.modified) == (1000, 1000))
  }

  @Test func `bytes that are no item are refused`() throws {
    let good = PlainAttributes.bytes(service: "whorl", name: "mail")
    for bytes in [[], Array(good.dropLast()), good + [200], Array(good[..<24]) + [9] + good[25...]] as [[UInt8]] {
      #expect(throws: KeychainError.self) { _ = try PortableItem(attributes: bytes, accessControl: []) }
    }
    var gone = good
    gone[16] = 1  // When it lost its secret.
    #expect(throws: KeychainError.self) { _ = try PortableItem(attributes: gone, accessControl: []) }
    for control in [[1], [1, 1], [9, 1, 0], [1, 99, 0], [1, 1, 1, 99], [1, 1, 2, 1]] as [[UInt8]] {
      #expect(throws: KeychainError.self) { _ = try PortableItem(attributes: good, accessControl: control) }
    }
    #expect(throws: KeychainError.self) {
      _ = try PortableItem(
        attributes: PlainAttributes.bytes(service: "w\0", name: "mail"), accessControl: [])
    }
  }

  @Test func `nothing of an import is there before its end, or where it is let go`() throws {
    let keychain = try store.open()
    try keychain.add("kept")
    do {
      let changes = try KeychainImport(into: keychain)
      try changes.add(try portable("new"), accessControl: .unconstrained, secret: try secret("x"))
      let existing = try #require(try changes.existing(try portable("kept")))
      try changes.remove(existing.id)
      #expect(try changes.existing(try portable("kept")) == nil)
      #expect(try changes.existing(try portable("new")) != nil)
      // The owner reads what was there.
      #expect(try keychain.services() == ["kept"])
    }
    #expect(try keychain.services() == ["kept"])
    #expect(try store.open().services() == ["kept"])
  }

  @Test func `while an import is under way other changes are refused at once, and go on after it`() throws {
    let keychain = try store.open()
    let changes = try KeychainImport(into: keychain)
    let clock = ContinuousClock()
    let time = clock.measure {
      #expect(throws: KeychainError.busy(store.file())) { try keychain.add("other") }
      #expect(throws: KeychainError.busy(store.file())) { try keychain.setLockout(LockoutRecord()) }
      #expect(throws: KeychainError.busy(store.file())) { _ = try KeychainImport(into: keychain) }
    }
    // Not the five seconds that SQLite would wait.
    #expect(time < .seconds(4))
    try changes.add(try portable("new"), accessControl: .unconstrained, secret: try secret("x"))
    try changes.commit()
    try keychain.add("other")
    #expect(try keychain.services() == ["new", "other"])
  }

  @Test func `an import keeps to what an addition is refused for`() throws {
    let keychain = try store.open()
    let changes = try KeychainImport(into: keychain)
    let item = try portable("big")
    #expect(throws: KeychainError.tooLarge("the secret", limit: 1 << 20)) {
      try changes.add(item, accessControl: .unconstrained, secret: try SecretBytes(count: 1 << 20 + 1))
    }
    let locked = try portable("locked", try AccessControl(protection: .afterFirstUnlock))
    #expect(throws: KeychainError.locked(.afterFirstUnlock)) {
      try changes.add(locked, accessControl: .unconstrained, secret: try secret("x"))
    }
    #expect(throws: KeychainError.self) {
      try changes.add(
        try portable("bound", .requiring(.biometryCurrentSet)), accessControl: .unconstrained, secret: try secret("x"))
    }
    try changes.add(item, accessControl: .unconstrained, secret: try secret("x"))
    #expect(throws: KeychainError.duplicateItem) {
      try changes.add(item, accessControl: .unconstrained, secret: try secret("y"))
    }
  }

  @Test func `an import into an unlocked keychain reaches its classes`() throws {
    let keychain = try store.open()
    try keychain.setPasscode(
      try StretchedPassword(try secret("swordfish"), parameters: StretchingParameters(cost: .none)))
    let control = try AccessControl(protection: .whenUnlocked)
    let changes = try KeychainImport(into: keychain)
    try changes.add(try portable("new", control), accessControl: .unconstrained, secret: try secret("x"))
    try changes.commit()
    let id = try #require(try keychain.find(ItemQuery()).first?.id)
    #expect(try keychain.secretText(id, control) == "x")
  }
}
