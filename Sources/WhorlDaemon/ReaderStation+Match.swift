internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// Why a match on a reader came to no verdict.
enum MatchFailure: Error, Hashable {
  /// Somebody else had the reader for the whole of the time to wait, or has taken precedence; who, in words for people.
  case taken(by: String)
  /// The reader failed or may not work now.
  case reader(ReaderError)
}

extension ReaderStation {
  /// So often a touch is asked for again since the process had met another reader.
  private static let moveLimit = 3

  private enum End {
    case ended(Result<Int?, ReaderError>)
    /// Somebody at the seat wants the reader.
    case displaced
    /// The reader may not be armed now; for a wait that pends.
    case paused
  }

  /// Waits in its turn for one touch that counts, and gives the index of the print that it matched, or nil.
  ///
  /// - Parameters:
  ///   - prints: at least one; a reader that only verifies is given the first.
  ///   - seeker: who waits; `giveWay` is set here.
  ///   - pends: for one who waits without end, a screen locker. The reader is then armed only while the budget lasts,
  ///     its user is not in the background and nothing hinders it; the wait goes on all the same. A sleep that comes
  ///     while the reader is armed ends the wait, as the end of its bridge.
  ///   - patience: the seconds to wait for the first turn.
  ///   - armed: told each time that the reader is about to be armed, and when a wait that pends begins without that.
  ///   - unusable: as ``ReaderKeeper/ReaderKeeper/identify(_:prints:unusable:progress:)`` has it.
  ///   - progress: told of each touch that has to be repeated.
  func match(
    _ prints: [[UInt8]], by seeker: Seeker, pends: Bool, waiting patience: Int,
    armed: @escaping @GLibActor () -> Void = {}, unusable: @escaping @GLibActor ([Int]) -> Void = { _ in },
    progress: @escaping @GLibActor (RetryReason) -> Void = { _ in }
  ) async throws(MatchFailure) -> Int? {
    stir()
    var patience: Int? = patience
    var moves = 0
    while true {
      if pends {
        try await becomeArmable(seeker, armed)
      } else if let hindrance {
        throw .reader(hindrance)
      }
      let end = try await turn(seeker, patience, pends) { () async -> Result<Int?, ReaderError> in
        await self.touch(prints, armed, unusable) { reason in
          // A finger that was not seen well is a person's.
          self.stir()
          progress(reason)
        }
      }
      switch end {
      case .ended(.success(.some)) where pends && touch.wasInProgress(limits.lock):
        // The hand that has just locked the screen must not open it: lifted, and put on again, it may.
        Log.notice("a finger that lay on the reader as the screen was locked does not open it")
        progress(.removeFinger)
        patience = nil
      case .ended(.success(let index)): return index
      case .ended(.failure(.moved)) where moves < Self.moveLimit:
        // The process had met another reader: the touch is made again, in another one.
        moves += 1
        patience = nil
      case .ended(.failure(let error)): throw .reader(error)
      case .displaced where !pends: throw .taken(by: "somebody in the session at the seat")
      case .paused, .displaced: patience = nil
      }
    }
  }

  /// Runs something else than a match in a turn on this reader; it is cancelled where somebody at the seat takes
  /// precedence.
  ///
  /// - Returns: what `body` returns, and whether it was cancelled to give way.
  /// - Throws: `.taken`, or `.reader(.cancelled)`; `body` was not run then.
  func inTurn<R: Sendable>(
    _ seeker: Seeker, waiting patience: Int?, _ body: @escaping @GLibActor () async -> R
  ) async throws(MatchFailure) -> (result: R, gaveWay: Bool) {
    let work = Interruptible<R>()
    var seeker = seeker
    seeker.giveWay = { work.interrupt() }
    try await take(seeker, patience)
    defer {
      turns.give()
      operationEnded()
    }
    let result = await work.run(body)
    return (result, work.isInterrupted)
  }

  /// What the reader sees, told by the bridge.
  func fingerStatus(needed: Bool, present: Bool) {
    if needed, !touch.isNeeded {
      touch.armedAt = clock.now()
      touch.presentAt = nil
    }
    touch.isNeeded = needed
    if present, touch.presentAt == nil { touch.presentAt = clock.now() }
  }

  /// The screen was locked by its user.
  func locked() { touch.lockedAt = clock.now() }

  /// Returns when a wait that pends may arm the reader.
  private func becomeArmable(_ seeker: Seeker, _ waits: @GLibActor () -> Void) async throws(MatchFailure) {
    while !Task.isCancelled {
      if isArmable(for: seeker) { return }
      waits()
      await changes.next()
    }
    throw .reader(.cancelled)
  }

  private func isArmable(for seeker: Seeker) -> Bool {
    // Nobody can mean to touch it for a session that he does not see.
    hindrance == nil && !isMissing && budget.remaining(at: clock.now()) > 0 && seeker.standing() != .background
  }

  private func turn(
    _ seeker: Seeker, _ patience: Int?, _ pends: Bool,
    _ touch: @escaping @GLibActor () async -> Result<Int?, ReaderError>
  ) async throws(MatchFailure) -> End {
    let work = Interruptible<Result<Int?, ReaderError>>()
    var seeker = seeker
    seeker.giveWay = { work.interrupt() }
    try await take(seeker, patience)
    var mayComeBack = false
    defer {
      turns.give(keeping: mayComeBack)
      operationEnded()
    }
    // The turn may have taken its time to come.
    if pends, !isArmable(for: seeker) { return .paused }
    var isSpent = false
    let pause: @GLibActor () -> Void = {
      // Who gives way to somebody leaves the reader to him as it is.
      guard !work.isInterrupted else { return }
      isSpent = true
      work.interrupt()
    }
    let watches = pends ? [watchBudget(pause), watchArmable(seeker, pause)] : []
    let result = await work.run(touch)
    for watch in watches { watch.cancel() }
    switch result {
    case .failure(.cancelled) where work.isInterrupted && !Task.isCancelled:
      // Nobody wants it now: dark, and with nothing left to heat it.
      if isSpent {
        note(nil)
        await rest()
      }
      return isSpent ? .paused : .displaced
    case .failure(.asleep) where pends:
      return .paused
    case .success(let index):
      note(nil)
      mayComeBack = index == nil && seeker.request != nil
    case .failure(.cancelled):
      // It may have missed on another reader, and asks again.
      mayComeBack = seeker.request != nil
    case .failure(let error):
      note(error)
    }
    return .ended(result)
  }

  private func take(_ seeker: Seeker, _ patience: Int?) async throws(MatchFailure) {
    do {
      try await turns.take(seeker, waiting: patience)
    } catch .busy(let holder) {
      throw .taken(by: holder)
    } catch {
      throw .reader(.cancelled)
    }
  }

  /// Calls `spent` once the budget is, which activity puts off.
  private func watchBudget(_ spent: @escaping @GLibActor () -> Void) -> Task<Void, Never> {
    Task { @GLibActor [weak self, clock] in
      while let left = self?.budget.remaining(at: clock.now()), left > 0 {
        do { try await clock.sleep(left) } catch { return }
      }
      if !Task.isCancelled { spent() }
    }
  }

  /// Calls `ended` once the reader may not be armed any more, as when the session goes to the background.
  private func watchArmable(_ seeker: Seeker, _ ended: @escaping @GLibActor () -> Void) -> Task<Void, Never> {
    Task { @GLibActor [weak self] in
      while let self, !Task.isCancelled {
        if seeker.standing() == .background { return ended() }
        await self.changes.next()
      }
    }
  }

  /// One touch that counts, by whoever has the turn.
  private func touch(
    _ prints: [[UInt8]], _ armed: @GLibActor () -> Void,
    _ unusable: @escaping @GLibActor ([Int]) -> Void, _ progress: @escaping @GLibActor (RetryReason) -> Void
  ) async -> Result<Int?, ReaderError> {
    do throws(ReaderError) {
      try await open()
      armed()
      return .success(try await verdict(prints, unusable, progress))
    } catch {
      return .failure(error)
    }
  }

  private func verdict(
    _ prints: [[UInt8]], _ unusable: @escaping @GLibActor ([Int]) -> Void,
    _ progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int? {
    if description.features.contains(.identify) {
      return try await keeper.identify(id, prints: prints, unusable: unusable, progress: progress)
    }
    guard let first = prints.first else { throw .dataNotFound("no print was given") }
    return try await keeper.verify(id, print: first, progress: progress) ? 0 : nil
  }
}

/// When things happened that tell a touch that was under way before the reader was armed from a new one; all by the
/// station's clock.
struct TouchTimes {
  /// Whether the reader waits for a finger.
  var isNeeded = false
  /// When it began to, last.
  var armedAt: Int64?
  /// When it saw a finger since then.
  var presentAt: Int64?
  /// When a screen was locked, last.
  var lockedAt: Int64?

  /// Nobody touches a reader as soon as this, in milliseconds, after it was armed, except who was touching it before.
  private static let reaction: Int64 = 250

  /// Whether the finger lay there already, on a reader that was armed not longer than `patience` milliseconds after a
  /// screen was locked.
  func wasInProgress(_ patience: Int64) -> Bool {
    guard let lockedAt, let armedAt, let presentAt, (0...patience).contains(armedAt - lockedAt) else { return false }
    return presentAt - armedAt < Self.reaction
  }
}

/// A piece of work that others can have cancelled, before it runs too.
@GLibActor
final class Interruptible<R: Sendable> {
  private(set) var isInterrupted = false
  private var task: Task<R, Never>?

  /// Cancels the work. It still comes to its end.
  func interrupt() {
    isInterrupted = true
    task?.cancel()
  }

  /// Runs the work, once; it is cancelled with the task that runs it too.
  func run(_ body: @escaping @GLibActor () async -> R) async -> R {
    let task = Task { @GLibActor in await body() }
    self.task = task
    if isInterrupted { task.cancel() }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }
}
