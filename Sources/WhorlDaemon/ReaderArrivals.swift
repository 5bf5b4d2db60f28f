internal import GLibLoop
internal import PrintStore
internal import ReaderLink

/// What is known of readers that may be about to come: when whorld began to look for them, and which went a moment ago.
@GLibActor
final class ReaderArrivals {
  /// How long a reader may take, in milliseconds.
  struct Limits: Sendable {
    /// After whorld's start, which may be the machine's: devices turn up one after the other.
    var start: Int64 = 10_000
    /// After it went, as one does whose plug was moved, or that starts anew by itself.
    var absence: Int64 = 3_000
    /// The longest that one login waits.
    var patience: Int64 = 3_000
    /// So many that went are remembered.
    static let departures = 32

    /// The usual ones.
    init() {}

    /// So many seconds each, at most an hour.
    init(seconds: Int64) {
      let limit = min(max(seconds, 0), 3600) * 1000
      (start, absence, patience) = (limit, limit, limit)
    }
  }

  let limits: Limits
  /// Beats when readers came, and when a look for them has ended.
  let changes = Pulse()
  /// Whether the first look for readers has ended, however it did.
  private(set) var hasLooked = false
  private let started: Int64
  /// When readers went, by `driver/device-id`.
  private var departures: [String: Int64] = [:]

  /// - Parameter now: the time at which whorld started.
  init(now: Int64, limits: Limits = Limits()) {
    started = now
    self.limits = limits
  }

  /// A look for readers has ended.
  func looked() {
    hasLooked = true
    changes.beat()
  }

  /// A reader went.
  func noteDeparture(of reader: String, at now: Int64) {
    departures = departures.filter { now - $0.value < limits.absence }
    if departures.count < Limits.departures { departures[reader] = now }
  }

  /// The time until which one of these readers may come.
  func expected(_ readers: [String]) -> Int64 {
    readers.reduce(started + limits.start) { max($0, (departures[$1] ?? .min / 2) + limits.absence) }
  }
}

extension ReaderHall {
  /// Waits where no reader is there on which a user has prints, and one may be about to come: whorld was started a moment
  /// ago, the machine woke a moment ago, or the reader went a moment ago. Everybody else's answer is there at once.
  ///
  /// - Parameter milliseconds: the most to wait; never longer than ``ReaderArrivals/Limits/patience``.
  /// - Returns: whether it is known by now which readers there are.
  func awaitReader(of user: FprintUser, atMost milliseconds: Int64) async -> Bool {
    let now = clock.now()
    // Where the prints cannot be read, whoever needs them says so.
    guard !isAsleep, let wanted = try? readersWithPrints(of: user), !wanted.isEmpty, !isThere(wanted) else {
      return true
    }
    let end = min(
      now + min(milliseconds, arrivals.limits.patience), max(arrivals.expected(wanted), graceEnd))
    guard end > now else { return true }
    var isOver = false
    let timer = Task { @GLibActor [clock, arrivals] in
      do { try await clock.sleep(end - now) } catch { return }
      isOver = true
      arrivals.changes.beat()
    }
    // Only a bridge that runs sees readers come.
    let look = Task { @GLibActor [weak self, arrivals] in
      do throws(ReaderError) {
        try await self?.refresh()
      } catch {
        // That is not about to change.
        if !error.leavesNoReader { isOver = true }
      }
      arrivals.changes.beat()
    }
    while !isOver, !Task.isCancelled, !isAsleep, !isThere(wanted) { await arrivals.changes.next() }
    timer.cancel()
    look.cancel()
    return arrivals.hasLooked
  }

  /// The readers on which a user has prints, whether or not they are there, as `driver/device-id`.
  private func readersWithPrints(of user: FprintUser) throws(PrintStoreError) -> [String] {
    guard try ownership(of: user) == .own else { return [] }
    var readers: [String] = []
    for place in try store.readers(user: user.name) {
      guard try !store.fingers(user: user.name, driver: place.driver, deviceID: place.deviceID).isEmpty else {
        continue
      }
      readers.append("\(place.driver)/\(place.deviceID)")
    }
    return readers
  }

  private func isThere(_ readers: [String]) -> Bool {
    stations.contains { !$0.isMissing && readers.contains($0.storeName) }
  }
}
