internal import Bus
internal import GLibLoop
internal import Keychain

/// How much one account may ask of the daemon, so that a program gone wild, or hostile, costs the others nothing.
///
/// Two bounds per uid: how many of its calls run at once, and how often it may ask for a reader or for polkit. Root is
/// not bounded: it could do worse.
@GLibActor
final class CallLimits {
  /// Calls of one account that run at once.
  static let running = 128
  /// Calls for a reader that an account may make in a row after a pause.
  nonisolated static let burst: Int64 = 300
  /// So many milliseconds after each of them one more is allowed.
  nonisolated static let interval: Int64 = 40
  /// So many milliseconds the log says no more of an account that goes on being refused.
  static let silence: Int64 = 60_000

  private struct Account {
    var running = 0
    var readerCalls = Bucket(burst: CallLimits.burst, interval: CallLimits.interval)
    /// Until when the log has said enough of it, in milliseconds of the clock.
    var namedUntil: Int64 = 0
  }

  /// Calls of one account that are at the store at once: one waits for the others of its own account rather than having
  /// other accounts' wait for all of them.
  static let atStore = 2

  private let store = AccountLines(atOnce: atStore)
  private var accounts: [UserID: Account] = [:]
  private let clock: DaemonClock

  init(clock: DaemonClock = .machine) { self.clock = clock }

  /// How many accounts are kept account of; those with nothing running and a whole burst are not.
  var accountCount: Int { accounts.count }

  /// How many calls of an account run.
  func runningCount(of user: UserID) -> Int { accounts[user]?.running ?? 0 }

  /// Runs `body` for a call, within the bounds.
  ///
  /// - Parameter wantsReader: whether it counts as a call for a reader.
  /// - Throws: `org.freedesktop.DBus.Error.LimitsExceeded`, with when to try again.
  func run<R: Sendable>(
    for user: UserID, wantsReader: Bool, _ body: @GLibActor () async throws -> R
  ) async throws -> R {
    guard user.rawValue != 0 else { return try await body() }
    try admit(user, wantsReader)
    defer { leave(user) }
    return try await body()
  }

  /// Runs `body`, which is at the store without waiting for a person, in the account's line.
  /// - Throws: `CancellationError` where the caller has gone first.
  func runAtStore<R: Sendable>(for user: UserID, _ body: @GLibActor () async throws -> R) async throws -> R {
    guard await store.enter(user) else { throw CancellationError() }
    defer { store.leave(user) }
    return try await body()
  }

  private func admit(_ user: UserID, _ wantsReader: Bool) throws(BusMethodError) {
    let now = clock.now()
    var account = accounts[user] ?? Account()
    defer { accounts[user] = account }
    guard account.running < Self.running else {
      throw refusal(user, &account, "\(Self.running) of its calls are running; wait for one to end")
    }
    if wantsReader, let wait = account.readerCalls.take(at: now) {
      throw refusal(user, &account, "it asks too often; try again in \((wait + 999) / 1000) s")
    }
    account.running += 1
  }

  private func leave(_ user: UserID) {
    guard var account = accounts[user] else { return }
    account.running -= 1
    let now = clock.now()
    accounts[user] = isQuiet(account, now) ? nil : account
    // Those that fell silent in debt are let go with the next call of anybody.
    if accounts.count > 64 { accounts = accounts.filter { !isQuiet($0.value, now) } }
  }

  private func isQuiet(_ account: Account, _ now: Int64) -> Bool {
    account.running == 0 && account.readerCalls.isWhole(at: now) && account.namedUntil <= now
  }

  /// Logged once a minute at most.
  private func refusal(_ user: UserID, _ account: inout Account, _ why: String) -> BusMethodError {
    if account.namedUntil <= clock.now() {
      account.namedUntil = clock.now() + Self.silence
      Log.warning("refusing calls of uid \(user.rawValue): \(why)")
    }
    return BusMethodError(
      name: "org.freedesktop.DBus.Error.LimitsExceeded", message: "Your account is bounded: \(why).")
  }
}
