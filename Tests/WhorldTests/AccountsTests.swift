import Enclave
import GLibLoop
import Glibc
import Keychain
import Synchronization
import Testing

@testable import WhorlDaemon

@Suite struct AccountsTests {
  init() { GLibLoop.startThread() }

  @Test func `Accounts are found by name and by uid`() async throws {
    let accounts = AccountDirectory()
    #expect(try await accounts.named("root", for: UserID(0))?.user == UserID(0))
    #expect(try await accounts.with(UserID(0))?.name == "root")
  }

  @Test(arguments: [
    "", "no-such-user-anywhere", "root\u{0}x", "../root", "0", "root@", "@root", "\\root",
    String(repeating: "a", count: 255), String(repeating: "a", count: 5000),
  ])
  func `A name that is none has no account, and digits are no uid`(_ name: String) async throws {
    #expect(try await AccountDirectory().named(name, for: UserID(1)) == nil)
  }

  // MARK: What the name service answers

  /// A name service that answers with these codes in turn, and writes down the sizes of the buffers it got.
  private func lookUp(_ codes: [Int32], name: String? = "paul") throws -> (Account?, [Int]) {
    var left = codes
    var sizes: [Int] = []
    let account = try Accounts.lookUp { entry, buffer, size, result in
      sizes.append(size)
      let code = left.isEmpty ? 0 : left.removeFirst()
      guard code == 0, let name else { return code }
      _ = name.withCString { strcpy(buffer, $0) }
      entry.pointee.pw_name = buffer
      entry.pointee.pw_uid = 1000
      result.pointee = entry
      return 0
    }
    return (account, sizes)
  }

  @Test func `A large entry gets a larger buffer, up to a mebibyte`() throws {
    let (account, sizes) = try lookUp([ERANGE, ERANGE, ERANGE, ERANGE])
    #expect(account == Account(user: UserID(1000), name: "paul"))
    #expect(sizes == [4096, 16384, 65536, 262_144, 1_048_576])
    #expect(throws: AccountsError.failed(ERANGE)) { try lookUp([Int32](repeating: ERANGE, count: 10)) }
  }

  @Test func `An interrupted question is asked again, but not for ever`() throws {
    #expect(try lookUp([EINTR, EINTR]).0 != nil)
    #expect(throws: AccountsError.failed(EINTR)) { try lookUp([Int32](repeating: EINTR, count: 100)) }
  }

  @Test(arguments: [EAGAIN, EIO, EMFILE, ENOMEM, ECONNREFUSED, ETIMEDOUT])
  func `A name service that fails is not taken for one that knows no such user`(_ code: Int32) {
    #expect(throws: AccountsError.failed(code)) { try lookUp([code]) }
  }

  @Test(arguments: [0, ENOENT, ESRCH, EBADF, EPERM])
  func `What getpwnam lists for not found is not found`(_ code: Int32) throws {
    #expect(try lookUp([code], name: nil).0 == nil)
  }

  @Test func `An account expires on its day, and one without a day never`() async throws {
    #expect(!Accounts.isExpired(day: -1, today: 20_000))
    #expect(!Accounts.isExpired(day: 0, today: 20_000))
    #expect(!Accounts.isExpired(day: 20_001, today: 20_000))
    #expect(Accounts.isExpired(day: 20_000, today: 20_000))
    #expect(Accounts.isExpired(day: 1, today: 20_000))
    #expect(await !AccountDirectory().isExpired(UserID(0)))
    let accounts = AccountDirectory(
      source: .init(
        with: { user in user == UserID(9) ? nil : Account(user: user, name: "u\(user)") },
        isExpired: { $0 == "u7" }))
    #expect(await accounts.isExpired(UserID(7)))
    #expect(await !accounts.isExpired(UserID(8)))
    #expect(await !accounts.isExpired(UserID(9)))
  }

  // MARK: Slow ones

  /// A name service whose answers come when the test says so; names are known to it in any case of letters.
  final class SlowService: Sendable {
    private let gate = Mutex(false)
    let asked = Mutex<[String]>([])
    let (arrivals, arrived) = AsyncStream.makeStream(of: String.self)

    /// Lets all answers go.
    func open() { gate.withLock { $0 = true } }

    var directory: AccountDirectory { directory(patience: .seconds(60)) }

    func directory(patience: Duration) -> AccountDirectory {
      AccountDirectory(
        source: .init(
          named: { name in
            self.asked.withLock { $0.append(name) }
            self.arrived.yield(name)
            while !self.gate.withLock({ $0 }), name.hasPrefix("slow") { usleep(1000) }
            return Account(user: UserID(1000), name: name.lowercased())
          }, with: { user in user == UserID(1000) ? nil : Account(user: user, name: "u\(user)") },
          passcodeState: { _ in .set }), patience: patience)
    }
  }

  @Test func `A directory that hangs holds up neither other names nor uids`() async throws {
    let service = SlowService()
    defer { service.open() }
    let accounts = service.directory
    let slow = Task { try await accounts.named("slow", for: UserID(1000)) }
    var arrivals = service.arrivals.makeAsyncIterator()
    #expect(await arrivals.next() == "slow")
    #expect(try await accounts.named("paul", for: UserID(1000))?.name == "paul")
    #expect(try await accounts.with(UserID(7))?.name == "u7")
    service.open()
    #expect(try await slow.value?.name == "slow")
  }

  @Test func `Nobody waits longer than the patience, and is told that it was the directory`() async throws {
    let service = SlowService()
    defer { service.open() }
    let accounts = service.directory(patience: .milliseconds(50))
    await #expect(throws: AccountsError.slow(seconds: 1)) { try await accounts.named("slow", for: UserID(1)) }
    #expect(accounts.questionCount == 1, "its thread is still out")
    service.open()
    while accounts.questionCount > 0 { await Task.yield() }
  }

  @Test func `Equal questions share one thread, and threads are bounded, with some kept for root`() async throws {
    let service = SlowService()
    defer { service.open() }
    let accounts = service.directory
    var waiting: [Task<Account?, any Error>] = []
    for number in 0..<AccountDirectory.threadsPerLane {
      for _ in 0..<3 { waiting.append(Task { try await accounts.named("slow\(number)", for: UserID(1)) }) }
    }
    var arrivals = service.arrivals.makeAsyncIterator()
    for _ in 0..<AccountDirectory.threadsPerLane { _ = await arrivals.next() }
    #expect(accounts.questionCount == AccountDirectory.threadsPerLane)
    await #expect(throws: AccountsError.overloaded) { try await accounts.named("one more", for: UserID(1)) }
    #expect(try await accounts.named("paul", for: UserID(0))?.name == "paul")
    service.open()
    for task in waiting { #expect(try await task.value != nil) }
    #expect(Set(service.asked.withLock { $0 }).count == service.asked.withLock { $0.count })
    while accounts.questionCount > 0 { await Task.yield() }
  }

  @Test func `However a name is spelled, one uid has one name`() async throws {
    let accounts = AccountDirectory(
      source: .init(
        named: { name in
          ["paul", "Paul", "paul@corp", "CORP\\paul"].contains(name) ? Account(user: UserID(7), name: name) : nil
        }, with: { user in user == UserID(7) ? Account(user: user, name: "paul") : nil },
        passcodeState: { _ in .unknown }))
    for spelling in ["paul", "Paul", "paul@corp", "CORP\\paul"] {
      #expect(try await accounts.named(spelling, for: UserID(1)) == Account(user: UserID(7), name: "paul"))
    }
    #expect(try await accounts.named("7", for: UserID(1)) == nil)
  }

  @Test func `Names that differ in bytes alone are two questions`() async throws {
    let service = SlowService()
    defer { service.open() }
    let accounts = service.directory
    let composed = Task { try await accounts.named("slow\u{E9}", for: UserID(1)) }
    let decomposed = Task { try await accounts.named("slowe\u{301}", for: UserID(1)) }
    var arrivals = service.arrivals.makeAsyncIterator()
    _ = await arrivals.next()
    _ = await arrivals.next()
    #expect(accounts.questionCount == 2)
    service.open()
    #expect(Array(try await composed.value?.name.utf8 ?? "".utf8) == Array("slow\u{E9}".utf8))
    #expect(Array(try await decomposed.value?.name.utf8 ?? "".utf8) == Array("slowe\u{301}".utf8))
  }
}
