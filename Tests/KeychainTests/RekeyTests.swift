import SecretMemory
import Testing

@testable import Keychain

/// New keys, and looking at everything that is stored.
struct RekeyTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  private func deviceKey() throws -> SecretBytes { try secret((0..<32).map { $0 }) }

  private func stretched(_ text: String = "swordfish") throws -> StretchedPassword {
    try StretchedPassword(try secret(text), parameters: StretchingParameters(cost: .none))
  }

  /// A keychain with a secret under every class and most constraints; the last has a program's own password.
  private func full() throws -> (UserKeychain, [ItemID: AccessControl], ItemID, StretchedPassword) {
    let keychain = try store.open()
    try keychain.setPasscode(try stretched())
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    var items: [ItemID: AccessControl] = [:]
    for protection in ProtectionClass.allCases {
      for names in [[], ["biometry-current-set"], ["biometry-any", "and", "device-passcode"]] {
        let control = try AccessControl(protection: protection, names: names)
        items[try keychain.add("\(protection.name) \(names)", "me", control, secret: "of \(control.hashValue)")] =
          control
      }
    }
    let password = try stretched("program")
    let deep = try keychain.add(
      ItemAttributes(service: "deep"), accessControl: try AccessControl(names: ["application-password"]),
      secret: try secret("deep"), applicationPassword: password)
    return (keychain, items, deep, password)
  }

  private func expectWhole(
    _ keychain: UserKeychain, _ items: [ItemID: AccessControl], _ deep: ItemID, _ password: StretchedPassword
  ) throws {
    for (id, control) in items { #expect(try keychain.secretText(id, control) == "of \(control.hashValue)") }
    let control = try AccessControl(names: ["application-password"])
    #expect(array(try keychain.secret(of: deep, under: control, applicationPassword: password)) == Array("deep".utf8))
  }

  @Test func `every secret is under new keys, and the old keys open none`() throws {
    let (keychain, items, deep, password) = try full()
    _ = try keychain.makeRecoveryKey()
    let editor = try store.editor()
    func column(_ query: String) throws -> [[UInt8]] {
      var result: [[UInt8]] = []
      try editor.rows(query) { (row) throws(KeychainError) in
        result.append(row.blob(0) ?? [])
        return true
      }
      return result
    }
    let before = try (column("SELECT secret FROM item WHERE id <> \(deep.rawValue)"), column("SELECT key FROM item"))
    let slots = try column("SELECT wrapped FROM keybag")
    let classes = try column("SELECT wrapped FROM class_key ORDER BY class")

    #expect(try keychain.rekey(deviceKey: try deviceKey(), passcode: try stretched("swordfish")) == items.count + 1)
    try expectWhole(keychain, items, deep, password)
    #expect(try !keychain.hasRecoveryKey())
    #expect(Set(try column("SELECT secret FROM item WHERE id <> \(deep.rawValue)")).isDisjoint(with: before.0))
    #expect(Set(try column("SELECT key FROM item")).isDisjoint(with: before.1))
    #expect(Set(try column("SELECT wrapped FROM keybag")).isDisjoint(with: slots))

    let again = try store.open()
    let parameters = try #require(try again.passcodeParameters())
    #expect(try again.unlock(with: try StretchedPassword(try secret("swordfish"), parameters: parameters)))
    try expectWhole(again, items, deep, password)
    try again.add("after", "me", try AccessControl(protection: .whenPasscodeSet))
    #expect(try again.find(ItemQuery(service: "after")).count == 1)

    // Whoever puts the class keys from before back has nothing but damage.
    for (number, wrapped) in zip([0, 1, 2, 3, 4] as [Int64], classes) {
      try editor.run("UPDATE class_key SET wrapped = ? WHERE class = ?", [.blob(wrapped), .integer(number)])
    }
    #expect(throws: KeychainError.self) { try store.open() }
  }

  @Test func `attributes and the hashes they are found by are made anew too, and what apps and logs hold stays`() throws
  {
    let (keychain, items, deep, password) = try full()
    try keychain.setOwner("paul")
    try keychain.setLockout(LockoutRecord(misses: 3))
    let lost = try keychain.add("lost", "me", try .requiring(.biometryCurrentSet))
    try keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    let mixed = try AccessControl(names: ["biometry-current-set", "or", "device-passcode"])
    let bound = try keychain.add("bound", "me", mixed)
    var attributes = ItemAttributes(service: "s", account: "a", accessGroup: "g")
    attributes.label = "l"
    attributes.generic = [1]
    let labelled = try keychain.add(
      attributes, accessControl: .unconstrained, secret: try secret("x"))
    func column(_ name: String) throws -> [[UInt8]] {
      var result: [[UInt8]] = []
      try store.editor().rows("SELECT \(name) FROM item ORDER BY id") { (row) throws(KeychainError) in
        if let bytes = row.blob(0), !bytes.isEmpty { result.append(bytes) }
        return true
      }
      return result
    }
    let columns = ["identity", "service", "account", "access_group", "label", "generic", "attributes"]
    let before = try columns.map { try column($0) }
    let all = try keychain.find(ItemQuery(), includeInvalidated: true)
    let references = all.map { keychain.persistentReference(of: $0.id) }
    let names = all.map { keychain.logName(of: $0.attributes) }
    let state = try keychain.biometryDomainState()

    for round in 1...2 {
      _ = try keychain.rekey(deviceKey: try deviceKey(), passcode: try stretched())
      for (name, old) in zip(columns, before) {
        let now = try column(name)
        #expect(now.count == old.count)
        #expect(Set(now).isDisjoint(with: old), "\(name) in round \(round)")
      }
      #expect(try keychain.find(ItemQuery(), includeInvalidated: true) == all)
      #expect(all.map { keychain.persistentReference(of: $0.id) } == references)
      #expect(references.map { keychain.item(of: $0) } == all.map(\.id))
      #expect(all.map { keychain.logName(of: $0.attributes) } == names)
      #expect(try keychain.biometryDomainState() == state)
      #expect(try keychain.isRegistered(print: [2])?.finger == 2)
      #expect(try keychain.takesFinger(try keychain.summary(of: bound)))
      #expect(try keychain.owner() == "paul")
      #expect(try keychain.lockout().misses == 3)
      #expect(try keychain.summary(of: lost).state == .invalidated(at: 1000))
      var query = ItemQuery(service: "s", account: "a", accessGroup: "g", label: "l")
      query.generic = [1]
      #expect(try keychain.find(query).map(\.id) == [labelled])
      #expect(try keychain.checkFile() == [])
      let control = try AccessControl(names: ["application-password"])
      #expect(array(try keychain.secret(of: deep, under: control, applicationPassword: password)) == Array("deep".utf8))
      #expect(throws: KeychainError.duplicateItem) { try keychain.add("bound", "me", mixed) }
    }
    // What is added from then on is found like the others, also by who opens it anew.
    let added = try keychain.add("added")
    let again = try store.open()
    #expect(try again.find(ItemQuery(service: "added")).map(\.id) == [added])
    #expect(again.item(of: keychain.persistentReference(of: added)) == added)
    #expect(try again.secretText(labelled) == "x")
    #expect(items.count == 24)
  }

  @Test func `the old key of metadata opens nothing of what is there after`() throws {
    let keychain = try store.open()
    let id = try keychain.add("plain")
    let metadata = try keychain.keys.metadata.clone()
    _ = try keychain.rekey(deviceKey: try deviceKey(), passcode: nil)
    let old = try Sealing.deriveKey(metadata, label: "attributes")
    let sealed = try #require(
      try store.editor().blob("SELECT attributes FROM item WHERE id = ?", [.integer(id.rawValue)]))
    let attributes = try keychain.summary(of: id).attributes
    let binding = keychain.binding(
      id, attributes, .unconstrained, SearchHashes(attributes, key: keychain.keys.search))
    let data = binding.associatedData(.itemAttributes)
    let (opensWithNew, opensWithOld) = (
      try Sealing.open(sealed, key: keychain.keys.attributes, associatedData: data) != nil,
      try Sealing.open(sealed, key: old, associatedData: data) != nil
    )
    #expect(opensWithNew && !opensWithOld)
  }

  @Test func `one that is let go half-way leaves all as it was, and changes are refused until then`() throws {
    let (keychain, items, deep, password) = try full()
    do {
      let rekey = try KeychainRekey(of: keychain, deviceKey: try deviceKey(), passcode: try stretched())
      _ = try rekey.step(rows: 4)
      #expect(throws: KeychainError.busy(store.file())) { try keychain.add("meanwhile") }
      #expect(throws: KeychainError.busy(store.file())) {
        _ = try KeychainRekey(of: keychain, deviceKey: try deviceKey(), passcode: try stretched())
      }
      try expectWhole(keychain, items, deep, password)
    }
    try expectWhole(keychain, items, deep, password)
    try keychain.add("after")
    #expect(try keychain.checkFile() == [])
  }

  @Test func `a logout in the middle ends it and leaves all as it was`() throws {
    let (keychain, items, deep, password) = try full()
    var rekey: KeychainRekey? = try KeychainRekey(of: keychain, deviceKey: try deviceKey(), passcode: try stretched())
    while try rekey?.step(rows: 4) == true {}
    keychain.unlockState.lock()
    #expect(throws: KeychainError.locked(.whenUnlocked)) { try rekey?.commit() }
    rekey = nil
    let parameters = try #require(try keychain.passcodeParameters())
    #expect(try keychain.unlock(with: try StretchedPassword(try secret("swordfish"), parameters: parameters)))
    try expectWhole(keychain, items, deep, password)
  }

  @Test func `without a passcode ever given it takes the device key alone`() throws {
    let keychain = try store.open()
    let id = try keychain.add("plain")
    #expect(try keychain.rekey(deviceKey: try deviceKey(), passcode: nil) == 1)
    #expect(try store.open().secretText(id) == "secret")
  }

  @Test func `locked, or with one damaged secret, nothing is changed`() throws {
    let (keychain, items, deep, password) = try full()
    let locked = try store.open()
    #expect(throws: KeychainError.locked(.whenUnlocked)) {
      _ = try locked.rekey(deviceKey: try deviceKey(), passcode: try stretched())
    }
    #expect(throws: KeychainError.locked(.whenUnlocked)) {
      _ = try keychain.rekey(deviceKey: try deviceKey(), passcode: nil)
    }
    let bad = try keychain.add("bad")
    let editor = try store.editor()
    let sealed = try #require(try editor.blob("SELECT secret FROM item WHERE id = ?", [.integer(bad.rawValue)]))
    try editor.run("UPDATE item SET secret = x'00' WHERE id = ?", [.integer(bad.rawValue)])
    #expect(throws: KeychainError.tampered("item \(bad.rawValue) of user 1000")) {
      _ = try keychain.rekey(deviceKey: try deviceKey(), passcode: try stretched())
    }
    try expectWhole(keychain, items, deep, password)
    try editor.run("UPDATE item SET secret = ? WHERE id = ?", [.blob(sealed), .integer(bad.rawValue)])
    try expectWhole(try store.open(), [:], deep, password)
  }

  @Test func `a check finds nothing in a keychain that is whole, and says what it could not look at`() throws {
    let (keychain, items, _, _) = try full()
    #expect(try keychain.checkFile() == [])
    var check = try keychain.checkItems(count: 1000)
    #expect(
      (check.rows, check.whole, check.unread, check.lost, check.damaged.count) == (
        items.count + 1, items.count, 1, 0, 0
      ))
    #expect(check.next == nil)
    try keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    check = try store.open().checkItems(count: 1000)
    // Locked: what is always there is read, what the fingers took is lost.
    #expect((check.whole, check.lost, check.damaged.count) == (4, 8, 0))
    #expect(check.unread == 13)
    // In parts it is the same.
    var (rows, last) = (0, nil as ItemID?)
    repeat {
      let part = try keychain.checkItems(after: last, count: 4)
      rows += part.rows
      last = part.next
    } while last != nil
    #expect(rows == items.count + 1)
  }

  @Test(arguments: [
    ("UPDATE item SET secret = x'00' WHERE id = 1", "item 1"),
    ("UPDATE item SET key = zeroblob(72) WHERE id = 2", "item 2"),
    ("UPDATE item SET attributes = zeroblob(80) WHERE id = 3", "item 3"),
    ("UPDATE item SET label = x'01' WHERE id = 4", "item 4"),
    ("UPDATE class_key SET wrapped = zeroblob(72) WHERE class = 2", "after-first-unlock"),
    ("DELETE FROM keybag WHERE kind = 4", "recovery key"),
    ("UPDATE biometry_member SET sealed = zeroblob(90)", "fingers"),
    ("DELETE FROM lockout", "lockout"), ("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'item'", "numbering"),
    ("UPDATE item SET key = zeroblob(200) WHERE id = 25", "item 25"),
  ])
  func `a check finds what was altered, and only that`(change: String, words: String) throws {
    let (keychain, _, deep, _) = try full()
    #expect(deep.rawValue == 25)
    _ = try keychain.makeRecoveryKey()
    try store.editor().run(change)
    let problems = try keychain.checkFile()
    let damaged = try keychain.checkItems(count: 1000).damaged
    let all = problems + damaged.map(\.error.description)
    #expect(all.contains { $0.contains(words) }, "\(all)")
    if words.hasPrefix("item") { #expect(all.count == 1, "\(all)") }
  }
}
