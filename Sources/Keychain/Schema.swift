/// What the database looks like on the disk, version 1.
///
/// Nothing in it is readable without the keys but numbers of rows, classes, constraints and lengths. The keybag has
/// slots for kinds of keys that come later, class_key rows for the other protection classes; their appearance in a
/// version 1 file is refused by name.
enum Schema {
  static let version: Int64 = 1
  /// "Whrl", so that no other program's database is taken for a keychain.
  static let applicationID: Int64 = 0x5768_726c

  /// SQLite keeps these texts as they are, and opening compares them.
  static let statements = [
    "CREATE TABLE meta(name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT",
    // kind: 1 device; parameters: what a slot of another kind needs (salt, cost)
    """
    CREATE TABLE keybag(slot INTEGER PRIMARY KEY, kind INTEGER NOT NULL, version INTEGER NOT NULL, parameters BLOB, \
    wrapped BLOB NOT NULL) STRICT
    """,
    // class: 0 metadata, otherwise a protection class; root: the kind of slot that the wrapping key comes from
    """
    CREATE TABLE class_key(class INTEGER PRIMARY KEY, version INTEGER NOT NULL, root INTEGER NOT NULL, \
    wrapped BLOB NOT NULL) STRICT
    """,
    // identity and the columns up to generic are keyed hashes; state: 0 present, 1 invalidated
    """
    CREATE TABLE item(id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, class INTEGER NOT NULL, \
    protection INTEGER NOT NULL, access BLOB NOT NULL, state INTEGER NOT NULL, identity BLOB NOT NULL UNIQUE, \
    service BLOB NOT NULL, account BLOB NOT NULL, access_group BLOB NOT NULL, label BLOB, generic BLOB, \
    attributes BLOB NOT NULL, key BLOB, secret BLOB) STRICT
    """,
    "CREATE INDEX item_service ON item(service)",
    "CREATE INDEX item_account ON item(account)",
    "CREATE INDEX item_access_group ON item(access_group)",
    "CREATE INDEX item_label ON item(label)",
    "CREATE INDEX item_generic ON item(generic)",
    """
    CREATE TABLE biometry_member(number INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, \
    id BLOB NOT NULL UNIQUE, sealed BLOB NOT NULL) STRICT
    """,
    """
    CREATE TABLE lockout(id INTEGER PRIMARY KEY CHECK(id = 1), version INTEGER NOT NULL, sealed BLOB NOT NULL) STRICT
    """,
  ]

  /// Makes the tables in an empty database.
  static func create(in database: Database) throws(KeychainError) {
    for statement in statements { try database.execute(statement) }
    try database.execute("PRAGMA application_id = \(applicationID)")
    try database.execute("PRAGMA user_version = \(version)")
  }

  /// Throws where `database` is another program's, a later version's or none of ours.
  static func checkVersion(of database: Database) throws(KeychainError) {
    guard try database.number("PRAGMA application_id") == applicationID,
      let found = try database.number("PRAGMA user_version"), found >= version
    else { throw .corrupt(database.path) }
    guard found == version else {
      throw .tooNew(path: database.path, found: Int(found), known: Int(version))
    }
  }

  /// Throws where a table, index, trigger or view is missing, changed or too many.
  static func checkTables(of database: Database) throws(KeychainError) {
    let fresh = try Database(path: ":memory:", mode: .memory)
    try create(in: fresh)
    guard try listing(of: database) == listing(of: fresh) else { throw .corrupt(database.path) }
  }

  private static func listing(of database: Database) throws(KeychainError) -> [String] {
    var result: [String] = []
    let query = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY name"
    try database.rows(query) { (row) throws(KeychainError) in
      result.append((0..<4).map { row.text($0) ?? "?" }.joined(separator: "\u{0}"))
      return true
    }
    return result
  }
}
