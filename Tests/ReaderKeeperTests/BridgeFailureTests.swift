import Foundation
import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// A real bridge that is killed, stopped or left alone.
@Suite(.timeLimit(.minutes(5))) struct BridgeFailureTests {
  init() { GLibLoop.startThread() }

  @Test(arguments: [SIGKILL, SIGSTOP, SIGSEGV])
  @GLibActor func `a signal in the middle of an enrolment costs one error and nothing after it`(_ signal: Int32)
    async throws
  {
    let setup = try await VirtualSetup(limits: brief)
    async let failed = failure { try await setup.keeper.enroll(setup.reader, finger: nil, user: "") { _ in } }
    try await setup.touch(.whorl)
    await setup.fingerNeeded()
    let first = try #require(setup.keeper.processID)
    kill(first, signal)
    try expectBridgeFailed(await failed)
    try await setup.keeper.open(setup.reader)
    #expect(setup.keeper.processID != first)
    let print = try await setup.enroll(.whorl)
    #expect(try await setup.verify(print, with: .whorl))
    await setup.keeper.stop()
  }

  @Test(arguments: [SIGKILL, SIGSTOP])
  @GLibActor func `a signal in the middle of a verification costs one error and nothing after it`(_ signal: Int32)
    async throws
  {
    let setup = try await VirtualSetup(limits: brief)
    let print = try await setup.enroll(.whorl)
    async let failed = failure { try await setup.keeper.verify(setup.reader, print: print) }
    await setup.fingerNeeded()
    kill(try #require(setup.keeper.processID), signal)
    try expectBridgeFailed(await failed)
    try await setup.keeper.open(setup.reader)
    #expect(try await setup.verify(print, with: .whorl))
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a killed bridge is reaped and leaves no process behind`() async throws {
    let setup = try await VirtualSetup(limits: brief)
    async let failed = failure { try await setup.keeper.capture(setup.reader) }
    await setup.fingerNeeded()
    let pid = try #require(setup.keeper.processID)
    kill(pid, SIGKILL)
    _ = await failed
    #expect(kill(pid, 0) == -1)
    #expect(setup.keeper.processID == nil)
  }

  @Test @GLibActor func `stopping fails what runs, ends the process and lets the next request start another`()
    async throws
  {
    let setup = try await VirtualSetup()
    async let failed = failure { try await setup.keeper.capture(setup.reader) }
    await setup.fingerNeeded()
    let pid = try #require(setup.keeper.processID)
    await setup.keeper.stop()
    #expect(kill(pid, 0) == -1)
    try expectBridgeFailed(await failed)
    try await setup.keeper.open(setup.reader)
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a stopped bridge is killed when it is told to end`() async throws {
    let setup = try await VirtualSetup(limits: brief)
    let pid = try #require(setup.keeper.processID)
    kill(pid, SIGSTOP)
    await setup.keeper.stop()
    #expect(kill(pid, 0) == -1)
  }

  @Test @GLibActor func `a new bridge starts only when the old one is gone`() async throws {
    let setup = try await VirtualSetup(limits: brief)
    let pid = try #require(setup.keeper.processID)
    // It ends by force after a while, and not at once.
    kill(pid, SIGSTOP)
    async let stopped: Void = setup.keeper.stop()
    while setup.keeper.processID != nil { await Task.yield() }
    try await setup.keeper.open(setup.reader)
    #expect(kill(pid, 0) == -1)
    await stopped
    await setup.keeper.stop()
  }

  @Test @GLibActor func `an idle bridge ends, one with an open reader stays`() async throws {
    var limits = brief
    limits.idle = 1
    let setup = try await VirtualSetup(limits: limits)
    let pid = try #require(setup.keeper.processID)
    // Longer than the idle time, with the reader open.
    try await glibSleep(milliseconds: 30)
    #expect(setup.keeper.processID == pid)
    try await setup.keeper.close(setup.reader)
    while setup.keeper.processID != nil { await Task.yield() }
    try await setup.keeper.open(setup.reader)
    #expect(setup.keeper.processID != pid)
    await setup.keeper.stop()
  }

  @Test @GLibActor func `a program that is not there is named`() async throws {
    let keeper = ReaderKeeper(program: "/nowhere/whorl-reader", environment: [:])
    guard case .bridgeFailed(let text) = await failure({ try await keeper.readers() }) else {
      Issue.record("no error")
      return
    }
    #expect(text.contains("/nowhere/whorl-reader"))
  }

  @Test func `whorl-reader by hand says that it is not for that`() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try BuiltPrograms.path("whorl-reader"))
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 64)
    #expect(text.contains("started by whorld"))
  }

  @Test @GLibActor func `the bridge cannot be dumped, gains no rights and holds no descriptor of its parent`()
    async throws
  {
    let setup = try await VirtualSetup()
    let pid = try #require(setup.keeper.processID)
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    #expect(status.contains("NoNewPrivs:\t1"))
    let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
    let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
    #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
    await setup.keeper.stop()
  }
}

/// Limits that notice a dead bridge soon. A stopped one is noticed after at most both of the first two.
private var brief: ReaderKeeper.Limits {
  var limits = ReaderKeeper.Limits.standard
  limits.pong = 3000
  limits.pingInterval = 100
  limits.cancel = 3000
  return limits
}

private func expectBridgeFailed(_ error: ReaderError?) throws {
  guard case .bridgeFailed = try #require(error) else {
    Issue.record("\(String(describing: error)) is not a failure of the bridge")
    return
  }
}
