internal import Enclave
internal import GLibLoop
internal import ReaderLink

/// Which readers wait for one request's finger, told in one message rather than one for each where they are ready at
/// about the same time.
@GLibActor
final class ArmedReaders {
  /// So many milliseconds those that are ready wait for the others before they are told.
  private static let patience = 500

  /// Told once, when the request needs no reader any more.
  var onDecision: (@GLibActor () -> Void)?
  private let progress: @Sendable (MatchProgress) -> Void
  private var order: [Int] = []
  /// Those that should be armed in a moment.
  private var expected: Set<Int> = []
  private var ready: [Int: (description: ReaderDescription, fingers: [String])] = [:]
  private var told = 0
  private var isDecided = false
  private var timer: Task<Void, Never>?

  init(_ progress: @escaping @Sendable (MatchProgress) -> Void) { self.progress = progress }

  isolated deinit { timer?.cancel() }

  /// A reader that takes part; `atOnce` where it need not wait for its turn.
  func expect(_ station: ReaderStation, atOnce: Bool) {
    order.append(station.number)
    if atOnce { expected.insert(station.number) }
  }

  /// The reader waits for a finger now.
  func armed(_ station: ReaderStation, fingers: [String]) {
    expected.remove(station.number)
    ready[station.number] = (station.description, fingers)
    if timer == nil, !expected.isEmpty {
      timer = Task { @GLibActor [weak self] in
        do { try await glibSleep(milliseconds: Self.patience) } catch { return }
        self?.expected = []
        self?.tell()
      }
    }
    tell()
  }

  /// The reader takes part no more.
  func ended(_ station: ReaderStation) {
    expected.remove(station.number)
    tell()
    // What is told from here on does not name it.
    if ready.removeValue(forKey: station.number) != nil { told -= 1 }
  }

  /// One reader has come to a verdict, or the request has ended: nothing more is told.
  func decide() {
    guard !isDecided else { return }
    isDecided = true
    timer?.cancel()
    onDecision?()
    onDecision = nil
  }

  private func tell() {
    let readers = order.compactMap { ready[$0] }
    guard !isDecided, expected.isEmpty, readers.count > told else { return }
    told = readers.count
    var fingers: [String] = []
    for finger in readers.flatMap(\.fingers) where !fingers.contains(finger) { fingers.append(finger) }
    progress(
      .waiting(
        reader: readers.map(\.description.name).joined(separator: " or "),
        scanType: readers.allSatisfy { $0.description.scanType == .swipe } ? "swipe" : "press", fingers: fingers))
  }
}
