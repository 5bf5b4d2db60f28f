import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

@Suite struct LayoutTests {
  @Test func `A print lies where fprintd looks for it, and only its owner can read it`() throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    var thumb = Sample.key
    thumb.finger = .rightLittle
    try sample.store.save(Sample.print(2), for: thumb)
    #expect(
      try sample.tree() == [
        "anna": 0o700, "anna/virtual_image": 0o700, "anna/virtual_image/0": 0o700,
        "anna/virtual_image/0/7": 0o600, "anna/virtual_image/0/a": 0o600,
      ])
    #expect(try sample.store.load(Sample.key) == Sample.print(1))
    #expect(try sample.store.load(thumb) == Sample.print(2))
  }

  @Test(arguments: zip(Finger.allCases, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "a"]))
  func `Each finger has fprintd's digit`(finger: Finger, digit: String) throws {
    let sample = try Sample()
    var key = Sample.key
    key.finger = finger
    try sample.store.save(Sample.print(3), for: key)
    #expect(FileManager.default.fileExists(atPath: "\(sample.readerFolder)/\(digit)"))
    #expect(try sample.store.fingers(user: "anna", driver: "virtual_image", deviceID: "0") == [finger])
  }

  @Test func `A print file that fprintd wrote, readable for all in its closed folder, is taken`() throws {
    let sample = try Sample()
    try sample.folder.makeFolder("prints/anna/virtual_image/0")
    try sample.folder.write("FP3 some print", to: "prints/anna/virtual_image/0/7", mode: 0o644)
    #expect(try sample.store.load(Sample.key) == Array("FP3 some print".utf8))
  }

  @Test func `What was never saved is none, and nothing is made by looking`() throws {
    let sample = try Sample()
    #expect(try sample.store.load(Sample.key) == nil)
    #expect(try sample.store.fingers(user: "anna", driver: "virtual_image", deviceID: "0").isEmpty)
    #expect(try sample.store.users().isEmpty)
    #expect(try !sample.store.delete(Sample.key))
    #expect(try sample.store.deleteAll(user: "anna", driver: "virtual_image", deviceID: "0").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: sample.store.root))
  }

  @Test func `Saving again replaces the print`() throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    try sample.store.save(Sample.print(2), for: Sample.key)
    #expect(try sample.store.load(Sample.key) == Sample.print(2))
    #expect(try sample.tree().count == 4)
  }

  @Test func `Deleting the last print removes the folders that are empty then, and no others`() throws {
    let sample = try Sample()
    var thumb = Sample.key
    thumb.finger = .leftThumb
    var other = Sample.key
    other.driver = "goodixmoc"
    for key in [Sample.key, thumb, other] { try sample.store.save(Sample.print(1), for: key) }
    #expect(try sample.store.delete(Sample.key))
    #expect(try sample.store.load(thumb) != nil)
    #expect(try sample.store.deleteAll(user: "anna", driver: "virtual_image", deviceID: "0") == [.leftThumb])
    #expect(Set(try sample.tree().keys) == ["anna", "anna/goodixmoc", "anna/goodixmoc/0", "anna/goodixmoc/0/7"])
    #expect(try sample.store.delete(other))
    #expect(try sample.tree().isEmpty)
    #expect(FileManager.default.fileExists(atPath: sample.store.root))
  }

  @Test func `Users are those who have a folder; Whorl's own folder and links are none`() throws {
    let sample = try Sample()
    for user in ["zoe", "anna", "corp\\bob", "Ärger"] {
      var key = Sample.key
      key.user = user
      try sample.store.save(Sample.print(1), for: key)
    }
    try sample.folder.makeFolder("prints/.whorl")
    try sample.folder.write("x", to: "prints/file")
    symlink("anna", sample.store.root + "/link")
    #expect(try sample.store.users() == ["anna", "corp\\bob", "zoe", "Ärger"])
  }

  @Test(arguments: [[], Array("FP3".utf8), Array("FP2 and more".utf8), [UInt8](repeating: 0x46, count: 2_000_000)])
  func `What is no print is not saved, and the old print stays`(data: [UInt8]) throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    let error = storeError { () throws(PrintStoreError) in try sample.store.save(data, for: Sample.key) }
    guard case .notAPrint = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try sample.store.load(Sample.key) == Sample.print(1))
  }
}
