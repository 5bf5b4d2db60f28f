/// What takes as long as a keychain's file is large, and needs no keys: for whoever can wait.
public enum StoreUpkeep {
  /// Moves what was committed to the keychain in `directory` into its file and empties the log, so that overwritten content
  /// is in neither. What another connection still reads goes with a later one.
  public static func checkpoint(directory: String) {
    // Nothing is lost where it cannot be done now.
    guard let database = try? Database(path: "\(directory)/\(StoreFile.name)", mode: .existing) else { return }
    database.checkpoint()
  }

  /// SQLite's own look at pages, indices and constraints of the keychain in `directory`: none, or a line for each thing
  /// that is wrong.
  /// - Throws: what reading the database can meet.
  public static func integrity(directory: String) throws(KeychainError) -> [String] {
    try integrity(of: try Database(path: "\(directory)/\(StoreFile.name)", mode: .existing))
  }

  static func integrity(of database: Database) throws(KeychainError) -> [String] {
    var problems: [String] = []
    try database.rows("PRAGMA integrity_check(20)") { (row) throws(KeychainError) in
      // "ok" alone, where all is well.
      let line = row.text(0) ?? "an unreadable line"
      if line != "ok" { problems.append("the file: \(line)") }
      return true
    }
    return problems
  }
}
