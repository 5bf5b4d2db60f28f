import Foundation
import SecretMemory
import TestKit
import Testing

@testable import Keychain

@Suite struct StoreFileTests {
  @Test func `folder and files are the owner's alone`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.add("a")
    #expect(store.mode(store.directory()) == 0o700)
    #expect(try store.files().keys.sorted() == ["keychain.db", "keychain.db-shm", "keychain.db-wal"])
    for name in try store.files().keys { #expect(store.mode(store.directory() + "/" + name) == 0o600, "\(name)") }
  }

  @Test func `a reader of the files without keys finds no attribute and no secret in them`() throws {
    let store = try TestStore()
    let marks = [
      "SERVICE-mark", "ACCOUNT-mark", "GROUP-mark", "LABEL-mark", "DESC-mark", "COMMENT-mark", "GENERIC-mark",
    ]
    var attributes = ItemAttributes(service: marks[0], account: marks[1], accessGroup: marks[2])
    (attributes.label, attributes.itemDescription, attributes.comment) = (marks[3], marks[4], marks[5])
    attributes.generic = Array(marks[6].utf8)
    let secretMark = String(repeating: "SECRET-mark", count: 100)
    let readerMark = "READER-mark"
    let print = Array("PRINT-mark".utf8)
    do {
      let keychain = try store.open()
      try keychain.recordEnrolment(finger: 1, reader: readerMark, print: print)
      for own in try AccessControl.all {
        attributes.account = "\(marks[1]) \(own.constraints)"
        let id = try keychain.add(attributes, accessControl: own, secret: try secret(secretMark))
        try keychain.update(id, under: own, changes: ItemQuery(label: "LABEL-mark 2"), secret: try secret(secretMark))
      }
      try check()
      try keychain.recordEnrolment(finger: 2, reader: readerMark, print: print)
      #expect(try keychain.delete(ItemQuery(service: marks[0], account: "\(marks[1]) []")) == 1)
      try check()
    }
    try check()

    func check() throws {
      let files = try store.files()
      #expect(files["keychain.db"]?.isEmpty == false)
      for (name, content) in files {
        for mark in marks + ["SECRET-mark", readerMark, "PRINT-mark"] {
          #expect(content.range(of: Data(mark.utf8)) == nil, "\(mark) in \(name)")
        }
        // The device key itself, whole.
        #expect(content.range(of: Data((0..<32).map { $0 })) == nil)
      }
    }
  }

  @Test func `the marks of the test above would be found if they were there`() throws {
    let store = try TestStore()
    _ = try store.open()
    try store.editor().run("INSERT INTO meta(name, value) VALUES('SERVICE-mark', x'00')")
    #expect(try store.files().values.contains { $0.range(of: Data("SERVICE-mark".utf8)) != nil })
  }

  @Test func `a keychain without the right device key does not open, and is not harmed`() throws {
    let store = try TestStore()
    let id = try store.open().add("a")
    let before = try store.files()
    let file = store.file()
    #expect(throws: KeychainError.tampered("the keybag in \(file)")) {
      try UserKeychain(directory: store.directory(), user: UserID(1000), deviceKey: SecretBytes(count: 32))
    }
    #expect(throws: KeychainError.invalidParameter("the device key has 31 bytes instead of 32")) {
      try UserKeychain(directory: store.directory(), user: UserID(1000), deviceKey: SecretBytes(count: 31))
    }
    #expect(try store.files() == before)
    #expect(try store.open().secretText(id) == "secret")
  }

  @Test func `a keychain moved into another user's folder does not open there`() throws {
    let store = try TestStore()
    try store.open(1000).add("a")
    let file = store.file()
    #expect(throws: KeychainError.tampered("the keybag in \(file)")) { try store.open(1001, in: store.directory(1000)) }
  }

  @Test func `a database of a later version is named and left alone, without a side file`() throws {
    let store = try TestStore()
    try store.open().add("a")
    try store.editor().execute("PRAGMA user_version = 99")
    let before = try store.files()
    let times = try modificationTimes(store)
    #expect(before.keys.sorted() == ["keychain.db"])
    let file = store.file()
    #expect(throws: KeychainError.tooNew(path: file, found: 99, known: Int(Schema.version))) { try store.open() }
    #expect(try store.files() == before)
    #expect(try modificationTimes(store) == times)
  }

  @Test func `a later version known only from the write-ahead log is left alone too`() throws {
    let store = try TestStore()
    try store.open().add("a")
    // As after a crash of the later version: database and log, neither checkpointed.
    let copy = store.folder("copy")
    do {
      let editor = try store.editor()
      try editor.execute("PRAGMA user_version = 99")
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
      chmod(copy, 0o700)
      for name in ["keychain.db", "keychain.db-wal"] {
        try FileManager.default.copyItem(atPath: store.directory() + "/" + name, toPath: copy + "/" + name)
      }
    }
    func content(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: copy + "/" + name)) }
    let before = [try content("keychain.db"), try content("keychain.db-wal")]
    #expect(!before[1].isEmpty)
    #expect(throws: KeychainError.tooNew(path: copy + "/keychain.db", found: 99, known: Int(Schema.version))) {
      try store.open(in: copy)
    }
    #expect([try content("keychain.db"), try content("keychain.db-wal")] == before)
  }

  private func modificationTimes(_ store: TestStore) throws -> [String: Date?] {
    var result: [String: Date?] = [:]
    for name in try store.files().keys {
      let attributes = try FileManager.default.attributesOfItem(atPath: store.directory() + "/" + name)
      result[name] = attributes[.modificationDate] as? Date
    }
    return result
  }

  enum Damage: CaseIterable, Sendable {
    case empty, garbage, headerOnly, shortened, otherDatabase, missingIndex, addedTrigger, addedTable, oldVersion

    func inflict(on store: TestStore) throws {
      let url = URL(fileURLWithPath: store.file())
      let content = try Data(contentsOf: url)
      switch self {
      case .empty: try Data().write(to: url)
      case .garbage: try Data(repeating: 0x41, count: content.count).write(to: url)
      case .headerOnly: try content.prefix(100).write(to: url)
      case .shortened: try content.prefix(4096).write(to: url)
      case .otherDatabase: try store.editor().execute("PRAGMA application_id = 7")
      case .missingIndex: try store.editor().execute("DROP INDEX item_service")
      case .addedTrigger:
        try store.editor().execute(
          "CREATE TRIGGER spy AFTER UPDATE ON item BEGIN DELETE FROM lockout; END")
      case .addedTable: try store.editor().execute("CREATE TABLE spy(a)")
      case .oldVersion: try store.editor().execute("PRAGMA user_version = 0")
      }
      chmod(store.file(), 0o600)
    }
  }

  @Test(arguments: Damage.allCases)
  func `a damaged database is reported, never replaced`(damage: Damage) throws {
    let store = try TestStore()
    try store.open().add("a")
    try damage.inflict(on: store)
    let before = try store.files()
    let error = #expect(throws: KeychainError.self) { try store.open() }
    #expect(error == .corrupt(store.file()))
    #expect(try store.files()["keychain.db"] == before["keychain.db"])
  }

  @Test func `a write-ahead log without its database is not played into a new one`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.add("a")
    let log = try #require(try store.files()["keychain.db-wal"])
    withExtendedLifetime(keychain) { _ = unlink(store.file()) }
    let error = #expect(throws: KeychainError.self) { try store.open() }
    #expect(error?.description.contains("write-ahead log") == true)
    #expect(try store.files()["keychain.db"] == nil)
    #expect(try store.files()["keychain.db-wal"] == log)
  }

  @Test func `what a start that broke off left behind is cleared away`() throws {
    let store = try TestStore()
    try FileManager.default.createDirectory(
      atPath: store.directory(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data("half".utf8).write(to: URL(fileURLWithPath: store.file() + ".new"))
    try store.open().add("a")
    #expect(try store.files().keys.sorted() == ["keychain.db"])
  }

  enum Refused: CaseIterable, Sendable {
    case symbolicLink, hardLink, folder, pipe, openFile, openFolder, linkedFolder, linkedLog
    case foreignFile, foreignFolder

    /// What the error says.
    var words: String {
      switch self {
      case .symbolicLink, .linkedLog: "is a symbolic link"
      case .hardLink: "has a second name"
      case .folder, .pipe: "is not a plain file"
      case .openFile, .openFolder: "is open to other users"
      case .linkedFolder: "is not a folder of its own"
      case .foreignFile, .foreignFolder: "belongs to user 4242"
      }
    }

    func make(_ store: TestStore) throws {
      let (file, directory) = (store.file(), store.directory())
      switch self {
      case .symbolicLink: #expect(rename(file, file + "2") == 0 && symlink(file + "2", file) == 0)
      case .hardLink: #expect(link(file, file + "2") == 0)
      case .folder: #expect(unlink(file) == 0 && mkdir(file, 0o700) == 0)
      case .pipe: #expect(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
      case .openFile: #expect(chmod(file, 0o640) == 0)
      case .openFolder: #expect(chmod(directory, 0o701) == 0)
      case .linkedFolder: #expect(rename(directory, directory + "2") == 0 && symlink(directory + "2", directory) == 0)
      case .linkedLog: #expect(symlink("/etc/passwd", file + "-wal") == 0)
      case .foreignFile: #expect(chown(file, 4242, 4242) == 0)
      case .foreignFolder: #expect(chown(directory, 4242, 4242) == 0)
      }
    }
  }

  @Test(arguments: Refused.allCases)
  func `a file or folder that is not as the keychain made it is refused and named`(refused: Refused) throws {
    if [.foreignFile, .foreignFolder].contains(refused), geteuid() != 0 { return }
    let store = try TestStore()
    try store.open().add("a")
    try refused.make(store)
    let error = try #require(#expect(throws: KeychainError.self) { try store.open() })
    #expect(error.description.contains(refused.words) && error.description.contains(store.directory()))
  }

  @Test func `a full disk is named, and what was there stays`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    let own = try AccessControl.requiring(.biometryCurrentSet)
    let id = try keychain.add("a", "me", own)
    let state = try keychain.biometryDomainState()
    let size = try keychain.database.number("PRAGMA page_count") ?? 0
    try keychain.database.execute("PRAGMA max_page_count = \(size)")
    let full = KeychainError.diskFull(store.file())
    let long = String(repeating: "x", count: 100_000)
    #expect(throws: full) { try keychain.add("b", secret: long) }
    #expect(throws: full) {
      try keychain.update(id, under: own, changes: ItemQuery(service: "c"), secret: try secret(long))
    }
    #expect(try keychain.services() == ["a"])
    #expect(try keychain.secretText(id, own) == "secret")
    #expect(try keychain.biometryDomainState() == state)
    try keychain.database.execute("PRAGMA max_page_count = 100000")
    try keychain.add("b", secret: long)
    #expect(try store.open().services() == ["a", "b"])
  }

  @Test func `a database that cannot be written is named, and can still be read`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    let id = try keychain.add("a")
    try keychain.database.execute("PRAGMA query_only = ON")
    let wanted = KeychainError.readOnly(store.file())
    #expect(throws: wanted) { try keychain.add("b") }
    #expect(throws: wanted) { try keychain.delete(id) }
    #expect(throws: wanted) { try keychain.setLockout(LockoutRecord()) }
    #expect(throws: wanted) { try keychain.recordEnrolment(finger: 1, reader: "r", print: [1]) }
    #expect(try keychain.secretText(id) == "secret")
  }

  @Test func `many first users at once get one keychain, and no item is lost`() async throws {
    let store = try TestStore()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          let keychain = try store.open()
          for index in 0..<10 { try keychain.add("\(worker)", "\(index)") }
        }
      }
      try await group.waitForAll()
    }
    let keychain = try store.open()
    #expect(try keychain.find(ItemQuery()).count == 40)
    for item in try keychain.find(ItemQuery()) { #expect(try keychain.secretText(item.id) == "secret") }
  }

  // The child says on a file of its own which items `add` has returned for; then it is killed in mid-work.
  @Test(arguments: [0, 1, 3, 7, 20])
  func `what add has returned for survives kill -9 at any moment`(count: Int) async throws {
    let store = try TestStore()
    let root = store.folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, count = count as Int] in
      let acknowledged = open(root + "/acknowledged", O_WRONLY | O_CREAT | O_APPEND, 0o600)
      let keychain = try UserKeychain(
        directory: root + "/users/1000", user: UserID(1000), deviceKey: try secret((0..<32).map { $0 }))
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        for _ in 0..<count { done.wait() }
        kill(getpid(), SIGKILL)
      }
      for index in 0..<100_000 {
        try keychain.add("\(index)", secret: String(repeating: "\(index) ", count: index % 3 * 2000))
        _ = write(acknowledged, "x", 1)
        done.signal()
      }
    }
    let acknowledged = (try? Data(contentsOf: URL(fileURLWithPath: root + "/acknowledged")).count) ?? 0
    let keychain = try store.open()
    let items = try keychain.find(ItemQuery())
    #expect(items.count >= acknowledged)
    #expect(items.map(\.attributes.service) == (0..<items.count).map(String.init))
    for (index, item) in items.enumerated() {
      #expect(try keychain.secretText(item.id) == String(repeating: "\(index) ", count: index % 3 * 2000))
    }
    try keychain.add("after")
  }
}
