/// How the database file comes to be and is opened.
enum StoreFile {
  static let name = "keychain.db"
  private static let draft = "keychain.db.new"
  private static let sideFiles = ["-wal", "-shm", "-journal"]

  /// Opens the database in `directory`; where there is none, `prepare` fills a new one first, which gets its name
  /// only when it is complete, so that an unfinished one is never taken for a keychain.
  static func open(
    in directory: String, prepare: (Database) throws(KeychainError) -> Void
  ) throws(KeychainError) -> Database {
    let folder = try StoreFolder(path: directory, create: true)
    let path = "\(directory)/\(name)"
    var hasSideFiles = false
    for suffix in sideFiles where try folder.hasPlainFile(name + suffix) { hasSideFiles = true }
    if try !folder.hasPlainFile(name) {
      // A log without its database would be played into the new one.
      guard !hasSideFiles else { throw .corrupt("\(path), which is gone while its write-ahead log is still there,") }
      try create(in: folder, prepare: prepare)
    }

    // A later version's file must not even get a write-ahead log, so that the first look leaves no trace.
    try Schema.checkVersion(of: Database(path: path, mode: .untouched))
    let database = try Database(path: path, mode: .existing)
    // What a later version left in the write-ahead log shows only now; closing must not play that in.
    database.setCheckpointOnClose(false)
    try Schema.checkVersion(of: database)
    try Schema.checkTables(of: database)
    try useWriteAheadLog(database)
    try Schema.migrate(database)
    database.setCheckpointOnClose(true)
    return database
  }

  private static func create(
    in folder: StoreFolder, prepare: (Database) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    func removeDraft() {
      for suffix in [""] + sideFiles { folder.remove(draft + suffix) }
    }
    // Left by a process that ended half-way; nothing was ever kept in it.
    removeDraft()
    do throws(KeychainError) {
      try folder.makeFile(draft)
      try fill("\(folder.path)/\(draft)", prepare)
      try folder.publish(draft, as: name)
    } catch {
      removeDraft()
      throw error
    }
  }

  /// A function of its own, so that the connection is closed when it returns.
  private static func fill(
    _ path: String, _ prepare: (Database) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    let database = try Database(path: path, mode: .existing)
    try database.write { () throws(KeychainError) in
      try Schema.create(in: database)
      try prepare(database)
    }
    try useWriteAheadLog(database)
  }

  private static func useWriteAheadLog(_ database: Database) throws(KeychainError) {
    var mode: String?
    try database.rows("PRAGMA journal_mode = WAL") { (row) throws(KeychainError) in
      mode = row.text(0)
      return false
    }
    guard mode == "wal" else { throw .io("\(database.path) cannot have a write-ahead log on this file system") }
  }
}
