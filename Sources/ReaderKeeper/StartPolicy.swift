/// When a bridge may be started again after others failed: soon at first, later only now and then.
struct StartPolicy {
  /// What is to be done before the next start.
  enum Advice: Equatable {
    case start
    /// Wait for so many milliseconds first.
    case wait(Int)
    /// It would be too long to wait; so many milliseconds.
    case refuse(Int)
  }

  /// How many bridges in a row failed without having served anything.
  private(set) var failures = 0
  /// Why the last one failed.
  private(set) var reason = ""
  private var lastFailure: ContinuousClock.Instant?
  private var recent: [ContinuousClock.Instant] = []
  private let limits: ReaderKeeper.Limits

  /// The pauses after the first, second ... failure in a row, in milliseconds.
  private static let pauses = [0, 100, 500, 2_000, 10_000]
  /// Longer than this nobody is kept waiting, in milliseconds.
  private static let patience = 500
  /// From so many failures in a row on it is said that the bridge keeps failing.
  private static let manyFailures = 3

  init(limits: ReaderKeeper.Limits) { self.limits = limits }

  /// Whether a failure is no longer the odd one.
  var keepsFailing: Bool { failures >= Self.manyFailures }

  /// A bridge failed by itself.
  mutating func noteFailure(_ reason: String, at now: ContinuousClock.Instant = .now) {
    failures += 1
    self.reason = reason
    lastFailure = now
    recent.append(now)
    recent.removeAll { $0 < now - .seconds(60) }
    if recent.count > limits.failuresPerMinute { recent.removeFirst() }
  }

  /// A bridge did what it was asked.
  mutating func noteService() { failures = 0 }

  /// What to do at this moment.
  func advice(at now: ContinuousClock.Instant = .now) -> Advice {
    guard let lastFailure else { return .start }
    var ready = lastFailure
    if failures > 0 { ready += .milliseconds(Self.pauses[min(failures, Self.pauses.count) - 1]) }
    if recent.count >= limits.failuresPerMinute, let first = recent.first { ready = max(ready, first + .seconds(60)) }
    if ready <= now { return .start }
    let left = Int((ready - now) / .milliseconds(1)) + 1
    return left <= Self.patience ? .wait(left) : .refuse(left)
  }
}
