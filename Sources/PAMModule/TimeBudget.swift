/// The moments at which the module gives up, in microseconds of the monotonic clock. Nothing outside the wait for
/// a finger may take longer than the opening time, whatever the daemon and the bus do.
struct TimeBudget: Equatable {
  private let start: UInt64
  /// When the daemon must have shown the first sign of life.
  private(set) var opening: UInt64
  /// When the answer must be there; the opening moment until the request is sent.
  private(set) var answer: UInt64
  /// Whether the daemon has shown a sign of life since the request was sent.
  private var heard = false

  static let second: UInt64 = 1_000_000
  /// For a daemon that runs.
  static let openingTime = 2 * second
  /// For one that the bus is just starting.
  static let startingTime = 3 * second
  /// What the daemon has beyond the user's time, to say that it is over.
  static let grace = 1 * second
  /// How long a request may stand in the queue before the person is told: most leave it at once.
  static let queueHint = second / 2

  /// How long the next key of a password may take that was begun before the finger's time ended.
  static let betweenKeys = 15 * second

  init(now: UInt64) {
    start = now
    opening = now + TimeBudget.openingTime
    answer = opening
  }

  /// The bus is starting the daemon.
  mutating func daemonIsStarting() {
    opening = start + TimeBudget.startingTime
    answer = opening
  }

  /// The request went out; the person has `seconds`.
  mutating func requestSent(now: UInt64, seconds: UInt32) {
    answer = now + UInt64(seconds) * TimeBudget.second + TimeBudget.grace
  }

  /// The daemon said something about the request.
  mutating func heardDaemon() { heard = true }

  /// When to give up as things stand.
  var deadline: UInt64 { heard ? answer : min(opening, answer) }
}
