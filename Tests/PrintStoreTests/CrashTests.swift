import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

@Suite struct CrashTests {
  @Test func `What a crashed writer left is taken for no print, and goes at the next change`() throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    let left = sample.readerFolder + "/.whorl-new-1234"
    try Data("FP3 half a pri".utf8).write(to: URL(fileURLWithPath: left))
    #expect(try sample.store.fingers(user: "anna", driver: "virtual_image", deviceID: "0") == [.rightIndex])
    let all = try sample.store.loadAll(user: "anna", driver: "virtual_image", deviceID: "0")
    #expect(all.prints.count == 1 && all.damaged.isEmpty)
    #expect(FileManager.default.fileExists(atPath: left))
    try sample.store.save(Sample.print(2), for: Sample.key)
    #expect(!FileManager.default.fileExists(atPath: left))

    try Data("FP3 half a pri".utf8).write(to: URL(fileURLWithPath: left))
    #expect(try sample.store.delete(Sample.key))
    #expect(try sample.tree().isEmpty)
  }

  @Test func `What another writer is writing just now is left alone`() throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    let new = sample.readerFolder + "/.whorl-new-5678"
    let writer = open(new, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(writer) }
    #expect(flock(writer, LOCK_EX) == 0)
    try sample.store.save(Sample.print(2), for: Sample.key)
    #expect(FileManager.default.fileExists(atPath: new))
  }

  @Test func `A link or pipe with a leftover's name is neither followed nor waited for`() throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    let target = try sample.folder.write("precious", to: "precious")
    symlink(target, sample.readerFolder + "/.whorl-new-1")
    mkfifo(sample.readerFolder + "/.whorl-new-2", 0o600)
    try sample.store.save(Sample.print(2), for: Sample.key)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
  }

  @Test func `A process killed while it saves leaves the old print or the new one, whole`() async throws {
    let sample = try Sample()
    let root = sample.store.root
    for round in 1...5 {
      try sample.store.save(Sample.print(0), for: Sample.key)
      await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, round = round as Int] in
        // Killed by its own second thread after a while that differs from round to round.
        let limit = round * 7
        let counter = Counter()
        Thread.detachNewThread {
          while counter.value < limit {}
          kill(getpid(), SIGKILL)
        }
        let store = PrintStore(root: root)
        for number in 1...100_000 {
          try store.save(Sample.print(number), for: Sample.key)
          counter.increment()
        }
      }
      let found = try #require(try sample.store.load(Sample.key))
      #expect((0...255).contains { found == Sample.print($0) })
    }
    try sample.store.save(Sample.print(3), for: Sample.key)
    #expect(
      Set(try sample.tree().keys) == ["anna", "anna/virtual_image", "anna/virtual_image/0", "anna/virtual_image/0/7"])
  }
}
