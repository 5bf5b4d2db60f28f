internal import CSQLite
internal import Glibc

/// A value bound to a statement.
enum DatabaseValue {
  case integer(Int64)
  case blob([UInt8])
  case text(String)
  case null

  /// A blob, or null for none.
  static func blobOrNull(_ bytes: [UInt8]?) -> Self { bytes.map(Self.blob) ?? .null }
}

/// One SQLite connection that keeps to this project's rules: nothing but what the schema says runs in it, deleted
/// content is overwritten, and a commit is on the disk when it returns. Used by one owner at a time.
final class Database {
  private let handle: OpaquePointer
  /// The file, for messages.
  let path: String
  /// So many milliseconds a change waits for one that another connection has begun.
  private var patience: Int32 = 5000

  enum Mode {
    /// The file exists and is read and written.
    case existing
    /// As it lies on the disk, without locks, write-ahead log or any side file: to look at its version.
    case untouched
    /// In memory, empty.
    case memory
  }

  init(path: String, mode: Mode) throws(KeychainError) {
    self.path = path
    let name: String
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    switch mode {
    case .existing:
      name = path
      flags |= SQLITE_OPEN_READWRITE
    case .untouched:
      name = "file:\(Self.escaped(path))?immutable=1"
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    case .memory:
      name = ":memory:"
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY
    }
    var opened: OpaquePointer?
    // sqlite3_open_v2: the connection is ours to close, also where opening failed.
    let code = sqlite3_open_v2(name, &opened, flags, nil)
    guard let opened else { throw .io("\(path) could not be opened for lack of memory") }
    guard code == SQLITE_OK else {
      let error = Self.error(opened, code: code, path: path)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    sqlite3_busy_timeout(handle, patience)
    // The file is not trusted: no triggers, views or functions of its making run, and no statement edits the schema.
    for (option, value) in [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
      (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    ] {
      csqlite_config(handle, option, Int32(value))
    }
    if mode == .existing {
      try execute("PRAGMA cell_size_check = ON")
      try execute("PRAGMA mmap_size = 0")
      try execute("PRAGMA temp_store = MEMORY")
      try execute("PRAGMA synchronous = FULL")
      try execute("PRAGMA secure_delete = ON")
    }
  }

  deinit { sqlite3_close_v2(handle) }

  private static func escaped(_ path: String) -> String {
    path.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"):
        return String(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16)
        return "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }.joined()
  }

  /// Whether closing leaves the write-ahead log and the file as they are.
  func setCheckpointOnClose(_ isOn: Bool) {
    csqlite_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn ? 0 : 1)
  }

  func execute(_ sql: String) throws(KeychainError) {
    try rows(sql) { (_) throws(KeychainError) in true }
  }

  /// Runs one statement and gives how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: [DatabaseValue] = []) throws(KeychainError) -> Int {
    try rows(sql, values) { (_) throws(KeychainError) in true }
    return Int(sqlite3_changes(handle))
  }

  /// Runs one statement and gives each row of its result to `body`, until that gives false.
  func rows(
    _ sql: String, _ values: [DatabaseValue] = [], _ body: (borrowing Row) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    var prepared: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &prepared, nil))
    guard let statement = prepared else { throw .io("\(path) was given an empty statement") }
    defer { sqlite3_finalize(statement) }
    for (index, value) in values.enumerated() {
      let position = Int32(index + 1)
      switch value {
      case .integer(let number): try check(sqlite3_bind_int64(statement, position, number))
      case .blob(let bytes): try check(csqlite_bind_blob(statement, position, bytes, Int32(bytes.count)))
      case .text(let text): try check(csqlite_bind_text(statement, position, text))
      case .null: try check(sqlite3_bind_null(statement, position))
      }
    }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw Self.error(handle, code: code, path: path) }
      guard try body(Row(statement: statement)) else { return }
    }
  }

  /// The whole number that a statement gives in its first row and column.
  func number(_ sql: String, _ values: [DatabaseValue] = []) throws(KeychainError) -> Int64? {
    var result: Int64?
    try rows(sql, values) { (row) throws(KeychainError) in
      result = row.integer(0)
      return false
    }
    return result
  }

  /// The bytes that a statement gives in its first row and column.
  func blob(_ sql: String, _ values: [DatabaseValue] = []) throws(KeychainError) -> [UInt8]? {
    var result: [UInt8]?
    try rows(sql, values) { (row) throws(KeychainError) in
      result = row.blob(0)
      return false
    }
    return result
  }

  /// The record of that name; nil where there is none.
  func record(_ name: String) throws(KeychainError) -> [UInt8]? {
    var result: [UInt8]?
    try rows("SELECT value FROM meta WHERE name = ?", [.text(name)]) { (row) throws(KeychainError) in
      result = row.blob(0) ?? []
      return false
    }
    return result
  }

  /// Puts a record in the place of the one of that name.
  func setRecord(_ name: String, _ value: [UInt8]) throws(KeychainError) {
    try run("INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)", [.text(name), .blob(value)])
  }

  /// Runs `body` in one transaction: all of its changes are on the disk when this returns, or none.
  func write<R: ~Copyable>(_ body: () throws(KeychainError) -> R) throws(KeychainError) -> R {
    try transaction(begin: "BEGIN IMMEDIATE", body)
  }

  /// Runs `body` with one state of the database before its eyes.
  func read<R: ~Copyable>(_ body: () throws(KeychainError) -> R) throws(KeychainError) -> R {
    try transaction(begin: "BEGIN", body)
  }

  private func transaction<R: ~Copyable>(
    begin: String, _ body: () throws(KeychainError) -> R
  ) throws(KeychainError) -> R {
    try execute(begin)
    do throws(KeychainError) {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      rollBackIfOpen()
      throw error
    }
  }

  /// Takes back what the transaction under way has changed. Where there is none, or where SQLite has rolled back already
  /// (a full disk, say), there is nothing to do.
  func rollBackIfOpen() {
    if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
  }

  /// Moves the write-ahead log into the file and empties it, so that overwritten content is in neither. Waits for
  /// nobody: what another connection still reads goes with a later checkpoint.
  func checkpoint() {
    // sqlite3_wal_checkpoint_v2: the counts are not wanted.
    sqlite3_busy_timeout(handle, 0)
    // First what keeps no writer waiting: most of it, where there is much.
    sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    sqlite3_busy_timeout(handle, patience)
  }

  /// Whether a change waits for one that another connection has begun, or fails with `.busy` at once.
  func setPatience(_ isOn: Bool) {
    patience = isOn ? 5000 : 0
    sqlite3_busy_timeout(handle, patience)
  }

  private func check(_ code: Int32) throws(KeychainError) {
    guard code == SQLITE_OK else { throw Self.error(handle, code: code, path: path) }
  }

  /// The one place where SQLite's codes become the keychain's errors.
  private static func error(_ handle: OpaquePointer, code: Int32, path: String) -> KeychainError {
    switch code & 0xff {
    case SQLITE_FULL: return .diskFull(path)
    case SQLITE_READONLY: return .readOnly(path)
    case SQLITE_BUSY, SQLITE_LOCKED: return .busy(path)
    case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(path)
    case SQLITE_CONSTRAINT where code == Int32(csqlite_CONSTRAINT_UNIQUE): return .duplicateItem
    case SQLITE_CONSTRAINT: return .corrupt(path)
    case SQLITE_NOMEM: return .io("\(path) could not be used for lack of memory")
    default: break
    }
    switch sqlite3_system_errno(handle) {
    case ENOSPC, EDQUOT: return .diskFull(path)
    case EROFS: return .readOnly(path)
    default: return .io("\(path) could not be read or written (\(String(cString: sqlite3_errstr(code))))")
    }
  }
}

/// The current row of a statement; valid until the next step. A column of another type than asked for is nil.
struct Row: ~Copyable {
  fileprivate let statement: OpaquePointer

  func integer(_ column: Int32) -> Int64? {
    guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
    return sqlite3_column_int64(statement, column)
  }

  func blob(_ column: Int32) -> [UInt8]? {
    guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    // sqlite3_column_blob: borrowed until the next step, null for no bytes.
    return Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count))
  }

  func text(_ column: Int32) -> String? {
    guard sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
    // sqlite3_column_text: borrowed until the next step.
    return sqlite3_column_text(statement, column).map { String(cString: $0) }
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
}
