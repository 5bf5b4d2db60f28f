import Bus
import GLibLoop
import Keychain
import Testing

@testable import WhorlDaemon

/// How often an account may have a finger compared with everybody's.
@Suite(.timeLimit(.minutes(1))) struct EnrolmentLimitsTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func begins(_ limits: EnrolmentLimits, _ user: UInt32) -> Bool {
    (try? limits.begin(UserID(user))) != nil
  }

  @Test @GLibActor func `After all fingers and some more an account waits, and others and root do not`() {
    let time = FakeTime()
    let limits = EnrolmentLimits(clock: time.clock)
    for _ in 1...15 { #expect(begins(limits, 1001)) }
    #expect(!begins(limits, 1001))
    #expect(begins(limits, 1002))
    for _ in 1...100 { #expect(begins(limits, 0)) }
    time.now += 299_999
    #expect(!begins(limits, 1001))
    time.now += 1
    #expect(begins(limits, 1001))
    #expect(!begins(limits, 1001))
  }

  @Test @GLibActor func `The refusal says when to try again`() {
    let time = FakeTime()
    let limits = EnrolmentLimits(clock: time.clock)
    for _ in 1...15 { #expect(begins(limits, 1001)) }
    let error = #expect(throws: BusMethodError.self) { try limits.begin(UserID(1001)) }
    #expect(error?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
    #expect(error?.message.contains("in 5 min") == true)
  }

  @Test @GLibActor func `Of accounts that have not enrolled for long nothing is kept`() {
    let time = FakeTime()
    let limits = EnrolmentLimits(clock: time.clock)
    for user in 1...1000 as ClosedRange<UInt32> { #expect(begins(limits, user)) }
    time.now += 300_000
    #expect(begins(limits, 2000))
    #expect(limits.accountCount == 1)
  }
}
