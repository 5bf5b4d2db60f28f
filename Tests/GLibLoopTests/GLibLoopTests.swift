import Foundation
import GLibLoop
import Synchronization
import Testing

/// Counts on the actor, to see who runs where.
@GLibActor
private final class Counter {
  var value = 0
  nonisolated init() {}
  func add() { value += 1 }
}

@Suite struct GLibLoopTests {
  init() { GLibLoop.startThread() }

  @Test func `jobs of the actor run on the one thread that owns the default context`() async {
    let first = await thread()
    GLibLoop.startThread()
    let second = await thread()
    #expect(first == second)
  }

  @Test func `a thousand tasks on the actor never overlap`() async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1000 { group.addTask { await counter.add() } }
    }
    #expect(await counter.value == 1000)
  }

  @Test func `the actor knows its own thread and no other`() async {
    await Task { @GLibActor in GLibActor.shared.assertIsolated() }.value
    let value = await Task { @GLibActor in plain() }.value
    #expect(value == 7)
  }

  @Test func `a sleep ends after its time`() async throws {
    try await glibSleep(milliseconds: 1)
    try await glibSleep(milliseconds: -5)
  }

  @Test func `a cancelled sleep throws at once`() async {
    let sleeper = Task { try await glibSleep(milliseconds: 3_600_000) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test func `a sleep in a task that is cancelled already throws`() async {
    let sleeper = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await glibSleep(milliseconds: 3_600_000)
    }
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test func `a watch tells of bytes, then of the end, and nothing after it is cancelled`() async throws {
    let pipe = Pipe()
    let reader = pipe.fileHandleForReading
    let (seen, sink) = AsyncStream<FDWatch.Conditions>.makeStream()
    let watch = await FDWatch(descriptor: reader.fileDescriptor, for: .readable) { ready in
      if ready.contains(.readable) {
        var byte: UInt8 = 0
        _ = read(reader.fileDescriptor, &byte, 1)
      }
      sink.yield(ready)
      if ready.contains(.hangup) { sink.finish() }
    }
    var events = seen.makeAsyncIterator()
    try pipe.fileHandleForWriting.write(contentsOf: Data([1]))
    #expect(await events.next() == .readable)
    try pipe.fileHandleForWriting.close()
    #expect(await events.next()?.contains(.hangup) == true)
    await watch.cancel()
    await watch.cancel()
  }

  @Test func `unix signals arrive as values`() async {
    let signals = await UnixSignals([SIGUSR2, 9])
    kill(getpid(), SIGUSR2)
    var arrivals = signals.arrivals.makeAsyncIterator()
    #expect(await arrivals.next() == SIGUSR2)
    await signals.cancel()
    #expect(await arrivals.next() == nil)
  }

  private func thread() async -> UInt { await Task { @GLibActor in UInt(pthread_self()) }.value }

  /// What a C callback looks like to the compiler.
  private nonisolated func plain() -> Int { GLibActor.assumeIsolated { 7 } }
}
