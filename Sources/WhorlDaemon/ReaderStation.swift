internal import GLibLoop
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// One reader as the daemon knows it: its turns, whether it is open, and whether it may work now.
///
/// A reader is opened for a claim or an operation and closed when nobody needs it any more, or nobody has used it for a
/// while. Matching is in ReaderStation+Match.swift.
@GLibActor
final class ReaderStation {
  /// For how long what is done to a reader, in milliseconds.
  struct Limits {
    /// Armed for one who waits without end, after each sign of a person.
    var armed: Int64 = 120_000
    /// Open for a claim under which nothing runs.
    var idle: Int64 = 30_000
    /// The first rest after it refused as too hot, and the longest.
    var coolDown: ClosedRange<Int64> = 30_000...300_000
    /// After a screen was locked a finger that lies on the reader already counts for nothing.
    var lock: Int64 = 5_000
  }

  /// The number in the object path.
  let number: Int
  /// The keeper's name for it, which survives a new bridge.
  let id: ReaderID
  /// What the bridge says of it.
  var description: ReaderDescription
  /// One operation at a time.
  let turns = TurnQueue()
  /// What the chip held when it was last looked at; nil before, and for readers without storage of their own.
  var chip: ChipSurvey?
  /// How many prints the chip has room for, learnt when it was full.
  var chipCapacity: Int?
  /// Beats when something changed that a wait may hang on: see ``hindrance``.
  let changes = Pulse()
  let keeper: any ReaderAccess
  let clock: DaemonClock
  let limits: Limits
  var budget: ArmingBudget
  /// Whether the machine sleeps or is about to: then no reader is opened.
  var isAsleep = false {
    didSet { if isAsleep != oldValue { changes.beat() } }
  }
  /// Whether the bridge does not see it now, shortly after a wake, where it may come back.
  var isMissing = false {
    didSet { if isMissing != oldValue { changes.beat() } }
  }
  var touch = TouchTimes()
  private var coolDown: CoolDown
  /// What last went wrong with the reader itself (blocked, too hot, ...); nil since it last opened or worked.
  private(set) var trouble: ReaderError?
  private var users = 0
  /// The bridge process in which the reader is open, as far as we know.
  private var openedIn: Int32?
  /// Opening and closing, one after the other.
  private let door = TurnQueue()
  private var idleTimer: Task<Void, Never>?

  init(
    number: Int, id: ReaderID, description: ReaderDescription, keeper: any ReaderAccess, clock: DaemonClock = .machine,
    limits: Limits = Limits()
  ) {
    self.number = number
    self.id = id
    self.description = description
    self.keeper = keeper
    self.clock = clock
    self.limits = limits
    budget = ArmingBudget(limit: limits.armed, now: clock.now())
    coolDown = CoolDown(shortest: limits.coolDown.lowerBound, longest: limits.coolDown.upperBound)
  }

  isolated deinit { idleTimer?.cancel() }

  /// The reader as the enclave and the print store name it.
  var storeName: String { "\(description.driver)/\(description.deviceID)" }

  /// Where the print store has a finger of a user that was enrolled on this reader.
  func printKey(of user: String, _ finger: Finger) -> PrintStore.Key {
    PrintStore.Key(user: user, driver: description.driver, deviceID: description.deviceID, finger: finger)
  }

  // MARK: Whether it may work

  /// A person is at the machine, or a program has just asked for this reader: it may be armed again.
  func stir() {
    budget.renew(at: clock.now())
    changes.beat()
  }

  /// Why the reader may not work now; nil where it may.
  var hindrance: ReaderError? {
    if isAsleep { return .asleep }
    let rest = coolDown.remaining(at: clock.now())
    return rest > 0 ? .tooHot("it rests for another \((rest + 999) / 1000) s") : nil
  }

  /// Notes how an operation on this reader ended that ``match(_:by:pends:waiting:armed:unusable:progress:)`` did not
  /// run: with what error, or well.
  func note(_ error: ReaderError?) {
    remember(error)
    switch error {
    case nil: coolDown.worked()
    case .tooHot where coolDown.remaining(at: clock.now()) == 0:
      coolDown.refused(at: clock.now())
      let rest = coolDown.remaining(at: clock.now())
      Log.warning("the reader \(description.name) is too hot and rests for \(rest / 1000) s")
      Task { @GLibActor [weak self, clock] in
        do { try await clock.sleep(rest) } catch { return }
        self?.changes.beat()
      }
    default: break
    }
  }

  /// Remembers for whorl status what is the matter with the reader itself.
  private func remember(_ error: ReaderError?) {
    switch error {
    case .asleep, .moved: break
    case .cancelled, .retry, .dataInvalid, .dataNotFound, .dataFull, .dataDuplicate, .notOpen, .alreadyOpen: break
    default: trouble = error
    }
  }

  // MARK: Open and closed

  /// Holds the reader from here to ``leave()``, and opens it. While the machine is about to sleep it is only held, so
  /// that a screen locker can claim it; ``open()`` opens it after the wake.
  func enter() async throws(ReaderError) {
    users += 1
    do {
      try await open()
    } catch {
      if error == .asleep { return }
      users -= 1
      throw error
    }
  }

  /// Opens the reader where it is not open, as after a new bridge.
  ///
  /// - Throws: `.asleep` too.
  func open() async throws(ReaderError) {
    do { try await door.take(for: "opening", waiting: nil) } catch { throw .cancelled }
    defer { door.give() }
    if isAsleep { throw .asleep }
    closeWhenIdle()
    await keeper.review(id)
    if let openedIn, openedIn == keeper.processID(of: id) { return }
    do {
      try await keeper.open(id)
    } catch .alreadyOpen {
    } catch {
      if isAsleep { throw .asleep }
      remember(error)
      throw error
    }
    trouble = nil
    openedIn = keeper.processID(of: id)
  }

  /// The counterpart of ``enter()``; the last one closes the reader, also where its task was cancelled.
  /// - Returns: what the reader said to that.
  @discardableResult
  func leave() async -> ReaderError? {
    users -= 1
    guard users == 0 else { return nil }
    return await uninterrupted { await self.close { self.users == 0 } }
  }

  /// Closes the reader although it is claimed; the next operation opens it again. For whoever has the turn.
  func rest() async {
    _ = await uninterrupted { await self.close { true } }
  }

  private func closeWhenIdle() {
    idleTimer?.cancel()
    idleTimer = Task { @GLibActor [weak self, clock, limits] in
      do { try await clock.sleep(limits.idle) } catch { return }
      guard let self else { return }
      idleTimer = nil
      // Whoever has the turn comes through here again when he gives it.
      if turns.holder == nil { await close { self.turns.holder == nil } }
    }
  }

  /// The turn was given back.
  func operationEnded() {
    if openedIn != nil { closeWhenIdle() }
  }

  @discardableResult
  private func close(where isUnused: @GLibActor () -> Bool) async -> ReaderError? {
    do { try await door.take(for: "closing", waiting: nil) } catch { return nil }
    defer { door.give() }
    guard isUnused(), let bridge = openedIn else { return nil }
    idleTimer?.cancel()
    idleTimer = nil
    openedIn = nil
    // With its bridge the reader is closed; asking would only start a new one.
    guard bridge == keeper.processID(of: id) else { return nil }
    do {
      try await keeper.close(id)
    } catch .notOpen, .noSuchReader, .bridgeFailed {
      // Closed as it should be.
    } catch {
      Log.warning("closing the reader \(description.name) failed: \(error.line)")
      return error
    }
    return nil
  }
}
