import Foundation
import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// Readers that come and go on an emulated bus, through the real whorl-reader.
@Suite(.timeLimit(.minutes(5)), .enabled(if: PlugBoard.isAvailable, "umockdev is not installed"))
struct HotplugTests {
  init() { GLibLoop.startThread() }

  @Test @GLibActor
  func `with one of two alike readers gone the other is not taken for it, and each comes back as itself`()
    async throws
  {
    let board = try await PlugBoard()
    try await board.plug(.aes2501, port: 3, address: 5)
    try await board.plug(.aes2501, port: 4, address: 6)
    let keeper = try keeper(board)
    let both = try await keeper.readers()
    #expect(Set(both.map(\.hint)) == ["usb:01:00:03", "usb:01:00:04"])
    let first = try #require(both.first { $0.hint == "usb:01:00:03" }.map { ReaderID.ids(of: [$0])[0] })
    let second = try #require(both.first { $0.hint == "usb:01:00:04" }.map { ReaderID.ids(of: [$0])[0] })
    #expect(first != second)
    var changes = keeper.events().makeAsyncIterator()

    try await board.unplug(port: 3)
    #expect(await next(&changes)?.went == [first])
    #expect(await failure { try await keeper.open(first) } == .noSuchReader)
    try await keeper.open(second)

    // A third one, which is neither.
    try await board.plug(.aes2501, port: 7, address: 9)
    let third = try #require(await next(&changes)?.came.first.map { ReaderID.ids(of: [$0])[0] })
    #expect(third != first && third != second)

    // The first again, under another address.
    try await board.plug(.aes2501, port: 3, address: 12)
    #expect(await next(&changes)?.came.map { ReaderID.ids(of: [$0])[0] } == [first])
    try await keeper.open(first)

    // A new bridge finds the same ones.
    await keeper.stop()
    #expect(Set(ReaderID.ids(of: try await keeper.readers())) == [first, second, third])
    #expect(try await keeper.readers().first { $0.hint == "usb:01:00:04" }.map { ReaderID.ids(of: [$0])[0] } == second)
    await keeper.stop()
  }

  @Test @GLibActor func `the only reader of its kind stays the same in another socket and in another bridge`()
    async throws
  {
    let board = try await PlugBoard()
    try await board.plug(.aes2501, port: 2, address: 5)
    let keeper = try keeper(board)
    let reader = ReaderID.ids(of: try await keeper.readers())
    #expect(reader.count == 1)
    var changes = keeper.events().makeAsyncIterator()
    try await board.unplug(port: 2)
    _ = await next(&changes)
    try await board.plug(.aes2501, port: 5, address: 8)
    #expect(await next(&changes)?.came.map { ReaderID.ids(of: [$0])[0] } == reader)
    await keeper.stop()
    try await board.unplug(port: 5)
    try await board.plug(.aes2501, port: 6, address: 9)
    #expect(ReaderID.ids(of: try await keeper.readers()) == reader)
    await keeper.stop()
  }

  @Test @GLibActor func `every consumer of events gets each change, a slow one all of them at once`() async throws {
    let board = try await PlugBoard()
    let keeper = try keeper(board)
    #expect(try await keeper.readers() == [])
    var quick = keeper.events().makeAsyncIterator()
    var slow = keeper.events().makeAsyncIterator()
    try await board.plug(.aes2501, port: 1, address: 2)
    #expect(await next(&quick)?.came.map(\.hint) == ["usb:01:00:01"])
    try await board.plug(.aes2501, port: 2, address: 3)
    #expect(await next(&quick)?.came.map(\.hint) == ["usb:01:00:02"])
    try await board.unplug(port: 1)
    #expect(await next(&quick)?.went.count == 1)
    // It came and went between two looks.
    let change = await next(&slow)
    #expect(change?.came.map(\.hint) == ["usb:01:00:02"])
    #expect(change?.went == [])
    #expect(change?.readers.map(\.hint) == ["usb:01:00:02"])
    await keeper.stop()
  }

  @Test @GLibActor func `a reader that comes and goes without end holds up nobody and costs no memory`() async throws {
    let board = try await PlugBoard()
    try await board.plug(.aes2501, port: 1, address: 2)
    try await board.plug(.aes2501, port: 2, address: 3)
    let keeper = try keeper(board)
    let steady = try #require(
      try await keeper.readers().first { $0.hint == "usb:01:00:01" }.map { ReaderID.ids(of: [$0])[0] })
    // Nobody reads this one.
    let unread = keeper.events()
    var told = 0
    keeper.onReadersChanged = { _ in told += 1 }
    try await board.flood(.aes2501, port: 2, address: 10, times: 100)
    let pid = try #require(keeper.processID)
    let before = try residentKilobytes(pid)
    let rounds = 300
    async let flood: Void = board.flood(.aes2501, port: 2, address: 60, times: rounds)
    for _ in 0..<200 {
      // Goes to the bridge and back. Opening would be too much for the emulation.
      guard case .notOpen = await failure({ try await keeper.capture(steady) }) else {
        Issue.record("the other reader does not answer")
        return
      }
    }
    try await flood
    // The list as it is in the end.
    while try await keeper.readers().count != 2 { await Task.yield() }
    #expect(keeper.processID == pid)
    #expect(told < rounds, "the changes are told together")
    #expect(try residentKilobytes(pid) < before + 8 * 1024)
    withExtendedLifetime(unread) {}
    await keeper.stop()
  }

  @Test @GLibActor func `a reader that Whorl may not open is blocked, not absent, whenever libfprint first opens it`()
    async throws
  {
    let board = try await PlugBoard()
    try await board.plug(.synaptics, port: 1, address: 2)
    try await board.deny(address: 2)
    var limits = ReaderKeeper.Limits.patient
    limits.ignoredDevice = 0
    let keeper = ReaderKeeper(
      program: try board.modestBridge(), arguments: ["--private"], environment: board.environment, limits: limits)
    var reasons: [ReaderError] = []
    keeper.onDeviceIgnored = { reasons.append($0) }
    guard case .permissionDenied = await failure({ try await keeper.readers() }) else {
      Issue.record("a reader that needs opening to be listed is not blocked")
      return
    }
    #expect(reasons.count == 1)
    // Beside another one it is only told.
    try await board.plug(.aes2501, port: 2, address: 3)
    try await board.deny(address: 3)
    await keeper.stop()
    let readers = try await keeper.readers()
    #expect(readers.map(\.driver) == ["aes2501"])
    guard case .permissionDenied = await failure({ try await keeper.open(ReaderID.ids(of: readers)[0]) }) else {
      Issue.record("a reader that is listed first is not blocked")
      return
    }
    await keeper.stop()
  }

  @Test @GLibActor func `a reader that another program holds is not taken for an unplugged one`() async throws {
    let board = try await PlugBoard()
    try await board.plug(.aes2501, port: 1, address: 2)
    try await board.hold(address: 2)
    let keeper = try keeper(board)
    let reader = try #require(ReaderID.ids(of: try await keeper.readers()).first)
    let error = await failure { try await keeper.open(reader) }
    guard case .heldElsewhere = error else {
      Issue.record("\(String(describing: error)) does not say that somebody holds it")
      return
    }
    #expect(error?.line.contains("fprintd") == true)
    await keeper.stop()
  }

  @GLibActor
  private func keeper(_ board: PlugBoard) throws -> ReaderKeeper {
    ReaderKeeper(
      program: try BuiltPrograms.path("whorl-reader"), arguments: ["--private"], environment: board.environment,
      limits: .patient)
  }

  @GLibActor
  private func next(_ changes: inout AsyncStream<ReaderChange>.Iterator) async -> ReaderChange? {
    await changes.next(isolation: GLibActor.shared)
  }

  private func residentKilobytes(_ pid: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
  }
}

extension PlugBoard {
  /// A bridge that may open only what the modes of files let it, even as root.
  fileprivate func modestBridge() throws -> String {
    let whole = try BuiltPrograms.path("whorl-reader")
    guard geteuid() == 0 else { return whole }
    return try writeProgram(
      """
      #!/bin/sh
      exec /usr/bin/setpriv --bounding-set=-dac_override,-dac_read_search '\(whole)' "$@"

      """, to: "bridge")
  }
}
