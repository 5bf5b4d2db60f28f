internal import GLibLoop
internal import ReaderLink

/// A request that the bridge has not ended yet, and what may be said to it.
@GLibActor
final class PendingRequest {
  let number: UInt64
  let request: ReaderRequest
  /// Fires when the bridge has ended it.
  let ended = Signal()
  /// The size of its frame.
  var bytes = 0
  private(set) var isCancelled = false
  /// Its reader was unplugged.
  private var isOrphaned = false
  private let progress: @GLibActor (ReaderEvent) -> Void
  private var waiter: CheckedContinuation<Result<ReaderReply, ReaderError>, Never>?
  private var early: ReaderReply?
  /// The prints of an identification that the bridge leaves out; nil until it has told.
  private var unusable: Set<UInt32>?
  /// Whether the finger was one that the chip knows and whorld does not.
  private var hasStranger = false
  /// Whether the reader has seen a finger.
  private var touched = false
  private var deadline: Task<Void, any Error>?

  init(
    number: UInt64, request: ReaderRequest, progress: @escaping @GLibActor (ReaderEvent) -> Void,
    waiter: CheckedContinuation<Result<ReaderReply, ReaderError>, Never>
  ) {
    self.number = number
    self.request = request
    self.progress = progress
    self.waiter = waiter
  }

  /// Whether the one who asked has been answered although the bridge goes on.
  var isSettling: Bool { waiter == nil }

  /// Calls `expired` after this time unless the request ends before.
  func limit(milliseconds: Int, expired: @escaping @GLibActor () -> Void) {
    deadline?.cancel()
    deadline = Task {
      try await glibSleep(milliseconds: milliseconds)
      expired()
    }
  }

  /// Marks it as cancelled; false when it was.
  func markCancelled() -> Bool {
    if isCancelled { return false }
    isCancelled = true
    return true
  }

  /// Notes that its reader was unplugged; false when it was noted before.
  func markOrphaned() -> Bool {
    if isOrphaned { return false }
    isOrphaned = true
    return true
  }

  /// How many prints the bridge compares for it.
  var printCount: Int {
    if case .identify(_, let prints) = request { prints.count } else { 0 }
  }

  /// Takes an event; false when no honest bridge sends it.
  func accept(_ event: ReaderEvent) -> Bool {
    switch (request, event) {
    case (.enroll, .enrollProgress), (.enroll, .retry), (.verify, .retry), (.identify, .retry), (.capture, .retry):
      touched = true
      if !isSettling { progress(event) }
      return true
    case (.identify(_, let prints), .unusablePrints(_, let indices)):
      // Before the wait, once, and each print once.
      let indexSet = Set(indices)
      guard !touched, early == nil, unusable == nil, !indices.isEmpty, indexSet.count == indices.count,
        indices.allSatisfy({ $0 < prints.count })
      else { return false }
      unusable = indexSet
      progress(event)
      return true
    case (.identify, .strangerPrint):
      guard early == nil, !hasStranger else { return false }
      hasStranger = true
      progress(event)
      return true
    case (_, .verdict(_, let matched, let index)):
      let verdict = ReaderReply.verdict(matched: matched, index: index)
      guard fits(verdict), early == nil || early == verdict else { return false }
      early = verdict
      answer(.success(verdict))
      return true
    default: return false
    }
  }

  /// Takes the end; false when no honest bridge sends it.
  func finish(_ reply: ReaderReply) -> Bool {
    if case .failed(let error) = reply {
      // Whoever asked knew the reader: it went on the way.
      let error = error.sanitized
      answer(.failure(error == .noSuchReader ? .removed("it went while it was asked") : error))
    } else {
      // The end may not contradict what was said on the way.
      guard fits(reply), early == nil || early == reply else { return false }
      answer(.success(reply))
    }
    close()
    return true
  }

  /// Ends it without an answer from the bridge.
  func abandon(_ reason: String) {
    answer(
      .failure(isCancelled ? .cancelled : isOrphaned ? .removed("it was unplugged") : .bridgeFailed(reason)))
    close()
  }

  private func answer(_ result: Result<ReaderReply, ReaderError>) {
    let waiter = self.waiter
    self.waiter = nil
    waiter?.resume(returning: result)
  }

  private func close() {
    deadline?.cancel()
    ended.fire()
  }

  private func fits(_ reply: ReaderReply) -> Bool {
    switch (request, reply) {
    case (.ping, .pong), (.enumerate, .readers), (.enroll, .print), (.capture, .image), (.listPrints, .prints),
      (.open, .done), (.close, .done), (.deletePrint, .done), (.clearStorage, .done):
      true
    case (.verify, .verdict(_, let index)): index == 0
    case (.identify(_, let prints), .verdict(let matched, let index)):
      fits(matched: matched, index: index, of: prints.count)
    case (.storedPrints(_, let known), .storedPrints(let prints)):
      prints.allSatisfy { $0.knownIndex.map(known.indices.contains) ?? true }
    default: false
    }
  }

  /// Whether a verdict is about the prints that the bridge had left.
  private func fits(matched: Bool, index: UInt32, of count: Int) -> Bool {
    if matched, hasStranger { return false }
    let unusable = unusable ?? []
    guard unusable.isEmpty || unusable.count < count else { return false }
    return matched ? index < count && !unusable.contains(index) : index == 0
  }
}

extension ReaderRequest {
  /// The reader that it is for.
  var reader: UInt32? {
    switch self {
    case .ping, .enumerate, .cancel: nil
    case .open(let reader), .close(let reader), .enroll(let reader, _, _), .verify(let reader, _),
      .identify(let reader, _), .capture(let reader), .listPrints(let reader), .storedPrints(let reader, _),
      .deletePrint(let reader, _), .clearStorage(let reader):
      reader
    }
  }

  /// Whether it waits for a person.
  var awaitsTouch: Bool {
    switch self {
    case .enroll, .verify, .identify, .capture: true
    default: false
    }
  }
}

extension ReaderEvent {
  /// The request that it is about.
  var request: UInt64? {
    switch self {
    case .enrollProgress(let request, _, _), .retry(let request, _), .verdict(let request, _, _),
      .unusablePrints(let request, _), .strangerPrint(let request, _):
      request
    case .fingerStatus, .temperature, .deviceIgnored, .readersChanged: nil
    }
  }
}
