import Foundation
import Keychain
import TestKit
import Testing

@testable import Enclave

/// The keychain of a uid opens for the account that it was made for, and for no other.
@Suite(.timeLimit(.minutes(1))) struct AccountTests {
  /// The error's name on the bus and its line.
  private func refusal(_ bench: Bench) async -> (String, String)? {
    let error = await enclaveError { _ = try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery()) }
    return error.map { ($0.busName, $0.message) }
  }

  @Test func `Another account with the same uid meets nothing of the former one's`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s", as: "mail", nil)
    await bench.enclave.learn(Bench.alice, .named("carol"))
    let refusal = try #require(await refusal(bench))
    #expect(refusal.0 == "org.whorl.Error.StoreUnavailable")
    #expect(refusal.1.contains("\"alice\"") && refusal.1.contains("whorl forget \"alice\""))
    #expect(refusal.1.contains("whorl rename-user \"alice\" \"carol\""))
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } != nil)
    #expect(await enclaveError { try await bench.store("t", as: "other", nil) } != nil)
    #expect(await enclaveError { try await bench.enclave.requireBiometry(of: Bench.alice) } != nil)
    #expect(await enclaveError { _ = try await bench.enclave.authenticate(user: Bench.alice) } != nil)
    #expect(await !bench.enclave.isRegistered(Finger.index.print, user: Bench.alice))
    #expect(await bench.enclave.status(user: Bench.alice).storeError?.contains("alice") == true)
    #expect(await bench.enclave.status(user: Bench.alice).registered.isEmpty)
    await bench.enclave.learn(Bench.alice, .named("alice"))
    #expect(try await bench.get("mail", in: context) == "s")
  }

  @Test func `The owner is recorded for good, after a restart too`() async throws {
    let bench = try Bench()
    try await bench.store("s", as: "mail", nil)
    let later = try bench.restarted()
    await later.enclave.learn(Bench.alice, .named("carol"))
    #expect(await refusal(later) != nil)
    #expect(try await later.enclave.owner(of: Bench.alice) == "alice")
    #expect(try await later.enclave.owner(of: Bench.bob) == nil)
    #expect(try await later.enclave.usersWithKeychain() == [Bench.alice])
  }

  @Test func `A keychain of an early version becomes that of the first account that uses it`() async throws {
    let bench = try Bench()
    _ = try bench.keychainOnDisk()
    await bench.enclave.learn(Bench.alice, .named("carol"))
    #expect(await refusal(bench) == nil)
    await bench.enclave.learn(Bench.alice, .named("alice"))
    #expect(await refusal(bench) != nil)
  }

  @Test(arguments: [AccountName.nameless, .unknown("the directory is down"), .named("Alice"), .named("alicE\u{301}")])
  func `No name, an unknown one and another spelling do not open it`(_ name: AccountName) async throws {
    let bench = try Bench()
    try await bench.store("s", as: "mail", nil)
    await bench.enclave.learn(Bench.alice, name)
    #expect(await refusal(bench)?.0 == "org.whorl.Error.StoreUnavailable")
  }

  @Test func `A uid whose account was not looked up is refused`() async throws {
    let bench = try Bench()
    let error = await enclaveError {
      _ = try await bench.enclave.copyMatching(user: UserID(1002), query: ItemQuery())
    }
    #expect(error?.busName == "org.whorl.Error.StoreUnavailable")
    #expect(!FileManager.default.fileExists(atPath: bench.folder("users/1002")))
  }

  @Test func `What a uid without an account stored is not for the account that gets it`() async throws {
    let bench = try Bench()
    await bench.enclave.learn(Bench.alice, .nameless)
    try await bench.store("s", as: "mail", nil)
    await bench.enclave.learn(Bench.alice, .named("alice"))
    #expect(await refusal(bench)?.1.contains("whorl forget --uid 1000") == true)
  }

  // MARK: Forgetting

  @Test func `Forgetting removes items, fingers and the lockout, and ends contexts and requests`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.enrol(of: Bench.bob)
    try await bench.store("s", as: "mail", .biometryAny)
    try await bench.store("t", as: "other", nil)
    try await bench.store("u", as: "mail", nil, of: Bench.bob)
    try await bench.miss(2)
    let context = try await bench.context(reuse: 300)
    let bobs = try await bench.context(of: .bob)
    let before = bench.sensor.armings.events.count
    let waiting = bench.getting("mail", in: context)
    try await bench.sensor.armed(before + 1)

    let forgotten = try await bench.enclave.forget(Bench.alice)
    #expect(forgotten == ForgottenKeychain(existed: true, items: 2))
    #expect(await waiting.error?.busName == "org.whorl.Error.Failed")
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .invalidContext)
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder("users")) == ["1001"])
    #expect(await refusal(bench) != nil, "until the next call says who that is")
    await bench.enclave.learn(Bench.alice, .named("alice"))
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery()).isEmpty)
    #expect(await bench.enclave.status(user: Bench.alice).misses == 0)
    #expect(await bench.enclave.status(user: Bench.alice).registered.isEmpty)
    #expect(try await bench.get("mail", in: bobs, owner: .bob) == "u")
    await bench.expectIdle()
  }

  @Test func `Forgetting works for a keychain that cannot be read, and says that there was none`() async throws {
    let bench = try Bench()
    #expect(try await bench.enclave.forget(Bench.alice) == ForgottenKeychain(existed: false, items: 0))
    await bench.enclave.learn(Bench.alice, .named("alice"))
    try await bench.store("s", as: "mail", nil)
    let other = try bench.restarted()
    try Data("garbage".utf8).write(to: URL(fileURLWithPath: bench.folder("users/1000/keychain.db")))
    #expect(try await other.enclave.forget(Bench.alice) == ForgottenKeychain(existed: true, items: nil))
    #expect(!FileManager.default.fileExists(atPath: bench.folder("users/1000")))
  }

  // MARK: Renaming

  @Test func `After a renaming the keychain is the new name's alone`() async throws {
    let bench = try Bench()
    try await bench.store("s", as: "mail", nil)
    #expect(try await bench.enclave.renameOwner(of: Bench.alice, from: "alice", to: "carol"))
    #expect(await refusal(bench) != nil)
    await bench.enclave.learn(Bench.alice, .named("carol"))
    #expect(await refusal(bench) == nil)
    #expect(
      try await !bench.enclave.renameOwner(of: Bench.alice, from: "alice", to: "carol"), "once more hands nothing over")
    #expect(try await !bench.enclave.renameOwner(of: Bench.bob, from: "bob", to: "x"), "there is none")
    let error = await enclaveError { _ = try await bench.enclave.renameOwner(of: Bench.alice, from: "dave", to: "eve") }
    #expect(error?.busName == "org.whorl.Error.Denied")
    #expect(try await bench.enclave.owner(of: Bench.alice) == "carol")
  }
}
