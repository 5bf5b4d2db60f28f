import ReaderLink
import Testing

@testable import ReaderKeeper

/// Which reader is which.
@Suite struct ReaderRegistryTests {
  private func reader(_ token: UInt32, _ hint: String, driver: String = "a", id: String = "0") -> ReaderDescription {
    ReaderDescription(
      token: token, driver: driver, deviceID: id, name: "", scanType: .press, features: [], enrollStages: 1, hint: hint)
  }

  @Test func `ordinals stay with the place, whatever order the readers are listed in`() {
    var registry = ReaderRegistry()
    #expect(registry.take([reader(1, "p1"), reader(2, "p2")]).map(\.id.ordinal) == [0, 1])
    #expect(registry.take([reader(2, "p2")]).map(\.id.ordinal) == [1])
    registry.beginSession()
    #expect(registry.take([reader(1, "p2"), reader(2, "p1")]).map(\.id.ordinal) == [1, 0])
  }

  @Test func `one of two alike at a new place is neither of them`() {
    var registry = ReaderRegistry()
    _ = registry.take([reader(1, "p1"), reader(2, "p2")])
    #expect(registry.take([reader(2, "p2"), reader(3, "p3")]).map(\.id.ordinal) == [1, 2])
    #expect(registry.take([reader(4, "p1")]).map(\.id.ordinal) == [0])
  }

  @Test func `the only one of its kind stays itself at a new place, beside another kind too`() {
    var registry = ReaderRegistry()
    _ = registry.take([reader(1, "p1"), reader(2, "p2", driver: "b"), reader(3, "p3", id: "serial")])
    let moved = registry.take([reader(4, "p4"), reader(2, "p2", driver: "b"), reader(5, "p5", id: "serial")])
    #expect(moved.map(\.id.ordinal) == [0, 0, 0])
    // Two at once that are new: neither is taken for the old one.
    registry.beginSession()
    #expect(registry.take([reader(1, "q1"), reader(2, "q2")]).map(\.id.ordinal) == [1, 2])
  }

  @Test func `readers without a place go by their order`() {
    var registry = ReaderRegistry()
    #expect(registry.take([reader(1, ""), reader(2, "")]).map(\.id.ordinal) == [0, 1])
    #expect(registry.take([reader(2, "")]).map(\.id.ordinal) == [1])
    registry.beginSession()
    #expect(registry.take([reader(7, ""), reader(8, "")]).map(\.id.ordinal) == [0, 1])
  }

  @Test func `a reader that was away is another incarnation, one in a new bridge is not`() throws {
    var registry = ReaderRegistry()
    let first = registry.take([reader(1, "p1")])
    registry.beginSession()
    let second = registry.take([reader(5, "p1")])
    #expect(ReaderChange(from: first, to: second) == nil)
    // It came back so soon that it was never missing.
    let third = registry.take([reader(6, "p1")])
    let change = try #require(ReaderChange(from: second, to: third))
    #expect(change.went == [first[0].id])
    #expect(change.came.count == 1)
    _ = registry.take([])
    #expect(ReaderChange(from: third, to: registry.take([reader(6, "p1")])) != nil)
  }

  @Test func `a flood of places is forgotten, those that are there are not`() {
    var registry = ReaderRegistry()
    let steady = registry.take([reader(1, "steady")])[0].id
    for number in 0..<1000 {
      let list = registry.take([reader(1, "steady"), reader(UInt32(number + 2), "p\(number)")])
      #expect(list[0].id == steady)
      #expect(list[1].id.ordinal < 70)
    }
  }
}

/// When a bridge is started again.
@Suite struct StartPolicyTests {
  @Test func `pauses grow with the failures in a row and end with the first service`() {
    var policy = StartPolicy(limits: .standard)
    let now = ContinuousClock.now
    #expect(policy.advice(at: now) == .start)
    policy.noteFailure("a", at: now)
    #expect(policy.advice(at: now) == .start)
    policy.noteFailure("b", at: now)
    #expect(!policy.keepsFailing)
    guard case .wait(let milliseconds) = policy.advice(at: now) else {
      Issue.record("no pause")
      return
    }
    #expect(90...110 ~= milliseconds)
    policy.noteFailure("c", at: now)
    policy.noteFailure("d", at: now)
    #expect(policy.keepsFailing)
    guard case .refuse(let left) = policy.advice(at: now) else {
      Issue.record("a long pause is waited for")
      return
    }
    #expect(1990...2010 ~= left)
    #expect(policy.advice(at: now + .seconds(3)) == .start)
    for _ in 0..<10 { policy.noteFailure("e", at: now + .seconds(3)) }
    #expect(policy.advice(at: now + .seconds(12)) != .start)
    #expect(policy.advice(at: now + .seconds(14)) == .start)
    policy.noteService()
    #expect(policy.advice(at: now + .seconds(4)) == .start)
    #expect(!policy.keepsFailing)
  }

  @Test func `however well it serves in between, only so many may fail in a minute`() {
    var limits = ReaderKeeper.Limits.standard
    limits.failuresPerMinute = 5
    var policy = StartPolicy(limits: limits)
    let now = ContinuousClock.now
    for second in 0..<5 {
      policy.noteFailure("a", at: now + .seconds(second))
      policy.noteService()
    }
    guard case .refuse = policy.advice(at: now + .seconds(10)) else {
      Issue.record("a sixth was started")
      return
    }
    #expect(policy.advice(at: now + .seconds(61)) == .start)
  }
}
