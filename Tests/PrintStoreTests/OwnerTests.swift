import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

/// Whose the prints under a name are.
@Suite struct OwnerTests {
  private func owners() throws -> (PrintOwners, TemporaryFolder) {
    let folder = try TemporaryFolder()
    return (PrintOwners(root: folder("owners")), folder)
  }

  @Test func `A record is kept, replaced and forgotten, and is nobody else's to read`() throws {
    let (owners, folder) = try owners()
    #expect(try owners.uid(of: "anna") == nil)
    #expect(try owners.names(of: 7).isEmpty)
    try owners.record(7, for: "anna")
    try owners.record(UInt32.max, for: "1000")
    #expect(try owners.uid(of: "anna") == 7)
    #expect(try owners.uid(of: "1000") == UInt32.max)
    #expect(try PrintOwners(root: owners.root).names(of: 7) == ["anna"])
    var status = stat()
    #expect(lstat(folder("owners/anna"), &status) == 0 && status.st_mode & 0o077 == 0)
    #expect(lstat(folder("owners"), &status) == 0 && status.st_mode & 0o077 == 0)
    try owners.record(8, for: "anna")
    #expect(try owners.uid(of: "anna") == 8)
    try owners.forget("anna")
    try owners.forget("anna")
    #expect(try owners.uid(of: "anna") == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: owners.root) == ["1000"])
  }

  @Test(arguments: ["", "x\n", "-1\n", "7", "4294967296\n", "7\n7\n", String(repeating: "9", count: 100)])
  func `A damaged record is an error, never a uid and never none`(_ content: String) throws {
    let (owners, folder) = try owners()
    try owners.record(7, for: "anna")
    try content.write(toFile: folder("owners/anna"), atomically: false, encoding: .utf8)
    #expect(throws: PrintStoreError.self) { try owners.uid(of: "anna") }
    #expect(try owners.names(of: 7).isEmpty)
    try owners.record(7, for: "anna")
    #expect(try owners.uid(of: "anna") == 7)
  }

  @Test func `A record that others can write, or that is a link, is not believed`() throws {
    let (owners, folder) = try owners()
    try owners.record(7, for: "anna")
    #expect(chmod(folder("owners/anna"), 0o666) == 0)
    #expect(throws: PrintStoreError.self) { try owners.uid(of: "anna") }
    try owners.record(8, for: "bert")
    #expect(symlink("bert", folder("owners/carl")) == 0)
    #expect(throws: PrintStoreError.self) { try owners.uid(of: "carl") }
    #expect(throws: PrintStoreError.self) { try owners.record(9, for: "carl") }
    #expect(try owners.uid(of: "bert") == 8)
  }

  @Test func `No name, of any characters and up to 255 bytes, leaves the folders or becomes another`() throws {
    let sample = try Sample()
    let owners = PrintOwners(root: sample.folder("owners"))
    try FileManager.default.createDirectory(atPath: sample.folder("outside"), withIntermediateDirectories: false)
    let around = Set(["prints", "owners", "outside"])
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "@", "\\", "/", "..", ".", "anna", "CORP", "example.org", "1000", " ", "\t", "\n", "ä", "e\u{301}", "日本",
      "\u{202E}",
      "\u{0}", "-", "~", "%2f", "%s", "$HOME", "*",
    ]
    var kept: [[UInt8]: UInt32] = [:]
    for uid in UInt32(1)...400 {
      var name = (0..<Int.random(in: 0...6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined()
      if Bool.random(using: &random) {
        while name.utf8.count < Int.random(in: 200...260, using: &random) { name += "x" }
      }
      let key = PrintStore.Key(user: name, driver: "d", deviceID: "0", finger: .leftThumb)
      do {
        try owners.record(uid, for: name)
        try sample.store.save(Sample.print(Int(uid)), for: key)
        kept[Array(name.utf8)] = uid
        #expect((1...255).contains(name.utf8.count) && !name.utf8.contains(0) && !name.contains("/"))
      } catch {
        guard case PrintStoreError.invalidName = error else {
          Issue.record("\(name): \(error)")
          continue
        }
        #expect(throws: PrintStoreError.self) { try PrintStore.check(user: name) }
      }
    }
    for (bytes, uid) in kept {
      let name = String(decoding: bytes, as: UTF8.self)
      #expect(try owners.uid(of: name) == uid)
      #expect(
        try sample.store.load(.init(user: name, driver: "d", deviceID: "0", finger: .leftThumb))
          == Sample.print(Int(uid)))
    }
    #expect(try around.isSuperset(of: FileManager.default.contentsOfDirectory(atPath: sample.folder.path)))
    #expect(try FileManager.default.contentsOfDirectory(atPath: sample.folder("outside")).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: owners.root).count == kept.count)
    #expect(try FileManager.default.contentsOfDirectory(atPath: sample.store.root).count == kept.count)
  }

  @Test func `The readers of a user are listed, and his folder gets another name in one step`() throws {
    let sample = try Sample()
    #expect(try sample.store.readers(user: "anna").isEmpty)
    #expect(try !sample.store.hasPrints(user: "anna"))
    #expect(try !sample.store.rename(user: "anna", to: "bert"))
    try sample.store.save(Sample.print(1), for: Sample.key)
    try sample.store.save(
      Sample.print(2), for: .init(user: "anna", driver: "goodix", deviceID: "x y", finger: .leftThumb))
    #expect(
      try sample.store.readers(user: "anna").map { "\($0.driver)/\($0.deviceID)" } == ["goodix/x y", "virtual_image/0"])
    #expect(try sample.store.hasPrints(user: "anna"))
    #expect(try sample.store.rename(user: "anna", to: "anna.b@corp"))
    #expect(try !sample.store.hasPrints(user: "anna"))
    var key = Sample.key
    key.user = "anna.b@corp"
    #expect(try sample.store.load(key) == Sample.print(1))
    try sample.store.save(Sample.print(3), for: Sample.key)
    #expect(throws: PrintStoreError.self, "over somebody else's prints") {
      try sample.store.rename(user: "anna", to: "anna.b@corp")
    }
    #expect(try sample.store.load(key) == Sample.print(1))
    #expect(throws: PrintStoreError.self) { try sample.store.rename(user: "anna", to: "../x") }
  }
}
