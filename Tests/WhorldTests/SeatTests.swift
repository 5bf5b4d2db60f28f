import GLibLoop
import ReaderLink
import Testing

@testable import WhorlDaemon

/// Who sits at the seat goes before a session that the seat does not show.
@Suite(.timeLimit(.minutes(1))) struct SeatTests {
  init() { GLibLoop.startThread() }

  /// Somebody whose standing a test changes.
  @GLibActor
  final class Person {
    let name: String
    var standing: Standing

    init(_ name: String, _ standing: Standing) {
      self.name = name
      self.standing = standing
    }

    var seeker: Seeker { Seeker(name: name, standing: { self.standing }) }
  }

  @GLibActor @Test func `A locker in the background gives way and is armed again when its session is back`()
    async throws
  {
    let bench = Bench()
    let (alice, bob) = (Person("alice", .active), Person("bob", .active))
    let locker = bench.match(alice.seeker)
    await settle()
    #expect(bench.readers.isArmed)

    // Bob switches to his session and asks: alice's locker lets go and stays pending.
    alice.standing = .background
    let verification = bench.match(bob.seeker)
    await settle { bench.station.turns.holder == "bob" && bench.readers.isArmed }
    bench.readers.end(.success(1))
    #expect(try await verification.value == 1)
    await settle()
    #expect(!bench.readers.isArmed, "a finger on the reader now is not for alice's session")

    alice.standing = .active
    bench.station.changes.beat()
    await settle { bench.station.turns.holder == "alice" && bench.readers.isArmed }
    bench.readers.end(.success(0))
    #expect(try await locker.value == 0)
  }

  @GLibActor @Test func `Who waits already has his turn when the other's session goes into the background`()
    async throws
  {
    let bench = Bench()
    let (alice, bob) = (Person("alice", .active), Person("bob", .active))
    let locker = bench.match(alice.seeker)
    await settle()
    let verification = bench.match(bob.seeker)
    await settle()
    #expect(bench.station.turns.holder == "alice", "in order of arrival")
    alice.standing = .background
    bench.station.turns.reconsider()
    await settle { bench.station.turns.holder == "bob" }
    for match in [locker, verification] {
      match.cancel()
      _ = await match.result
    }
    #expect(bench.station.turns.holder == nil && bench.station.turns.waitingCount == 0)
  }

  @GLibActor @Test func `What cannot wait is ended for the seat, and told why`() async throws {
    let bench = Bench()
    let (alice, bob) = (Person("alice", .background), Person("bob", .active))
    let request = bench.match(alice.seeker, pends: false)
    await settle()
    #expect(bench.readers.isArmed)
    let verification = bench.match(bob.seeker)
    guard case .taken(let by) = await bench.failure(of: request) else {
      Issue.record("not ended")
      return
    }
    #expect(by.contains("seat"))
    await settle()
    #expect(bench.station.turns.holder == "bob")

    // An enrolment likewise.
    verification.cancel()
    _ = await verification.result
    let enrolment = Task { @GLibActor in
      try await bench.station.inTurn(alice.seeker, waiting: 5) { () async -> Bool in
        while !Task.isCancelled { await Task.yield() }
        return false
      }
    }
    await settle()
    #expect(bench.station.turns.holder == "alice")
    let next = bench.match(bob.seeker)
    let end = try await enrolment.value
    #expect(end.gaveWay && !end.result)
    await settle()
    #expect(bench.station.turns.holder == "bob")
    next.cancel()
    _ = await next.result
  }

  @GLibActor @Test(arguments: [Standing.active, .unknown], [Standing.background, .unknown])
  func `Nobody gives way to one who is not at the seat, nor anybody whose place is not known`(
    _ holder: Standing, _ other: Standing
  ) async throws {
    let queue = TurnQueue()
    var asked = false
    try await queue.take(Seeker(name: "first", standing: { holder }, giveWay: { asked = true }), waiting: nil)
    let waiting = Task { @GLibActor in try await queue.take(Seeker(name: "second", standing: { other }), waiting: nil) }
    await settle()
    #expect(queue.waitingCount == 1 && !asked)
    queue.give()
    try await waiting.value
  }

  @GLibActor @Test func `In line too the background comes last`() async throws {
    let queue = TurnQueue()
    try await queue.take(for: "holder", waiting: nil)
    var order: [String] = []
    let people = [Person("alice", .background), Person("service", .unknown), Person("bob", .active)]
    var tasks: [Task<Void, any Error>] = []
    for person in people {
      tasks.append(
        Task { @GLibActor in
          try await queue.take(person.seeker, waiting: nil)
          order.append(person.name)
          queue.give()
        })
      await settle()
    }
    queue.give()
    for task in tasks { try await task.value }
    #expect(order == ["service", "bob", "alice"])
  }

  @Test func `Where a user is follows from his sessions`() {
    func facts(active: Bool, seat: Bool, remote: Bool = false) -> SessionFacts {
      SessionFacts(user: 1, isActive: active, isRemote: remote, hasSeat: seat)
    }
    #expect(SessionFacts.standing(of: []) == .unknown)
    #expect(facts(active: true, seat: true).standing == .active)
    #expect(facts(active: false, seat: true).standing == .background)
    #expect(facts(active: true, seat: false, remote: true).standing == .remote)
    #expect(SessionFacts.standing(of: [facts(active: false, seat: true), facts(active: true, seat: true)]) == .active)
    #expect(SessionFacts.standing(of: [facts(active: false, seat: true)]) == .background)
    #expect(
      SessionFacts.standing(of: [facts(active: false, seat: true), facts(active: true, seat: false, remote: true)])
        == .remote, "it may be the remote one that asks")
  }

  @Test func `A user is elsewhere where every session of his that counts comes over the network, and there is one`() {
    let here = SessionFacts(user: 1, isActive: true, hasSeat: true)
    let console = SessionFacts(user: 1, isActive: true)
    let remote = SessionFacts(user: 1, isActive: true, isRemote: true)
    var manager = SessionFacts(user: 1)
    manager.isPersonal = false
    var leaving = here
    leaving.isClosing = true
    #expect(!SessionFacts.isElsewhere([]), "nobody is logged in: a service that lingers, a greeter's")
    #expect(SessionFacts.isElsewhere([remote]) && SessionFacts.isElsewhere([remote, remote]))
    #expect(!SessionFacts.isElsewhere([remote, here]) && !SessionFacts.isElsewhere([remote, console]))
    #expect(SessionFacts.isElsewhere([remote, manager]) && SessionFacts.isElsewhere([remote, leaving]))
    #expect(!SessionFacts.isElsewhere([manager]) && !SessionFacts.isElsewhere([leaving]))
  }
}
