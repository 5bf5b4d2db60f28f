import GLibLoop
import Keychain
import Testing

@testable import WhorlDaemon

@Suite(.timeLimit(.minutes(1))) struct TurnQueueTests {
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

  @GLibActor @Test func `A request has its turn again between two touches, though others wait`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "the enclave", waiting: nil, request: 1)
    let other = Task { @GLibActor in try await queue.take(for: "other", waiting: nil) }
    await settle { queue.waitingCount == 1 }
    queue.give(keeping: true)
    #expect(queue.holder == nil)
    await #expect(throws: TurnQueue.Refusal.busy(holder: "the enclave")) {
      try await queue.take(for: "another request", waiting: 0, request: 2)
    }
    try await queue.take(for: "the enclave", waiting: 0, request: 1)
    #expect(queue.holder == "the enclave" && queue.waitingCount == 1)
    queue.give(keeping: true)
    // Nobody comes back: after a moment the turn goes on to who waits.
    try await other.value
    #expect(queue.holder == "other")
  }

  @GLibActor @Test func `The next request need not wait for one that has ended`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "the first", waiting: nil, request: 1)
    queue.give(keeping: true)
    await #expect(throws: TurnQueue.Refusal.busy(holder: "the first")) {
      try await queue.take(for: "another program", waiting: 0)
    }
    try await queue.take(for: "the next", waiting: 0, request: 2)
    #expect(queue.holder == "the next")
  }

  @GLibActor @Test func `Requests that come and go again keep nobody in line from his turn`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "flood", waiting: nil, request: 1)
    let other = Task { @GLibActor in try await queue.take(for: "other", waiting: nil) }
    await settle { queue.waitingCount == 1 }
    queue.give(keeping: true)
    let flood = Task { @GLibActor in try await queue.take(for: "flood", waiting: nil, request: 2) }
    try await other.value
    #expect(queue.holder == "other")
    queue.give()
    try await flood.value
  }

  @GLibActor @Test func `A turn is not kept for a request against one who goes before it`() async throws {
    let queue = TurnQueue()
    let flood = Seeker(name: "flood", request: 1, user: UserID(1001), standing: { .remote })
    let seated = Seeker(name: "seated", user: UserID(1000), standing: { .active })
    // Who waits before it is given back, and who comes while it is kept.
    for comesLater in [false, true] {
      try await queue.take(flood, waiting: nil)
      if comesLater { queue.give(keeping: true) }
      let waiting = Task { @GLibActor in try await queue.take(seated, waiting: nil) }
      if !comesLater {
        await settle { queue.waitingCount == 1 }
        queue.give(keeping: true)
      }
      await settle { queue.holder == "seated" }
      try await waiting.value
      queue.give()
    }
  }

  /// Whether a holder like this is asked to give way when one like that waits.
  @GLibActor private func isDisplaced(
    _ holder: (user: UInt32?, standing: Standing), by waiter: (user: UInt32?, standing: Standing)
  ) async throws -> Bool {
    let queue = TurnQueue()
    var isAsked = false
    var seeker = Seeker(
      name: "holder", request: 1, user: holder.user.map(UserID.init), standing: { holder.standing })
    seeker.giveWay = { isAsked = true }
    try await queue.take(seeker, waiting: nil)
    let other = Seeker(name: "waiter", user: waiter.user.map(UserID.init), standing: { waiter.standing })
    let waiting = Task { @GLibActor in try await queue.take(other, waiting: nil) }
    await settle { queue.waitingCount == 1 }
    queue.give()
    try await waiting.value
    return isAsked
  }

  @GLibActor @Test func `Whoever is at the seat goes before another account's program that is at none`() async throws {
    let seated: (user: UInt32?, standing: Standing) = (1000, .active)
    #expect(try await isDisplaced((1001, .unknown), by: seated))
    #expect(try await isDisplaced((1001, .background), by: seated))
    #expect(try await isDisplaced((1000, .background), by: seated))
    #expect(try await !isDisplaced((1000, .unknown), by: seated), "his own service")
    #expect(try await !isDisplaced((0, .unknown), by: seated), "root's service")
    #expect(try await isDisplaced((0, .remote), by: seated), "root's program, started over ssh")
    #expect(try await !isDisplaced((1000, .remote), by: seated), "his own, over ssh")
    #expect(try await !isDisplaced((nil, .unknown), by: seated), "the daemon itself")
    #expect(try await !isDisplaced((1001, .active), by: seated), "another seat's")
    #expect(try await !isDisplaced((1001, .unknown), by: (1000, .unknown)))
    #expect(try await !isDisplaced((1001, .background), by: (1000, .unknown)))
  }

  @GLibActor @Test func `The turn goes past those who would have to give it up at once`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "first", waiting: nil)
    let flood = Seeker(name: "flood", request: 1, user: UserID(1001), standing: { .unknown })
    let flooding = Task { @GLibActor in try await queue.take(flood, waiting: nil) }
    await settle { queue.waitingCount == 1 }
    let seated = Seeker(name: "seated", user: UserID(1000), standing: { .active })
    let waiting = Task { @GLibActor in try await queue.take(seated, waiting: nil) }
    await settle { queue.waitingCount == 2 }
    queue.give()
    try await waiting.value
    #expect(queue.holder == "seated")
    queue.give()
    try await flooding.value
  }
}
