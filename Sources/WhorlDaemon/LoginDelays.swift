internal import Enclave
internal import Keychain

/// Who asks for a login, for whom.
struct LoginKey: Hashable, Sendable {
  let user: UserID
  let service: String
  /// Among whose sessions or services the program is; nil where nobody knows. Who runs su for somebody else time and again
  /// must not take the finger from him.
  let asker: UInt32?

  /// - Parameter service: as the program names it, which may be anything.
  init(user: UserID, service: String, asker: UInt32? = nil) {
    self.user = user
    self.asker = asker
    let plain = service.utf8.filter { (0x21...0x7e).contains($0) }.prefix(64)
    self.service = String(decoding: plain, as: UTF8.self)
  }
}

/// Keeps programs that ask again and again, such as a locker's loop, from wearing out reader and person: after the third
/// failure within a minute for the same service, user and asker no finger is asked for, for a time that grows. Only the finger
/// waits: the answer comes at once, and the stack goes on to the password.
struct LoginDelays {
  /// So many failures within `window` cost nothing.
  static let free = 3
  /// In milliseconds.
  static let window: Int64 = 60_000
  /// The first delay, in milliseconds; each further failure doubles it.
  static let first: Int64 = 5_000
  static let longest: Int64 = 60_000

  private struct Entry {
    /// When the last failures were, as long as there is no delay.
    var failures: [Int64] = []
    /// How many delays there were in a row.
    var delays = 0
    var until: Int64 = 0
  }

  private var entries: [LoginKey: Entry] = [:]

  /// How many are kept account of.
  var count: Int { entries.count }

  /// Milliseconds until a finger may be asked for; 0: now.
  func wait(_ key: LoginKey, at now: Int64) -> Int64 { max(0, (entries[key]?.until ?? 0) - now) }

  /// A wait for a finger ended without one.
  mutating func failed(_ key: LoginKey, at now: Int64) {
    var entry = entries[key] ?? Entry()
    // A minute without one ends the row.
    if entry.delays > 0, now - entry.until > Self.window { entry = Entry() }
    entry.failures.removeAll { $0 <= now - Self.window }
    entry.failures.append(now)
    if entry.delays > 0 || entry.failures.count >= Self.free {
      entry.until = now + min(Self.longest, Self.first << Int64(min(entry.delays, 8)))
      entry.delays += 1
      entry.failures = []
    }
    entries[key] = entry
    if entries.count > 256 {
      entries = entries.filter { max($0.value.until, $0.value.failures.last ?? 0) > now - Self.window }
    }
  }

  /// A finger matched.
  mutating func succeeded(_ key: LoginKey) { entries[key] = nil }
}

/// Why no finger was asked for at the last login of each service: logged when it changes, and shown by `whorl status`.
struct LoginRefusals {
  /// So many services of one user are remembered.
  static let services = 16
  /// So many users are.
  static let users = 64

  /// So many lines of the log one user has in a row, and one more after each interval in milliseconds: services are what
  /// programs call themselves, and each new one has a reason of its own.
  static let lines: Int64 = 20
  static let interval: Int64 = 60_000

  private var reasons: [UserID: [(service: String, reason: String)]] = [:]
  private var budgets: [UserID: Bucket] = [:]

  /// Notes a reason.
  /// - Returns: whether it is to be logged: it is another than before, and the user has not filled the log with others.
  mutating func note(_ key: LoginKey, _ reason: String, at now: Int64) -> Bool {
    var list = reasons[key.user] ?? []
    let before = list.first { $0.service == key.service }?.reason
    list.removeAll { $0.service == key.service }
    list.append((key.service, reason))
    if list.count > Self.services { list.removeFirst() }
    if reasons[key.user] == nil, reasons.count >= Self.users, let other = reasons.keys.first { reasons[other] = nil }
    reasons[key.user] = list
    // The seconds that are left are no news.
    guard before.map(Self.withoutNumbers) != Self.withoutNumbers(reason) else { return false }
    if budgets.count >= Self.users { budgets = budgets.filter { !$0.value.isWhole(at: now) } }
    return budgets[key.user, default: Bucket(burst: Self.lines, interval: Self.interval)].take(at: now) == nil
  }

  private static func withoutNumbers(_ reason: String) -> String { reason.filter { !("0"..."9").contains($0) } }

  /// A finger was asked for.
  mutating func clear(_ key: LoginKey) { reasons[key.user]?.removeAll { $0.service == key.service } }

  /// The services at which no finger was asked for, and why; the last one last.
  ///
  /// - Parameter isLockedOut: whether the user's fingers are. A lockout that has ended is told of no more, for there
  ///   is nothing left to do about it.
  func of(_ user: UserID, isLockedOut: Bool = true) -> [(service: String, reason: String)] {
    (reasons[user] ?? []).filter { isLockedOut || $0.reason != EnclaveError.biometryLockout.message }
  }
}
