import SecretMemory
import Testing

@testable import Keychain

/// An attacker who can write the database, live, but has no key: whatever is edited, the outcome is a clean error or
/// "not found", and no secret comes out under an access control that is not its own.
@Suite struct TamperingTests {
  /// A keychain with one item of each access control and two fingers, and the attacker's connection.
  private struct Scene {
    let store: TestStore
    let keychain: UserKeychain
    let editor: Database
    let items: [(id: ItemID, own: AccessControl, secret: String)]

    init(store: TestStore? = nil, user: UInt32 = 1000) throws {
      let store = try store ?? TestStore()
      self.store = store
      let keychain = try store.open(user)
      self.keychain = keychain
      try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
      try keychain.recordEnrolment(finger: 7, reader: "r", print: [7])
      items = try AccessControl.all.map { own in
        let secret = "secret of \(user) for \(own.constraints)"
        var attributes = ItemAttributes(service: "s", account: "\(own.constraints)")
        (attributes.label, attributes.generic) = ("label", [1, 2, 3])
        return (try keychain.add(attributes, accessControl: own, secret: try Tests.secret(secret)), own, secret)
      }
      editor = try store.editor(user)
    }

    /// Nothing is released but untouched items' own secrets under their own access control.
    func check(touched: Set<ItemID>, _ what: String, by handle: UserKeychain? = nil) throws {
      let handle = handle ?? keychain
      for item in items {
        for accessControl in try AccessControl.all {
          let shouldOpen = accessControl == item.own && !touched.contains(item.id)
          do throws(KeychainError) {
            let text = array(try handle.secret(of: item.id, under: accessControl))
            #expect(shouldOpen && text == Array(item.secret.utf8), "\(what): item \(item.id.rawValue)")
          } catch {
            #expect(!shouldOpen, "\(what): \(error)")
            #expect(Self.isClean(error), "\(what): \(error)")
          }
        }
      }
      // Searching neither crashes nor shows an altered item as a good one.
      let (found, damaged) = try handle.scan(ItemQuery(), includeInvalidated: true)
      for item in found {
        #expect(!touched.contains(item.id), "\(what)")
        #expect(items.contains { $0.id == item.id && $0.own == item.accessControl }, "\(what)")
      }
      for item in damaged { #expect(Self.isClean(item.error), "\(what): \(item.error)") }
    }

    static func isClean(_ error: KeychainError) -> Bool {
      switch error {
      case .tampered, .unsupported, .itemNotFound, .invalidated: true
      default: false
      }
    }
  }

  /// The columns of a table with the values of one row.
  private func row(
    _ editor: Database, _ table: String, _ columns: [String], rowid: Int64
  ) throws -> [DatabaseValue] {
    var values: [DatabaseValue] = []
    let query = "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?"
    try editor.rows(query, [.integer(rowid)]) { (row) throws(KeychainError) in
      values = columns.indices.map { column in
        let column = Int32(column)
        return row.integer(column).map(DatabaseValue.integer) ?? row.blob(column).map(DatabaseValue.blob)
          ?? row.text(column).map(DatabaseValue.text) ?? .null
      }
      return false
    }
    return values
  }

  /// Every way to flip one bit of a value (a sample of a long one), and to take it away.
  private func alterations(_ value: DatabaseValue, canBeNull: Bool) -> [DatabaseValue] {
    switch value {
    case .integer(let number):
      return [0, 1, 2, 7, 31, 63].map { .integer(number ^ (1 << $0)) } + [.integer(.max), .integer(.min)]
    case .blob(let bytes):
      let step = bytes.count > 200 ? 7 : 1
      var result = stride(from: 0, to: bytes.count, by: step).map { index -> DatabaseValue in
        var copy = bytes
        copy[index] ^= 1 << (index % 8)
        return .blob(copy)
      }
      result += [
        .blob([]), .blob(Array(bytes.dropLast())), .blob(bytes + [0]), .blob([UInt8](repeating: 0, count: 64)),
      ]
      return canBeNull ? result + [.null] : result
    case .text(let text): return [.text(text + "x"), .text("")]
    case .null: return [.blob([]), .blob([0]), .blob([UInt8](repeating: 9, count: 16))]
    }
  }

  private let itemColumns = [
    "version", "class", "protection", "access", "state", "identity", "service", "account", "access_group", "label",
    "generic", "attributes", "key", "secret",
  ]
  private let nullable: Set<String> = ["label", "generic", "key", "secret"]

  @Test(arguments: 0..<5)
  func `no byte of any column of an item can be changed`(index: Int) throws {
    let scene = try Scene()
    let id = scene.items[index].id
    let values = try row(scene.editor, "item", itemColumns, rowid: id.rawValue)
    for (column, value) in zip(itemColumns, values) {
      for altered in alterations(value, canBeNull: nullable.contains(column)) {
        try scene.editor.run("UPDATE item SET \(column) = ? WHERE id = ?", [altered, .integer(id.rawValue)])
        // A lost key or secret is seen when the secret is wanted; the attributes are still good.
        if column == "key" || column == "secret" {
          #expect(throws: KeychainError.tampered("item \(id.rawValue) of user 1000")) {
            try scene.keychain.secretText(id, scene.items[index].own)
          }
        } else {
          try scene.check(touched: [id], "\(column) = \(altered)")
        }
      }
      try scene.editor.run("UPDATE item SET \(column) = ? WHERE id = ?", [value, .integer(id.rawValue)])
    }
    try scene.check(touched: [], "everything put back")
  }

  @Test func `an item cannot be given another number`() throws {
    let scene = try Scene()
    let item = scene.items[0]
    try scene.editor.run("UPDATE item SET id = 500 WHERE id = ?", [.integer(item.id.rawValue)])
    try scene.check(touched: [item.id, ItemID(500)], "id")
    #expect(throws: KeychainError.tampered("item 500 of user 1000")) {
      try scene.keychain.secretText(ItemID(500), item.own)
    }
  }

  @Test func `no column, pair of columns or whole row can be swapped between items`() throws {
    let scene = try Scene()
    let groups =
      itemColumns.map { [$0] } + [
        ["protection", "access"], ["access", "attributes"], ["key", "secret"], ["attributes", "key", "secret"],
        ["access", "attributes", "key", "secret"], ["identity", "attributes", "key", "secret"], itemColumns,
        itemColumns.filter { $0 != "access" },
      ]
    for first in scene.items.indices {
      for second in scene.items.indices where second > first {
        let ids = [scene.items[first].id, scene.items[second].id]
        for group in groups {
          let values = try ids.map { try row(scene.editor, "item", group, rowid: $0.rawValue) }
          // Columns that are the same in both are no swap.
          guard "\(values[0])" != "\(values[1])" else { continue }
          func put(_ values: [DatabaseValue], _ id: ItemID) throws {
            let assignments = group.map { "\($0) = ?" }.joined(separator: ", ")
            try scene.editor.run("UPDATE item SET \(assignments) WHERE id = ?", values + [.integer(id.rawValue)])
          }
          func park(_ id: ItemID) throws {
            guard group.contains("identity") else { return }
            try scene.editor.run("UPDATE item SET identity = x'00' WHERE id = ?", [.integer(id.rawValue)])
          }
          try park(ids[0])
          try put(values[0], ids[1])
          try put(values[1], ids[0])
          if group.allSatisfy({ $0 == "key" || $0 == "secret" }) {
            for index in [first, second] {
              #expect(throws: KeychainError.self) {
                try scene.keychain.secretText(scene.items[index].id, scene.items[index].own)
              }
            }
          } else {
            try scene.check(touched: Set(ids), "\(group)")
          }
          try park(ids[0])
          try put(values[1], ids[1])
          try put(values[0], ids[0])
        }
      }
    }
    try scene.check(touched: [], "everything put back")
  }

  @Test func `a weaker access control written into a row opens nothing`() throws {
    let scene = try Scene()
    for item in scene.items {
      let own = item.own.canonicalBytes
      for other in try AccessControl.all where other != item.own {
        try scene.editor.run(
          "UPDATE item SET access = ? WHERE id = ?", [.blob(other.canonicalBytes), .integer(item.id.rawValue)])
        try scene.check(touched: [item.id], "\(item.own) as \(other)")
      }
      try scene.editor.run("UPDATE item SET access = ? WHERE id = ?", [.blob(own), .integer(item.id.rawValue)])
    }
  }

  @Test func `rows and keys of another user's keychain open nothing`() throws {
    let store = try TestStore()
    let mine = try Scene(store: store, user: 1000)
    let theirs = try Scene(store: store, user: 1001)
    for item in mine.items {
      let foreign = try row(theirs.editor, "item", itemColumns, rowid: item.id.rawValue)
      let assignments = itemColumns.map { "\($0) = ?" }.joined(separator: ", ")
      try mine.editor.run("UPDATE item SET \(assignments) WHERE id = ?", foreign + [.integer(item.id.rawValue)])
    }
    try mine.check(touched: Set(mine.items.map(\.id)), "the other user's items")
    // Their registered fingers do not become mine.
    try replaceSet(of: mine, with: theirs)
    #expect(throws: KeychainError.self) { try mine.keychain.isRegistered(print: [1]) }
    // With their class keys too.
    for number: Int64 in [0, 1] {
      let key = try row(theirs.editor, "class_key", ["wrapped"], rowid: number)
      try mine.editor.run("UPDATE class_key SET wrapped = ? WHERE class = ?", key + [.integer(number)])
    }
    #expect(throws: KeychainError.self) { try store.open(1000) }
    // With their keybag too: it is their keychain, which says whose it is.
    let slot = try row(theirs.editor, "keybag", ["wrapped"], rowid: 1)
    try mine.editor.run("UPDATE keybag SET wrapped = ?", slot)
    #expect(throws: KeychainError.tampered("the keybag in \(store.file())")) { try store.open(1000) }
  }

  private func replaceSet(of mine: Scene, with theirs: Scene) throws {
    try mine.editor.run("DELETE FROM biometry_member")
    var rows: [[DatabaseValue]] = []
    try theirs.editor.rows("SELECT number, version, id, sealed FROM biometry_member") { (row) throws(KeychainError) in
      rows.append([
        .integer(row.integer(0) ?? 0), .integer(row.integer(1) ?? 0), .blob(row.blob(2) ?? []),
        .blob(row.blob(3) ?? []),
      ])
      return true
    }
    for row in rows {
      try mine.editor.run("INSERT INTO biometry_member(number, version, id, sealed) VALUES(?, ?, ?, ?)", row)
    }
  }

  @Test(arguments: ["keybag", "class_key"])
  func `no byte of the wrapped keys can be changed`(table: String) throws {
    let scene = try Scene()
    let columns =
      table == "keybag"
      ? ["slot", "kind", "version", "parameters", "wrapped"] : ["class", "version", "root", "wrapped"]
    for rowid: Int64 in table == "keybag" ? [1] : [0, 1] {
      let values = try row(scene.editor, table, columns, rowid: rowid)
      for (column, value) in zip(columns, values) {
        for altered in alterations(value, canBeNull: column == "parameters") {
          if case .integer(1) = altered, column == "class" { continue }
          if case .integer(0) = altered, column == "class" { continue }
          try scene.editor.run("UPDATE \(table) SET \(column) = ? WHERE rowid = ?", [altered, .integer(rowid)])
          let error = #expect(throws: KeychainError.self, "\(column) = \(altered)") { try scene.store.open() }
          #expect(error.map(Scene.isClean) == true, "\(column): \(String(describing: error))")
          // The row is wherever its number was changed to.
          try scene.editor.run("DELETE FROM \(table) WHERE rowid NOT IN (0, 1) OR '\(table)' = 'keybag'")
          let marks = columns.map { _ in "?" }.joined(separator: ", ")
          try scene.editor.run(
            "INSERT OR REPLACE INTO \(table)(\(columns.joined(separator: ", "))) VALUES(\(marks))", values)
        }
      }
    }
    try scene.check(touched: [], "everything put back", by: try scene.store.open())
  }

  @Test func `wrapped keys of two classes cannot change places, nor be missing`() throws {
    let scene = try Scene()
    let (metadata, always) = (
      try row(scene.editor, "class_key", ["wrapped"], rowid: 0),
      try row(scene.editor, "class_key", ["wrapped"], rowid: 1)
    )
    try scene.editor.run("UPDATE class_key SET wrapped = ? WHERE class = 0", always)
    try scene.editor.run("UPDATE class_key SET wrapped = ? WHERE class = 1", metadata)
    #expect(throws: KeychainError.tampered("a class key in \(scene.store.file())")) { try scene.store.open() }
    try scene.editor.run("DELETE FROM class_key WHERE class = 0")
    #expect(throws: KeychainError.tampered("a class key in \(scene.store.file())")) { try scene.store.open() }
    try scene.editor.run("DELETE FROM keybag")
    #expect(throws: KeychainError.tampered("the keybag in \(scene.store.file())")) { try scene.store.open() }
  }

  @Test func `kinds of slots and classes of keys that come later are refused by name`() throws {
    let scene = try Scene()
    let file = scene.store.file()
    try scene.editor.run("INSERT INTO keybag(slot, kind, version, wrapped) VALUES(0, 9, 1, x'00')")
    #expect(throws: KeychainError.unsupported("a keybag slot of kind number 9 in \(file)")) { try scene.store.open() }
    try scene.editor.run("UPDATE keybag SET kind = 3, version = 2 WHERE slot = 0")
    #expect(throws: KeychainError.unsupported("a keybag slot of version 2 in \(file)")) { try scene.store.open() }
    try scene.editor.run("DELETE FROM keybag WHERE slot = 0")
    // Numbers of classes that have no key of their own, and one that is not under its root.
    for (number, root, what) in [
      (5, 1, "the class key of number 5"), (99, 2, "the class key of number 99"), (2, 1, "a class key under root 1"),
    ] {
      try scene.editor.run("INSERT INTO class_key(class, version, root, wrapped) VALUES(\(number), 1, \(root), x'00')")
      #expect(throws: KeychainError.unsupported("\(what) in \(file)")) { try scene.store.open() }
      try scene.editor.run("DELETE FROM class_key WHERE class = \(number)")
    }
    try scene.check(touched: [], "everything put back", by: try scene.store.open())
  }

  @Test func `items of later classes, versions and constraints are refused by name`() throws {
    let scene = try Scene()
    let id = scene.items[0].id.rawValue
    for (change, words) in [
      ("version = 2", "of version 2"), ("class = 77", "of class number 77"),
      ("access = x'011000'", "a protection class of number 16"),
      ("access = x'01010163'", "a constraint of number 99"), ("access = x'030100'", "version 3"),
    ] {
      try scene.editor.run("UPDATE item SET \(change) WHERE id = \(id)")
      let error = #expect(throws: KeychainError.self) { try scene.keychain.find(ItemQuery(service: "s")) }
      guard case .unsupported(let what) = error else {
        Issue.record("\(change): \(String(describing: error))")
        continue
      }
      #expect(what.contains(words))
      try scene.editor.run("UPDATE item SET version = 1, class = 1, access = x'010100' WHERE id = \(id)")
    }
    try scene.check(touched: [], "everything put back")
  }

  @Test func `no byte of the set of fingers can be changed, nor a member added, removed or moved`() throws {
    let scene = try Scene()
    let bound = try #require(scene.items.first { $0.own.isBoundToBiometrySet })
    let others = scene.items.filter { !$0.own.isBoundToBiometrySet }
    func isRefused(_ what: String) throws {
      for attempt: () throws -> Void in [
        { _ = try scene.keychain.biometrySet() }, { _ = try scene.keychain.isRegistered(print: [1]) },
        { _ = try scene.keychain.biometryDomainState() },
        { try scene.keychain.recordEnrolment(finger: 2, reader: "r", print: [2]) },
        { _ = try scene.keychain.recordDeletion(finger: 1, reader: "r") },
        { _ = try scene.keychain.secret(of: bound.id, under: bound.own) },
      ] {
        let error = #expect(throws: KeychainError.self, "\(what)") { try attempt() }
        #expect(error.map(Scene.isClean) == true, "\(what): \(String(describing: error))")
      }
      for item in others { #expect(try scene.keychain.secretText(item.id, item.own) == item.secret) }
    }
    let columns = ["number", "version", "id", "sealed"]
    var numbers: [Int64] = []
    try scene.editor.rows("SELECT number FROM biometry_member ORDER BY number") { (row) throws(KeychainError) in
      numbers.append(row.integer(0) ?? 0)
      return true
    }
    #expect(numbers.count == 2)
    let rows = try numbers.map { try row(scene.editor, "biometry_member", columns, rowid: $0) }
    func restore() throws {
      try scene.editor.run("DELETE FROM biometry_member")
      for row in rows {
        try scene.editor.run("INSERT INTO biometry_member(number, version, id, sealed) VALUES(?, ?, ?, ?)", row)
      }
    }
    for (column, value) in zip(columns, rows[0]) {
      for altered in alterations(value, canBeNull: false) {
        if case .integer(let number) = altered, column == "number", numbers.contains(number) { continue }
        try scene.editor.run(
          "UPDATE biometry_member SET \(column) = ? WHERE number = ?", [altered, .integer(numbers[0])])
        try isRefused("\(column) = \(altered)")
        try restore()
      }
    }
    for number in numbers {
      try scene.editor.run("DELETE FROM biometry_member WHERE number = ?", [.integer(number)])
      try isRefused("member \(number) removed")
      try restore()
    }
    try scene.editor.run("DELETE FROM biometry_member")
    try isRefused("all members removed")
    for (from, to) in [(0, 1), (1, 0)] {
      try scene.editor.run("DELETE FROM biometry_member")
      var moved = rows[from]
      moved[0] = .integer(numbers[to])
      try scene.editor.run("INSERT INTO biometry_member(number, version, id, sealed) VALUES(?, ?, ?, ?)", moved)
      try isRefused("member moved")
    }
    try restore()
    var sealed: [UInt8] = []
    try scene.editor.rows("SELECT value FROM meta WHERE name = 'biometry-set'") { (row) throws(KeychainError) in
      sealed = row.blob(0) ?? []
      return true
    }
    for altered in alterations(.blob(sealed), canBeNull: false) {
      try scene.editor.run("UPDATE meta SET value = ? WHERE name = 'biometry-set'", [altered])
      try isRefused("record = \(altered)")
    }
    try scene.editor.run("DELETE FROM meta WHERE name = 'biometry-set'")
    try isRefused("record removed")
    try scene.editor.run("INSERT INTO meta(name, value) VALUES('biometry-set', ?)", [.blob(sealed)])
    try scene.check(touched: [], "everything put back")

    // The way out of a spoilt set: empty it, which ends what was bound to it.
    try scene.editor.run("DELETE FROM meta WHERE name = 'biometry-set'")
    try scene.keychain.resetBiometrySet()
    #expect(try scene.keychain.biometrySet().isEmpty)
    #expect(throws: KeychainError.self) { try scene.keychain.secretText(bound.id, bound.own) }
    try scene.keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    #expect(try scene.keychain.isRegistered(print: [2]) != nil)
  }

  enum PutBack: CaseIterable { case item, members, itemAndMembers, itemAndRecord, record }

  @Test(arguments: PutBack.allCases)
  func `an item that died with the set is not revived by putting rows back`(putBack: PutBack) throws {
    let scene = try Scene()
    let bound = try #require(scene.items.first { $0.own.isBoundToBiometrySet })
    for table in ["item", "biometry_member", "meta"] {
      // The attacker's own copy, outside of the database that is checked.
      try scene.editor.execute("CREATE TEMP TABLE old_\(table) AS SELECT * FROM main.\(table)")
    }
    try scene.keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    func restore(_ table: String, _ condition: String = "true") throws {
      try scene.editor.run("DELETE FROM main.\(table) WHERE \(condition)")
      try scene.editor.run("INSERT INTO main.\(table) SELECT * FROM old_\(table) WHERE \(condition)")
    }
    switch putBack {
    case .item: try restore("item", "id = \(bound.id.rawValue)")
    case .members: try restore("biometry_member")
    case .itemAndMembers:
      try restore("item", "id = \(bound.id.rawValue)")
      try restore("biometry_member")
    case .itemAndRecord:
      try restore("item", "id = \(bound.id.rawValue)")
      try restore("meta", "name = 'biometry-set'")
    case .record: try restore("meta", "name = 'biometry-set'")
    }
    for handle in [scene.keychain, try scene.store.open()] {
      let error = #expect(throws: KeychainError.self) { try handle.secretText(bound.id, bound.own) }
      #expect(error.map(Scene.isClean) == true)
      for item in scene.items where item.id != bound.id {
        #expect(try handle.secretText(item.id, item.own) == item.secret)
      }
    }
  }

  @Test func `an item put back is not revived when the set has come back to the same fingers`() throws {
    let scene = try Scene()
    let bound = try #require(scene.items.first { $0.own.isBoundToBiometrySet })
    let before = try scene.keychain.biometrySet()
    try scene.editor.execute("CREATE TEMP TABLE old_item AS SELECT * FROM main.item")
    try scene.keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    #expect(try scene.keychain.recordDeletion(finger: 2, reader: "r"))
    #expect(try scene.keychain.biometrySet() == before)
    try scene.editor.run("DELETE FROM main.item")
    try scene.editor.run("INSERT INTO main.item SELECT * FROM old_item")
    #expect(throws: KeychainError.tampered("item \(bound.id.rawValue) of user 1000")) {
      try scene.keychain.secretText(bound.id, bound.own)
    }
  }

  // What no file can prevent: all of it put back is the old state. It brings the old fingers back with it, not the new.
  @Test func `item, members and record put back together give the old set, without the new finger`() throws {
    let scene = try Scene()
    for table in ["item", "biometry_member", "meta"] {
      try scene.editor.execute("CREATE TEMP TABLE old_\(table) AS SELECT * FROM main.\(table)")
    }
    try scene.keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    for table in ["item", "biometry_member", "meta"] {
      try scene.editor.run("DELETE FROM main.\(table)")
      try scene.editor.run("INSERT INTO main.\(table) SELECT * FROM old_\(table)")
    }
    try scene.check(touched: [], "all put back")
    #expect(try scene.keychain.isRegistered(print: [2]) == nil)
    #expect(try scene.keychain.biometrySet().map(\.finger) == [1, 7])
  }

  @Test func `damaged items are named beside the good ones, and can be deleted by number or with all`() throws {
    let scene = try Scene()
    let id = scene.items[1].id
    try scene.editor.run("UPDATE item SET attributes = x'00' WHERE id = ?", [.integer(id.rawValue)])
    let (found, damaged) = try scene.keychain.scan(ItemQuery())
    #expect(found.count == 4)
    #expect(damaged.map(\.id) == [id])
    #expect(damaged.map(\.error) == [.tampered("item \(id.rawValue) of user 1000")])
    #expect(throws: KeychainError.tampered("item \(id.rawValue) of user 1000")) {
      try scene.keychain.delete(ItemQuery(service: "s"))
    }
    #expect(try scene.keychain.find(ItemQuery(account: "[]")).count == 1)
    #expect(throws: KeychainError.tampered("item \(id.rawValue) of user 1000")) {
      try scene.keychain.add(
        ItemAttributes(service: "s", account: "\(scene.items[1].own.constraints)"), accessControl: .unconstrained,
        secret: try secret("x"))
    }
    #expect(try scene.keychain.delete(id))
    #expect(try scene.keychain.scan(ItemQuery()).damaged.isEmpty)
    try scene.editor.run("UPDATE item SET attributes = x'00'")
    #expect(try scene.keychain.delete(ItemQuery(), all: true) == 4)
  }

  @Test func `numbering that was turned back does not let a number be used again`() throws {
    let scene = try Scene()
    try scene.editor.run("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'item'")
    let error = #expect(throws: KeychainError.self) { try scene.keychain.add("new") }
    #expect(error.map(Scene.isClean) == true)
    try scene.check(touched: [], "numbering")
  }
}
