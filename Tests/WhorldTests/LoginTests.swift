import Keychain
import Testing

@testable import WhorlDaemon

/// What whorld remembers of logins.
@Suite struct LoginTests {
  private let sudo = LoginKey(user: UserID(1001), service: "sudo")
  private let su = LoginKey(user: UserID(1001), service: "su")
  private let other = LoginKey(user: UserID(1002), service: "sudo")

  @Test func `After the third failure within a minute no finger is asked for, for a time that grows`() {
    var delays = LoginDelays()
    for time: Int64 in [0, 1_000] { delays.failed(sudo, at: time) }
    #expect(delays.wait(sudo, at: 1_000) == 0)
    var now: Int64 = 2_000
    var waits: [Int64] = []
    for _ in 0..<6 {
      delays.failed(sudo, at: now)
      waits.append(delays.wait(sudo, at: now))
      now += waits.last ?? 0
      #expect(delays.wait(sudo, at: now) == 0)
    }
    #expect(waits == [5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
    #expect(delays.wait(su, at: now - 1) == 0, "another service")
    #expect(delays.wait(other, at: now - 1) == 0, "another user")
  }

  @Test func `A match, a minute without a failure, and failures far apart cost nothing`() {
    var delays = LoginDelays()
    for time: Int64 in [0, 1, 2] { delays.failed(sudo, at: time) }
    delays.succeeded(sudo)
    #expect(delays.wait(sudo, at: 3) == 0)
    delays.failed(sudo, at: 3)
    #expect(delays.wait(sudo, at: 3) == 0)
    var slow = LoginDelays()
    for time in 0..<10 { slow.failed(sudo, at: Int64(time) * 31_000) }
    #expect(slow.wait(sudo, at: 9 * 31_000) == 0)
    var again = LoginDelays()
    for time: Int64 in [0, 1, 2] { again.failed(sudo, at: time) }
    again.failed(sudo, at: 70_000)
    #expect(again.wait(sudo, at: 70_000) == 0)
  }

  @Test func `Nobody fills the memory with names`() {
    var delays = LoginDelays()
    var refusals = LoginRefusals()
    for number in 0..<10_000 {
      delays.failed(LoginKey(user: UserID(UInt32(number)), service: "s"), at: Int64(number) * 1_000)
      _ = refusals.note(LoginKey(user: UserID(UInt32(number)), service: "s"), "r", at: Int64(number))
      _ = refusals.note(LoginKey(user: UserID(9_999), service: "s\(number)"), "r", at: Int64(number))
    }
    #expect(delays.count <= 257)
    #expect(refusals.of(UserID(9_999)).count <= LoginRefusals.services)
    let name = LoginKey(user: UserID(1), service: "a\u{1b}[2J\n" + String(repeating: "x", count: 1_000)).service
    #expect(name.utf8.count == 64 && name.hasPrefix("a[2J"))
  }

  @Test func `A reason is news when it changes, or comes back after a finger was asked for`() {
    var refusals = LoginRefusals()
    let news = [(sudo, "a"), (sudo, "a"), (su, "a"), (sudo, "b")].map { refusals.note($0, $1, at: 0) }
    #expect(news == [true, false, true, true])
    #expect(refusals.of(sudo.user).map(\.service) == ["su", "sudo"])
    refusals.clear(sudo)
    #expect(refusals.of(sudo.user).map(\.service) == ["su"])
    let isNews = refusals.note(sudo, "b", at: 0)
    #expect(isNews)
    #expect(refusals.of(other.user).isEmpty)
  }

  @Test func `Who asks in vain for somebody else delays nobody's finger but his own`() {
    var delays = LoginDelays()
    func root(_ asker: UInt32?) -> LoginKey { LoginKey(user: UserID(0), service: "su", asker: asker) }
    for time: Int64 in 0..<10 { delays.failed(root(1002), at: time) }
    #expect(delays.wait(root(1002), at: 10) > 0)
    for asker: UInt32? in [1001, 0, nil] { #expect(delays.wait(root(asker), at: 10) == 0) }
  }

  @Test func `A program that asks without end does not fill the log`() {
    var refusals = LoginRefusals()
    let waiting = (1...60).count { refusals.note(sudo, "again in \($0) s", at: 0) }
    #expect(waiting == 1, "the seconds that are left are no news")
    let names = (0..<1_000).count { refusals.note(LoginKey(user: su.user, service: "s\($0)"), "a", at: 0) }
    #expect(names == Int(LoginRefusals.lines) - 1)
    let others = refusals.note(other, "a", at: 0)
    #expect(others, "nobody else's")
    let later = refusals.note(su, "b", at: LoginRefusals.interval)
    #expect(later)
  }
}
