import GLibLoop
import Testing

@testable import WhorlDaemon

@Suite struct TurnQueueTests {
  init() { GLibLoop.startThread() }

  @GLibActor @Test func `Turns come in order of arrival`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "first", waiting: nil)
    let (order, sink) = AsyncStream.makeStream(of: String.self)
    var waiting: [Task<Void, any Error>] = []
    for name in ["second", "third", "fourth"] {
      waiting.append(
        Task { @GLibActor in
          try await queue.take(for: name, waiting: nil)
          sink.yield(name)
          queue.give()
        })
      await settle { queue.waitingCount == waiting.count }
    }
    #expect(queue.holder == "first")
    queue.give()
    for task in waiting { try await task.value }
    sink.finish()
    var seen: [String] = []
    for await name in order { seen.append(name) }
    #expect(seen == ["second", "third", "fourth"])
    #expect(queue.holder == nil)
  }

  @GLibActor @Test func `Who does not wait is told who has the turn`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "the enrolment of ann", waiting: nil)
    await #expect(throws: TurnQueue.Refusal.busy(holder: "the enrolment of ann")) {
      try await queue.take(for: "another", waiting: 0)
    }
    await #expect(throws: TurnQueue.Refusal.busy(holder: "the enrolment of ann")) {
      try await queue.take(for: "another", waiting: 1)
    }
    queue.give()
    try await queue.take(for: "another", waiting: 0)
  }

  @GLibActor @Test func `A waiter that is cancelled neither gets the turn nor loses it for the others`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "first", waiting: nil)
    let cancelled = Task { @GLibActor in try await queue.take(for: "second", waiting: nil) }
    await settle { queue.waitingCount == 1 }
    let third = Task { @GLibActor in try await queue.take(for: "third", waiting: nil) }
    await settle { queue.waitingCount == 2 }
    cancelled.cancel()
    queue.give()
    await #expect(throws: TurnQueue.Refusal.cancelled) { try await cancelled.value }
    try await third.value
    #expect(queue.holder == "third")
  }

  @GLibActor @Test func `Who comes first goes before those in line, also right after a turn that is kept`() async throws
  {
    let queue = TurnQueue()
    try await queue.take(for: "the enclave", waiting: nil, first: true)
    let other = Task { @GLibActor in try await queue.take(for: "other", waiting: nil) }
    await settle { queue.waitingCount == 1 }
    queue.give(keeping: true)
    #expect(queue.holder == nil)
    try await queue.take(for: "the enclave", waiting: 0, first: true)
    #expect(queue.holder == "the enclave" && queue.waitingCount == 1)
    queue.give(keeping: true)
    // Nobody comes back: after a moment the turn goes on to who waits.
    try await other.value
    #expect(queue.holder == "other")
  }

  /// Lets other jobs of the loop run until something is so.
  @GLibActor private func settle(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }
}
