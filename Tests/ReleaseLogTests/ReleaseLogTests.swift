import Foundation
import TestKit
import Testing

@testable import ReleaseLog

@Suite struct ReleaseLogTests {
  private let folder: TemporaryFolder
  private let log: ReleaseLog

  init() throws {
    folder = try TemporaryFolder()
    log = ReleaseLog(folder: folder("log"))
  }

  private func entry(
    _ time: Int64, user: UInt32 = 7, outcome: String = ReleaseEntry.released, program: String = "mail",
    constraints: [String] = ["user-presence"], item: [UInt8] = [0, 255, 16]
  ) -> ReleaseEntry {
    ReleaseEntry(
      time: time, user: user, deed: "read", outcome: outcome, item: item, constraints: constraints,
      executable: "/usr/bin/mail", program: program, pid: 12)
  }

  @Test func `Entries come back whole, the newest first, and each user's to himself`() async {
    for time in 1...3 { await log.note(entry(Int64(time))) }
    await log.note(entry(2, outcome: "UserCancel"))
    await log.note(entry(9, user: 8))
    #expect(await log.entries(of: 7, limit: 100).map(\.time) == [3, 2, 2, 1])
    #expect(await log.entries(of: 7, limit: 1) == [entry(3)])
    #expect(await log.entries(of: 8, limit: 100) == [entry(9, user: 8)])
    #expect(await log.entries(of: 9, limit: 100).isEmpty)
    #expect(await log.entries(of: 7, limit: -1).isEmpty)
  }

  @Test func `Its files are for their owner alone, one line of JSON for each entry`() async throws {
    await log.note(entry(1, program: "a\"b\\c\n\u{1}\u{7f}\u{E9}"))
    for (path, mode) in [(folder("log"), 0o700), (folder("log/7.released"), 0o600)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
    let text = try String(contentsOfFile: folder("log/7.released"), encoding: .utf8)
    #expect(text.filter { $0 == "\n" }.count == 1)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(object["program"] as? String == "a\"b\\c\n\u{1}\u{7f}\u{E9}")
    #expect(object["item"] as? String == "00ff10")
    #expect(await log.entries(of: 7, limit: 9).first?.program == "a\"b\\c\n\u{1}\u{7f}\u{E9}")
  }

  @Test func `It is bounded, and refusals push no release out`() async throws {
    await log.note(entry(1))
    for time in 2...5000 { await log.note(entry(Int64(time), outcome: "UserCancel")) }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder("log")) {
      let size = try FileManager.default.attributesOfItem(atPath: folder("log/" + name))[.size] as? Int ?? 0
      #expect(size <= ReleaseLog.fileBytes)
    }
    let entries = await log.entries(of: 7, limit: 100_000)
    #expect(entries.last == entry(1))
    #expect(entries.first?.time == 5000)
    #expect(entries.count > 500)
  }

  @Test func `Refusals without end are noted for a while, and then one a second`() async {
    for _ in 1...1000 { await log.note(entry(1, outcome: "UserCancel")) }
    #expect(await log.entries(of: 7, limit: 9999).count == Int(ReleaseLog.refusalBurst))
    await log.note(entry(4, outcome: "UserCancel"))
    #expect(await log.entries(of: 7, limit: 1).first?.time == 4)
    await log.note(entry(1))
    #expect(await log.entries(of: 7, limit: 9999).contains(entry(1)), "releases are always noted")
  }

  @Test func `What asks for nothing pushes out neither releases nor refusals of what asks for something`() async throws
  {
    await log.note(entry(1))
    await log.note(entry(2, outcome: "UserCancel"))
    await log.note(entry(3, constraints: [], item: []))
    for time in 4...5000 {
      await log.note(entry(Int64(time), constraints: []))
      await log.note(entry(Int64(time), outcome: "Locked", constraints: []))
    }
    let entries = await log.entries(of: 7, limit: 100_000)
    #expect(entries.suffix(3).map(\.time) == [3, 2, 1])
    #expect(entries.first?.time == 5000)
    #expect(entries.count > 500)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder("log")) {
      let size = try FileManager.default.attributesOfItem(atPath: folder("log/" + name))[.size] as? Int ?? 0
      #expect(size <= ReleaseLog.fileBytes)
    }
  }

  @Test func `Refusals of what asks for nothing use up no room of the others`() async {
    for _ in 1...1000 { await log.note(entry(1, outcome: "Locked", constraints: [])) }
    await log.note(entry(1, outcome: "UserCancel"))
    #expect(await log.entries(of: 7, limit: 9999).contains(entry(1, outcome: "UserCancel")))
  }

  @Test func `Forgetting leaves nothing of the user, and the others' as they are`() async throws {
    await log.note(entry(1))
    await log.note(entry(1, outcome: "Denied"))
    await log.note(entry(1, constraints: []))
    await log.note(entry(1, user: 8))
    #expect(await log.forget(7))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("log")) == ["8.released"])
    #expect(await log.forget(7), "nothing there is nothing left")
  }

  @Test func `Lines that are damaged or of others are passed over`() async throws {
    await log.note(entry(1))
    let file = folder("log/7.released")
    let whole = try String(contentsOfFile: file, encoding: .utf8)
    let other = whole.replacing("\"user\":7", with: "\"user\":8")
    try (whole + "{\"time\":1\n\n{}\nnonsense\n" + other + String(whole.dropLast(9)) + "\n" + whole)
      .write(toFile: file, atomically: false, encoding: .utf8)
    #expect(await log.entries(of: 7, limit: 100) == [entry(1), entry(1)])
  }

  @Test(arguments: [
    "", "{", "{}", "[]", "{\"time\":}", "{\"time\":1,}", "{\"a\":\"\\", "{\"a\":\"\\u00", "{\"a\":[\"", "\u{0}",
  ])
  func `Anything gives an entry or none`(line: String) { #expect(EntryLine.entry(line.utf8) == nil) }

  @Test func `A place that cannot be written costs the entry alone`() async {
    let log = ReleaseLog(folder: "/nonexistent/folder/log")
    await log.note(entry(1))
    #expect(await log.entries(of: 7, limit: 9).isEmpty)
  }
}
