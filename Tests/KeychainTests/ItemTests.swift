import SecretMemory
import Testing

@testable import Keychain

@Suite struct ItemTests {
  @Test func `an item comes back with every attribute, its dates and its secret, also after reopening`() throws {
    let store = try TestStore()
    var attributes = ItemAttributes(service: "mail", account: "anna", accessGroup: "group")
    attributes.label = "Mail 📬"
    attributes.itemDescription = "token"
    attributes.comment = "line\nline"
    attributes.creator = 0xFFFF_FFFF
    attributes.type = 0
    attributes.generic = [0, 255, 0]
    attributes.invisible = true
    attributes.negative = false
    let id = try store.open().add(attributes, accessControl: .requiring(.userPresence), secret: try secret("s"))

    let keychain = try store.open()
    let found = try keychain.find(ItemQuery(service: "mail"))
    #expect(
      found == [
        ItemSummary(
          id: id, attributes: attributes, accessControl: try .requiring(.userPresence), created: 1000, modified: 1000,
          state: .present)
      ])
    #expect(try keychain.secretText(id, .requiring(.userPresence)) == "s")
  }

  @Test(arguments: [0, 1, 4096, 1 << 20])
  func `a secret of any bytes up to the limit comes back whole`(count: Int) throws {
    let keychain = try TestStore().open()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let id = try keychain.add(ItemAttributes(service: "a"), accessControl: .unconstrained, secret: try secret(bytes))
    #expect(array(try keychain.secret(of: id, under: .unconstrained)) == bytes)
  }

  @Test func `a secret above the limit is refused, by add and by update, and nothing changes`() throws {
    let keychain = try TestStore().open()
    let id = try keychain.add("a")
    let wanted = KeychainError.tooLarge("the secret", limit: 1 << 20)
    let big = try SecretBytes(count: 1 << 20 + 1)
    #expect(throws: wanted) {
      try keychain.add(ItemAttributes(service: "b"), accessControl: .unconstrained, secret: big)
    }
    #expect(throws: wanted) {
      try keychain.update(id, under: .unconstrained, changes: ItemQuery(), secret: try SecretBytes(count: 1 << 20 + 1))
    }
    #expect(try keychain.services() == ["a"])
    #expect(try keychain.secretText(id) == "secret")
  }

  private static let texts: [(name: String, path: any (WritableKeyPath<ItemAttributes, String> & Sendable))] = [
    ("service", \.service), ("account", \.account), ("access group", \.accessGroup),
  ]
  private static let optionalTexts: [(name: String, path: any (WritableKeyPath<ItemAttributes, String?> & Sendable))] =
    [
      ("label", \.label), ("description", \.itemDescription), ("comment", \.comment),
    ]

  @Test func `every text attribute has its limit in bytes, and holds no NUL`() throws {
    let keychain = try TestStore().open()
    func check(_ name: String, _ set: (inout ItemAttributes, String) -> Void) throws {
      func add(_ text: String) throws {
        var attributes = ItemAttributes(service: "s", account: name)
        set(&attributes, text)
        let id = try keychain.add(attributes, accessControl: .unconstrained, secret: try secret("x"))
        #expect(try keychain.find(ItemQuery()).last?.attributes == attributes)
        #expect(try keychain.delete(id))
      }
      // Two bytes a letter.
      try add(String(repeating: "é", count: 2048))
      #expect(throws: KeychainError.tooLarge("the \(name)", limit: 4096)) {
        try add(String(repeating: "é", count: 2048) + "x")
      }
      #expect(throws: KeychainError.invalidParameter("the \(name) holds a NUL character")) { try add("a\u{0}b") }
    }
    for (name, path) in Self.texts { try check(name) { $0[keyPath: path] = $1 } }
    for (name, path) in Self.optionalTexts { try check(name) { $0[keyPath: path] = $1 } }
  }

  @Test func `the generic attribute has its limit`() throws {
    let keychain = try TestStore().open()
    var attributes = ItemAttributes(service: "s")
    attributes.generic = [UInt8](repeating: 0, count: 4097)
    #expect(throws: KeychainError.tooLarge("the generic attribute", limit: 4096)) {
      try keychain.add(attributes, accessControl: .unconstrained, secret: try secret("x"))
    }
    attributes.generic?.removeLast()
    try _ = keychain.add(attributes, accessControl: .unconstrained, secret: try secret("x"))
    #expect(try keychain.find(ItemQuery()).first?.attributes == attributes)
  }

  @Test func `service, account and access group together are taken once, whatever guards the item`() throws {
    let keychain = try TestStore().open()
    try keychain.add("a", "b")
    #expect(throws: KeychainError.duplicateItem) { try keychain.add("a", "b", .requiring(.userPresence)) }
    try keychain.add("a", "c")
    try keychain.add("c", "b")
    var other = ItemAttributes(service: "a", account: "b", accessGroup: "g")
    try _ = keychain.add(other, accessControl: .unconstrained, secret: try secret("x"))
    other.label = "another label"
    #expect(throws: KeychainError.duplicateItem) {
      try keychain.add(other, accessControl: .unconstrained, secret: try secret("x"))
    }
    // Not the same split at another place.
    try keychain.add("ab", "")
    try keychain.add("", "ab")
    #expect(try keychain.find(ItemQuery()).count == 6)
  }

  @Test func `text that only looks the same is another item`() throws {
    let keychain = try TestStore().open()
    try keychain.add("caf\u{e9}", secret: "composed")
    try keychain.add("cafe\u{301}", secret: "decomposed")
    let found = try keychain.find(ItemQuery(service: "cafe\u{301}"))
    #expect(found.count == 1)
    #expect(try keychain.secretText(try #require(found.first).id) == "decomposed")
    #expect(try keychain.delete(ItemQuery(service: "caf\u{e9}")) == 1)
    #expect(try keychain.find(ItemQuery()).count == 1)
  }

  @Test func `a query matches items whose attributes all equal those given, in the order of adding`() throws {
    let keychain = try TestStore().open()
    for (index, name) in ["one", "two", "three"].enumerated() {
      var attributes = ItemAttributes(service: "s", account: name, accessGroup: index == 2 ? "g" : "")
      attributes.label = index == 1 ? nil : "label"
      attributes.itemDescription = "d\(index)"
      attributes.comment = "c\(index)"
      attributes.creator = UInt32(index)
      attributes.type = 7
      attributes.generic = [UInt8(index)]
      attributes.invisible = index == 0
      attributes.negative = index == 0 ? nil : true
      try _ = keychain.add(attributes, accessControl: .unconstrained, secret: try secret("x"))
    }
    func accounts(_ set: (inout ItemQuery) -> Void) throws -> [String] {
      var query = ItemQuery()
      set(&query)
      return try keychain.find(query).map(\.attributes.account)
    }
    #expect(try accounts { _ in } == ["one", "two", "three"])
    #expect(try accounts { $0.itemClass = .genericPassword } == ["one", "two", "three"])
    #expect(try accounts { $0.service = "s" } == ["one", "two", "three"])
    #expect(try accounts { $0.service = "S" } == [])
    #expect(try accounts { $0.service = "" } == [])
    #expect(try accounts { $0.account = "two" } == ["two"])
    #expect(try accounts { $0.accessGroup = "" } == ["one", "two"])
    #expect(try accounts { $0.accessGroup = "g" } == ["three"])
    #expect(try accounts { $0.label = "label" } == ["one", "three"])
    #expect(try accounts { $0.itemDescription = "d1" } == ["two"])
    #expect(try accounts { $0.comment = "c2" } == ["three"])
    #expect(try accounts { $0.creator = 1 } == ["two"])
    #expect(try accounts { $0.type = 7 } == ["one", "two", "three"])
    #expect(try accounts { $0.generic = [2] } == ["three"])
    #expect(try accounts { $0.generic = [] } == [])
    #expect(try accounts { $0.invisible = false } == ["two", "three"])
    #expect(try accounts { $0.negative = true } == ["two", "three"])
    #expect(try accounts { ($0.label, $0.creator) = ("label", 2) } == ["three"])
  }

  @Test func `a limit gives the first items; none and 0 give all; a negative one is refused`() throws {
    let keychain = try TestStore().open()
    for name in ["a", "b", "c"] { try keychain.add(name) }
    #expect(try keychain.services(limit: 2) == ["a", "b"])
    #expect(try keychain.services(limit: 0) == ["a", "b", "c"])
    #expect(try keychain.services(limit: nil) == ["a", "b", "c"])
    #expect(try keychain.services(limit: 9) == ["a", "b", "c"])
    #expect(throws: KeychainError.invalidParameter("a limit of -1 items makes no sense")) {
      try keychain.services(limit: -1)
    }
  }

  @Test func `a secret is given only under the access control that the item has`() throws {
    let keychain = try TestStore().open()
    try keychain.recordEnrolment(finger: 7, reader: "r", print: [1])
    for own in try AccessControl.all {
      let id = try keychain.add("for \(own.constraints)", "me", own)
      for checked in try AccessControl.all where checked != own {
        #expect(throws: KeychainError.tampered("the access control of item \(id.rawValue) of user 1000")) {
          try keychain.secretText(id, checked)
        }
        #expect(throws: KeychainError.tampered("the access control of item \(id.rawValue) of user 1000")) {
          try keychain.update(id, under: checked, changes: ItemQuery(label: "x"), secret: nil)
        }
      }
      #expect(try keychain.secretText(id, own) == "secret")
    }
  }

  @Test func `what does not exist is not found`() throws {
    let keychain = try TestStore().open()
    let id = try keychain.add("a")
    #expect(try keychain.delete(id))
    #expect(throws: KeychainError.itemNotFound) { try keychain.secretText(id) }
    #expect(throws: KeychainError.itemNotFound) {
      try keychain.update(id, under: .unconstrained, changes: ItemQuery(), secret: nil)
    }
    #expect(try keychain.delete(id) == false)
    #expect(throws: KeychainError.itemNotFound) { try keychain.secretText(ItemID(.min)) }
  }

  @Test func `a number is never used again`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    let first = try keychain.add("a")
    try _ = keychain.delete(first)
    let second = try store.open().add("a")
    #expect(second.rawValue > first.rawValue)
  }

  @Test func `an update changes what it names and keeps the rest`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.recordEnrolment(finger: 7, reader: "r", print: [1])
    for own in try AccessControl.all {
      store.clock.now = 1000
      let id = try keychain.add("s", "\(own.constraints)", own)
      store.clock.now = 2000
      try keychain.update(id, under: own, changes: ItemQuery(label: "new"), secret: nil)
      #expect(try keychain.secretText(id, own) == "secret")
      try keychain.update(id, under: own, changes: ItemQuery(service: "moved"), secret: try secret("other"))
      #expect(try keychain.secretText(id, own) == "other")
      let item = try #require(try keychain.find(ItemQuery(service: "moved", account: "\(own.constraints)")).first)
      #expect(item.id == id && item.attributes.label == "new" && item.accessControl == own)
      #expect(item.created == 1000 && item.modified == 2000)
    }
    #expect(try keychain.find(ItemQuery(service: "s")).isEmpty)
  }

  @Test func `an update onto a taken identity is refused and changes nothing`() throws {
    let keychain = try TestStore().open()
    try keychain.add("a", secret: "first")
    let second = try keychain.add("b", secret: "second")
    #expect(throws: KeychainError.duplicateItem) {
      try keychain.update(second, under: .unconstrained, changes: ItemQuery(service: "a"), secret: try secret("new"))
    }
    #expect(try keychain.services() == ["a", "b"])
    #expect(try keychain.secretText(second) == "second")
    // Onto its own identity is no conflict.
    try keychain.update(second, under: .unconstrained, changes: ItemQuery(service: "b"), secret: nil)
  }

  @Test func `the class of an item cannot be changed`() throws {
    let keychain = try TestStore().open()
    let id = try keychain.add("a")
    #expect(throws: KeychainError.invalidParameter("the class of an item cannot be changed")) {
      try keychain.update(id, under: .unconstrained, changes: ItemQuery(itemClass: .key), secret: nil)
    }
  }

  @Test func `a deletion takes what matches and gives the number`() throws {
    let keychain = try TestStore().open()
    for name in ["a", "b", "c"] { try keychain.add(name, "x") }
    try keychain.add("a", "y")
    #expect(try keychain.delete(ItemQuery(service: "a")) == 2)
    #expect(try keychain.delete(ItemQuery(service: "nothing")) == 0)
    #expect(try keychain.delete(ItemQuery(account: "x")) == 2)
    #expect(try keychain.services() == [])
  }

  @Test func `a deletion that names no service and account is refused unless it says all`() throws {
    let keychain = try TestStore().open()
    for name in ["a", "b"] { try keychain.add(name) }
    var byGroup = ItemQuery(accessGroup: "")
    byGroup.itemClass = .genericPassword
    for query in [ItemQuery(), byGroup, ItemQuery(label: "x")] {
      #expect(throws: KeychainError.self) { try keychain.delete(query) }
    }
    #expect(try keychain.services() == ["a", "b"])
    #expect(try keychain.delete(ItemQuery(label: "x"), all: true) == 0)
    #expect(try keychain.delete(ItemQuery(), all: true) == 2)
    #expect(try keychain.services() == [])
  }

  @Test func `two handles see each other's changes at once`() throws {
    let store = try TestStore()
    let (one, two) = (try store.open(), try store.open())
    let id = try one.add("a")
    #expect(try two.secretText(id) == "secret")
    try two.update(id, under: .unconstrained, changes: ItemQuery(), secret: try secret("new"))
    #expect(try one.secretText(id) == "new")
    #expect(throws: KeychainError.duplicateItem) { try two.add("a") }
    try two.recordEnrolment(finger: 1, reader: "r", print: [1])
    #expect(try one.biometrySet().count == 1)
  }

  @Test func `users have keychains of their own`() throws {
    let store = try TestStore()
    let id = try store.open(1000).add("a")
    #expect(try store.open(1001).services() == [])
    #expect(throws: KeychainError.itemNotFound) { try store.open(1001).secretText(id) }
  }
}
