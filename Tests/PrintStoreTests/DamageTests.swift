import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

@Suite struct DamageTests {
  /// What can lie where a print belongs.
  enum Damage: String, CaseIterable {
    case empty, otherContent, magicOnly, huge, sparse, folder, pipe, socket, link, danglingLink, device, writableByAll

    /// Puts it at `path`; false where this machine does not let us.
    func put(at path: String) throws -> Bool {
      let url = URL(fileURLWithPath: path)
      switch self {
      case .empty: try Data().write(to: url)
      case .otherContent: try Data("GP3 not a print".utf8).write(to: url)
      case .magicOnly: try Data("FP3".utf8).write(to: url)
      case .huge: try Data(Array("FP3".utf8) + [UInt8](repeating: 1, count: 1 << 20)).write(to: url)
      case .sparse:
        try Data("FP3".utf8).write(to: url)
        return truncate(path, 1 << 40) == 0
      case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      case .pipe: return mkfifo(path, 0o600) == 0
      case .socket: return mknod(path, S_IFSOCK | 0o600, 0) == 0
      case .link:
        // To a good print, so that only following the link would find something.
        try Data(Sample.print(5)).write(to: URL(fileURLWithPath: path + ".good"))
        return symlink(path + ".good", path) == 0
      case .danglingLink: return symlink("/nonexistent", path) == 0
      case .device: return mknod(path, S_IFCHR | 0o600, 0x103) == 0
      case .writableByAll:
        try Data(Sample.print(5)).write(to: url)
        return chmod(path, 0o666) == 0
      }
      return true
    }

    var isOrdinaryFile: Bool {
      switch self {
      case .empty, .otherContent, .magicOnly, .huge, .sparse, .writableByAll: true
      default: false
      }
    }
  }

  private func identity(_ path: String) -> [UInt64] {
    var status = stat()
    guard lstat(path, &status) == 0 else { return [] }
    return [UInt64(status.st_ino), UInt64(status.st_mode), UInt64(status.st_size), UInt64(status.st_mtim.tv_nsec)]
  }

  @Test(arguments: Damage.allCases)
  func `A bad file is reported by its path, costs no other finger, and stays as it is`(damage: Damage) throws {
    let sample = try Sample()
    var good = Sample.key
    good.finger = .leftThumb
    try sample.store.save(Sample.print(1), for: good)
    let path = sample.readerFolder + "/7"
    guard try damage.put(at: path) else { try Test.cancel("\(damage) cannot be made here") }
    let before = identity(path)

    let error = storeError { () throws(PrintStoreError) in _ = try sample.store.load(Sample.key) }
    let text = try #require(error?.description)
    #expect(text.contains(path) && !text.contains("\n"))
    let all = try sample.store.loadAll(user: "anna", driver: "virtual_image", deviceID: "0")
    #expect(all.prints.map(\.0) == [.leftThumb] && all.prints.map(\.1) == [Sample.print(1)])
    #expect(all.damaged.map(\.0) == [.rightIndex] && all.damaged.map(\.1) == [error])
    #expect(identity(path) == before)

    let fingers = try sample.store.fingers(user: "anna", driver: "virtual_image", deviceID: "0")
    #expect(fingers == (damage.isOrdinaryFile ? [.leftThumb, .rightIndex] : [.leftThumb]))
    if damage.isOrdinaryFile {
      // Enrolling the finger again, which the error asks for, mends it.
      try sample.store.save(Sample.print(2), for: Sample.key)
      #expect(try sample.store.load(Sample.key) == Sample.print(2))
    } else {
      #expect(throws: PrintStoreError.self) { try sample.store.save(Sample.print(2), for: Sample.key) }
      #expect(throws: PrintStoreError.self) { try sample.store.delete(Sample.key) }
      #expect(try sample.store.deleteAll(user: "anna", driver: "virtual_image", deviceID: "0") == [.leftThumb])
      #expect(identity(path) == before)
    }
  }

  @Test(arguments: [Damage.empty, .huge, .writableByAll])
  func `A damaged print can be deleted when somebody asks for that`(damage: Damage) throws {
    let sample = try Sample()
    try sample.folder.makeFolder("prints/anna/virtual_image/0")
    #expect(try damage.put(at: sample.readerFolder + "/7"))
    #expect(try sample.store.delete(Sample.key))
    #expect(try sample.tree().isEmpty)
  }

  @Test(arguments: ["", "/anna", "/anna/virtual_image", "/anna/virtual_image/0"], [true, false])
  func `A link or file in place of a folder is refused at every level`(level: String, link: Bool) throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    let path = sample.store.root + level
    let elsewhere = sample.folder("elsewhere")
    try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
    if link { symlink(elsewhere, path) } else { try Data("x".utf8).write(to: URL(fileURLWithPath: path)) }
    let before = try FileManager.default.subpathsOfDirectory(atPath: elsewhere)

    for error in [
      storeError({ () throws(PrintStoreError) in try sample.store.save(Sample.print(2), for: Sample.key) }),
      storeError({ () throws(PrintStoreError) in _ = try sample.store.load(Sample.key) }),
      storeError({ () throws(PrintStoreError) in _ = try sample.store.delete(Sample.key) }),
      storeError({ () throws(PrintStoreError) in
        _ = try sample.store.deleteAll(user: "anna", driver: "virtual_image", deviceID: "0")
      }),
    ] {
      #expect(error == .outOfPlace(path: path, found: link ? "a symbolic link" : "a file", wanted: "a folder"))
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: elsewhere) == before)
  }

  @Test(arguments: ["", "/anna", "/anna/virtual_image", "/anna/virtual_image/0"])
  func `A folder that others may write to is not trusted`(level: String) throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    chmod(sample.store.root + level, 0o770)
    let error = storeError { () throws(PrintStoreError) in _ = try sample.store.load(Sample.key) }
    #expect(error == .insecure(path: sample.store.root + level, reason: "can be written by others"))
  }

  @Test(.enabled(if: getuid() == 0, "only root can give files away"), arguments: ["/anna", "/anna/virtual_image/0/7"])
  func `What belongs to another user is not trusted`(level: String) throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    lchown(sample.store.root + level, 1234, 1234)
    let error = storeError { () throws(PrintStoreError) in _ = try sample.store.load(Sample.key) }
    #expect(error == .insecure(path: sample.store.root + level, reason: "belongs to user number 1234"))
  }

  @Test func `A store that is not named by an absolute path is refused`() {
    for root in ["", "prints", "./prints", "/a\0b"] {
      #expect(throws: PrintStoreError.self) { try PrintStore(root: root).save(Sample.print(1), for: Sample.key) }
    }
  }
}
