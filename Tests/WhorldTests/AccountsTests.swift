import Keychain
import Testing

@testable import WhorlDaemon

@Suite struct AccountsTests {
  @Test func `Accounts are found by name and by uid`() {
    #expect(Accounts.named("root")?.user == UserID(0))
    #expect(Accounts.with(UserID(0))?.name == "root")
  }

  @Test(arguments: ["", "no-such-user-anywhere", "root\u{0}x", "../root", String(repeating: "a", count: 5000)])
  func `A name that is none has no account`(_ name: String) {
    #expect(Accounts.named(name) == nil)
  }
}
