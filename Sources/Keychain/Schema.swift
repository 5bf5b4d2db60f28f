/// What the database looks like on the disk.
///
/// Nothing in it is readable without the keys but numbers of rows, classes, constraints and lengths. Each format is the
/// one before it and some statements more, so that an older file becomes a newer one by running those: what they do to
/// the stored text of the schema is the same in a new file and in a migrated one.
enum Schema {
  /// The format that this version writes.
  static let version = Int64(steps.count)
  /// "Whrl", so that no other program's database is taken for a keychain.
  static let applicationID: Int64 = 0x5768_726c

  /// What leads from each format to the next, the first from an empty file. SQLite keeps these texts as they are, and
  /// opening compares them: those of a released format are never edited.
  private static let steps = [first, second]

  private static let first = [
    "CREATE TABLE meta(name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT",
    // kind: what opens the slot (`Keybag.SlotKind`); parameters: what stretching a passcode needs
    """
    CREATE TABLE keybag(slot INTEGER PRIMARY KEY, kind INTEGER NOT NULL, version INTEGER NOT NULL, parameters BLOB, \
    wrapped BLOB NOT NULL) STRICT
    """,
    // class: 0 metadata, otherwise a protection class; root: the key that wraps it (`Keybag.Root`)
    """
    CREATE TABLE class_key(class INTEGER PRIMARY KEY, version INTEGER NOT NULL, root INTEGER NOT NULL, \
    wrapped BLOB NOT NULL) STRICT
    """,
    // identity and the columns up to generic are keyed hashes; state: see `ItemRow`
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

  /// Keybag slots and class keys that need the passcode, the other item classes, combined constraints: new kinds of rows,
  /// which format 1 refuses by name. Beside them:
  private static let second = [
    // Thousands of items of one service, or of one account, are looked up by both.
    "DROP INDEX item_service",
    "DROP INDEX item_account",
    "CREATE INDEX item_service ON item(service, account)",
    "CREATE INDEX item_account ON item(account, service)",
    """
    CREATE TABLE trusted_reader(number INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, \
    id BLOB NOT NULL UNIQUE, sealed BLOB NOT NULL) STRICT
    """,
  ]

  /// Makes the tables of a format in an empty database.
  static func create(in database: Database, version: Int64 = version) throws(KeychainError) {
    try database.execute("PRAGMA application_id = \(applicationID)")
    try advance(database, from: 0, to: version)
  }

  /// Brings a database of an earlier format to this one, in one transaction; one of this format stays as it is.
  static func migrate(_ database: Database) throws(KeychainError) {
    guard try format(of: database) < version else { return }
    try database.write { () throws(KeychainError) in
      // Another process may have been first.
      try advance(database, from: try format(of: database), to: version)
    }
  }

  /// The format of `database`.
  /// - Throws: `.corrupt` where it is another program's or none of ours; `.tooNew`.
  @discardableResult
  static func checkVersion(of database: Database) throws(KeychainError) -> Int64 {
    guard try database.number("PRAGMA application_id") == applicationID else { throw .corrupt(database.path) }
    let found = try format(of: database)
    guard found >= 1 else { throw .corrupt(database.path) }
    guard found <= version else {
      throw .tooNew(path: database.path, found: Int(found), known: Int(version))
    }
    return found
  }

  /// Throws where a table, index, trigger or view of the database's format is missing, changed or too many.
  static func checkTables(of database: Database) throws(KeychainError) {
    let fresh = try Database(path: ":memory:", mode: .memory)
    try create(in: fresh, version: try format(of: database))
    guard try listing(of: database) == listing(of: fresh) else { throw .corrupt(database.path) }
  }

  private static func format(of database: Database) throws(KeychainError) -> Int64 {
    try database.number("PRAGMA user_version") ?? 0
  }

  private static func advance(_ database: Database, from old: Int64, to new: Int64) throws(KeychainError) {
    guard old < new else { return }
    for step in steps[Int(old)..<Int(new)] {
      for statement in step { try database.execute(statement) }
    }
    try database.execute("PRAGMA user_version = \(new)")
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
