import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

@Suite struct NameTests {
  static let refused = [
    "", ".", "..", "/", "a/b", "../anna", "/etc/passwd", "a/", "a\0b", "\0", String(repeating: "x", count: 256),
    String(repeating: "ä", count: 128),
  ]

  @Test(arguments: refused)
  func `A name that would leave its folder, or cannot name one, is refused and named`(name: String) throws {
    let sample = try Sample()
    let keys: [PrintStore.Key] = [
      .init(user: name, driver: "d", deviceID: "0", finger: .leftThumb),
      .init(user: "u", driver: name, deviceID: "0", finger: .leftThumb),
      .init(user: "u", driver: "d", deviceID: name, finger: .leftThumb),
    ]
    for key in keys {
      let errors = [
        storeError { () throws(PrintStoreError) in try sample.store.save(Sample.print(1), for: key) },
        storeError { () throws(PrintStoreError) in _ = try sample.store.load(key) },
        storeError { () throws(PrintStoreError) in _ = try sample.store.delete(key) },
        storeError { () throws(PrintStoreError) in
          _ = try sample.store.fingers(user: key.user, driver: key.driver, deviceID: key.deviceID)
        },
        storeError { () throws(PrintStoreError) in
          _ = try sample.store.loadAll(user: key.user, driver: key.driver, deviceID: key.deviceID)
        },
        storeError { () throws(PrintStoreError) in
          _ = try sample.store.deleteAll(user: key.user, driver: key.driver, deviceID: key.deviceID)
        },
      ]
      for error in errors {
        guard case .invalidName = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        let text = error?.description ?? ""
        #expect(!text.isEmpty && !text.contains("\n") && !text.contains("\0"))
      }
    }
    #expect(!FileManager.default.fileExists(atPath: sample.store.root))
  }

  @Test func `No user's folder begins with a dot, for Whorl's own does`() throws {
    let sample = try Sample()
    var key = Sample.key
    key.user = ".whorl"
    #expect(throws: PrintStoreError.self) { try sample.store.save(Sample.print(1), for: key) }
  }

  @Test(arguments: [
    "anna@example.org", "CORP\\anna", "anna b", " ", "日本語", "a\u{301}", "\u{E1}", "-rf", "*", "$(id)", "a\nb",
    "7", "..a", "a..", String(repeating: "x", count: 255), String(repeating: "界", count: 85),
  ])
  func `An odd but possible name keeps its print, and is no other name`(name: String) throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(9), for: Sample.key)
    var names = Set([name])
    // A user's name alone may not begin with a dot.
    if name.hasPrefix(".") { names = [] }
    for user in names {
      let key = PrintStore.Key(user: user, driver: "d", deviceID: "0", finger: .leftThumb)
      try sample.store.save(Sample.print(1), for: key)
      #expect(try sample.store.load(key) == Sample.print(1))
      #expect(try sample.store.users().contains { $0.utf8.elementsEqual(user.utf8) })
    }
    let key = PrintStore.Key(user: "u", driver: name, deviceID: name, finger: .leftRing)
    try sample.store.save(Sample.print(2), for: key)
    #expect(try sample.store.load(key) == Sample.print(2))
    #expect(try sample.store.delete(key))
    #expect(try sample.store.load(Sample.key) == Sample.print(9))
  }

  @Test func `Two spellings of one character are two users`() throws {
    let sample = try Sample()
    let keys = ["a\u{301}", "\u{E1}"].map { PrintStore.Key(user: $0, driver: "d", deviceID: "0", finger: .leftThumb) }
    try sample.store.save(Sample.print(1), for: keys[0])
    #expect(try sample.store.load(keys[1]) == nil)
    try sample.store.save(Sample.print(2), for: keys[1])
    #expect(try sample.store.load(keys[0]) == Sample.print(1))
  }

  @Test func `Any bytes as names: refused, or kept inside the root`() throws {
    let sample = try Sample()
    let around = try Set(FileManager.default.contentsOfDirectory(atPath: sample.folder.path) + ["prints"])
    var random = SystemRandomNumberGenerator()
    let pieces = ["/", "..", ".", "\0", "a", "7", "\\", "@", " ", "ä", "\u{202E}", "\n", "proc", "self", "~", "%2e"]
    for _ in 0..<400 {
      func name() -> String {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      }
      let key = PrintStore.Key(user: name(), driver: name(), deviceID: name(), finger: .leftThumb)
      do {
        try sample.store.save(Sample.print(1), for: key)
        #expect(try sample.store.load(key) == Sample.print(1), "\(key)")
        let path = "\(sample.store.root)/\(key.user)/\(key.driver)/\(key.deviceID)/1"
        #expect(FileManager.default.fileExists(atPath: path), "\(key)")
        #expect(try sample.store.delete(key), "\(key)")
      } catch {
        guard case .invalidName = error else {
          Issue.record("\(key): \(error)")
          continue
        }
      }
      #expect(try around.isSuperset(of: FileManager.default.contentsOfDirectory(atPath: sample.folder.path)))
    }
    #expect(try sample.tree().isEmpty)
  }
}
