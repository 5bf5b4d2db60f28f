public import GLibLoop
public import ReaderLink

/// whorld's side of the readers: keeps a whorl-reader process while there is use for one, and replaces it when it dies,
/// stops answering or speaks nonsense.
///
/// A failing bridge costs each running request one `.bridgeFailed`; the next request starts a new bridge, where readers
/// have to be opened again. One that fails again and again is started ever more seldom: meanwhile requests fail at once
/// with `.bridgeKeepsFailing`. Cancelling a task cancels its request: it ends with `.cancelled`, or with the result that
/// was there before. Apart from the wait for a finger, every call ends within ``Limits``.
@GLibActor
public final class ReaderKeeper {
  /// Told of the new list when readers came or went, or when a new bridge finds others than the last one. A reader that
  /// was away in between is first missing and then there again.
  public var onReadersChanged: (@GLibActor ([ReaderDescription]) -> Void)?
  /// Told when a reader starts or stops to wait for a finger, or sees one.
  public var onFingerStatus: (@GLibActor (_ reader: ReaderID, _ needed: Bool, _ present: Bool) -> Void)?
  /// Told when a reader has become warmer or cooler.
  public var onTemperature: (@GLibActor (ReaderID, ReaderTemperature) -> Void)?
  /// Told of a device that libfprint has a driver for but could not set up, and why; for the log.
  public var onDeviceIgnored: (@GLibActor (ReaderError) -> Void)?
  /// Told why a bridge failed and was ended; for the log.
  public var onBridgeFailed: (@GLibActor (String) -> Void)?

  /// Told just before a new bridge is started.
  public var onStart: (@GLibActor () -> Void)?

  /// Whether the bridge stays although none of its readers is open, as while one is open in another process, which a new
  /// bridge would disturb by looking at it.
  public var isHeld = false {
    didSet { if !isHeld, let session { rest(session) } }
  }

  /// Whether no new bridge may be started, as while the machine is about to sleep; requests then fail with
  /// `.bridgeFailed`.
  public var isPaused = false

  let limits: Limits
  private let program: String
  private let arguments: [String]
  private let environment: [String: String]
  private var session: BridgeSession?
  private var registry = ReaderRegistry()
  private var heat = HeatRecord()
  private var policy: StartPolicy
  /// What ``onReadersChanged`` was told last; nil until there was a list.
  private var told: [ReaderRegistry.Presence]?
  private var telling: Task<Void, Never>?
  /// One for each consumer of ``events()``.
  private var wakers: [Int: AsyncStream<Void>.Continuation] = [:]
  private var lastWaker = 0
  private var idleTimer: Task<Void, any Error>?
  /// Why the last bridge that failed did.
  private var lastError: ReaderError?
  /// The end of the last bridge's process.
  private var leaving: Signal?
  /// How many processes the kernel holds although they were killed.
  private var undead = 0

  /// With more than this no other bridge is started.
  private static let undeadLimit = 4

  /// A keeper without a bridge yet.
  ///
  /// - Parameters:
  ///   - program: the path of whorl-reader.
  ///   - arguments: what it is started with; `--private` for a bridge that serves virtual readers.
  ///   - environment: all of the bridge's environment.
  public init(program: String, arguments: [String] = [], environment: [String: String], limits: Limits = .standard) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.limits = limits
    policy = StartPolicy(limits: limits)
  }

  /// The readers that are there now. Starts the bridge if none runs.
  ///
  /// - Throws: where there is none but a device that libfprint knows, why that one cannot be used: `.permissionDenied`,
  ///   `.heldElsewhere` or the driver's own error.
  public func readers() async throws(ReaderError) -> [ReaderDescription] {
    let session = try await liveSession()
    rest(session)
    if session.readers.isEmpty, let reason = session.ignored.first { throw reason }
    return session.readers.map { reader in
      var copy = reader.description
      if heat.secondsLeft(reader.id, in: session.processID, limits: limits) != nil { copy.temperature = .hot }
      return copy
    }
  }

  /// The readers that come and go from now on, for any number of consumers. Each gets what has changed since it looked
  /// last, however often that was: nothing piles up for a slow one. Only a running bridge sees readers come and go.
  public func events() -> AsyncStream<ReaderChange> {
    lastWaker += 1
    let number = lastWaker
    let (wakes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    waker.onTermination = { [weak self] _ in
      Task { @GLibActor in self?.wakers[number] = nil }
    }
    wakers[number] = waker
    let consumer = ChangeConsumer(keeper: self, wakes: wakes, seen: registry.present)
    return AsyncStream { await consumer.next() }
  }

  /// The readers of the last list.
  var present: [ReaderRegistry.Presence] { registry.present }

  /// The bridge's process number, for the log and for tests; nil while none runs.
  public var processID: Int32? { session?.processID }

  /// What the present bridge process has met since its start.
  public struct Encounters: Sendable, Hashable {
    /// How many readers; one that was plugged in again counts again. Not counted beyond a few.
    public var readers: Int
    /// Whether one came after the first list.
    public var later: Bool
    /// Whether there was a device that libfprint has a driver for but could not set up.
    public var hasIgnored: Bool
  }

  /// What the present bridge process has met, by its own word; nil while none runs.
  public var encounters: Encounters? {
    session.map { Encounters(readers: $0.metCount, later: $0.metLater, hasIgnored: !$0.ignored.isEmpty) }
  }

  /// Ends the bridge, for sleep and for the end of the daemon. What runs fails with `.bridgeFailed`; the next request
  /// starts a new bridge. Returns when the process is gone, and within `milliseconds` whatever it is doing: it may close
  /// the readers in the first part of that time, then it is killed; one that the kernel holds is left behind.
  public func stop(milliseconds: Int = 2_000) async {
    // In a task of its own, as the caller's may be cancelled.
    await Task { await self.end(milliseconds: milliseconds) }.value
  }

  private func end(milliseconds: Int) async {
    idleTimer?.cancel()
    guard let session else {
      if let leaving { _ = await leaving.wait(milliseconds: milliseconds) }
      return
    }
    self.session = nil
    let gone = session.gone
    leaving = gone
    let isGone = await session.stop("the readers were stopped", milliseconds: milliseconds)
    if leaving === gone { leaving = nil }
    if !isGone { leaveBehind(session.processID, gone) }
  }

  // MARK: The session

  /// A bridge that has told its readers.
  func liveSession() async throws(ReaderError) -> BridgeSession {
    idleTimer?.cancel()
    let session = try await runningSession()
    await session.ready.wait()
    if let error = session.error {
      if case .bridgeFailed = error, policy.keepsFailing { throw .bridgeKeepsFailing(keepsFailing) }
      throw error
    }
    if Task.isCancelled {
      rest(session)
      throw .cancelled
    }
    return session
  }

  private func runningSession() async throws(ReaderError) -> BridgeSession {
    while true {
      if let session {
        guard session.isOutdated else { return session }
        await stop()
      } else if let leaving {
        // Two bridges at once would fight for the readers. One that does not even die of SIGKILL is not waited for.
        let isGone = await leaving.wait(milliseconds: limits.cancel)
        if !isGone, Task.isCancelled { throw .cancelled }
        if self.leaving === leaving { self.leaving = nil }
      } else {
        switch policy.advice() {
        case .start: return try start()
        case .wait(let milliseconds):
          do { try await glibSleep(milliseconds: milliseconds) } catch { throw .cancelled }
        case .refuse(let milliseconds):
          if case .bridgeUnable(let text)? = lastError { throw .bridgeUnable(text) }
          throw .bridgeKeepsFailing("\(keepsFailing); the next try is in \((milliseconds + 999) / 1000) s")
        }
      }
    }
  }

  private var keepsFailing: String { "\(policy.reason), \(policy.failures) times in a row" }

  /// The bridge and the token of a reader there.
  func locate(_ reader: ReaderID) async throws(ReaderError) -> (BridgeSession, UInt32) {
    let session = try await liveSession()
    if let token = session.token(of: reader) { return (session, token) }
    rest(session)
    if session.readers.isEmpty, let reason = session.ignored.first { throw reason }
    throw .noSuchReader
  }

  /// Asks something of a reader, and waits for the answer.
  func ask(
    _ reader: ReaderID, progress: @escaping @GLibActor (ReaderEvent) -> Void = { _ in },
    _ request: @GLibActor (UInt32) -> ReaderRequest
  ) async throws(ReaderError) -> ReaderReply {
    let (session, token) = try await locate(reader)
    let request = request(token)
    if request.awaitsTouch, let seconds = heat.secondsLeft(reader, in: session.processID, limits: limits) {
      rest(session)
      throw .tooHot("it was hot a moment ago; \(seconds) s to cool down")
    }
    do throws(ReaderError) {
      return try await session.send(request, progress: progress)
    } catch {
      if case .tooHot = error { heat.note(reader, .hot, by: session.processID, limits: limits) }
      throw error
    }
  }

  /// Waits until the reader has let go of the finger whose verdict it told early; after so many milliseconds ends its
  /// wait for that.
  public func settle(_ reader: ReaderID, milliseconds: Int) async {
    guard let session, let token = session.token(of: reader) else { return }
    await session.letGo(token, milliseconds)
  }

  private func start() throws(ReaderError) -> BridgeSession {
    if isPaused { throw .bridgeFailed("the machine is about to sleep") }
    guard undead <= Self.undeadLimit else {
      throw .bridgeKeepsFailing("the kernel holds \(undead) of its processes; only a restart of the machine ends them")
    }
    registry.beginSession()
    onStart?()
    let session: BridgeSession
    do throws(ReaderError) {
      session = try BridgeSession(
        program: program, arguments: arguments, environment: environment, limits: limits
      ) { [weak self] in self?.registry.take($0) ?? [] }
    } catch {
      if case .bridgeFailed(let reason) = error { policy.noteFailure(reason) }
      throw error
    }
    self.session = session
    session.onReaders = { [weak self] in self?.noteReadersSoon() }
    session.onFailure = { [weak self, weak session] reason in
      guard let self, let session else { return }
      if self.session === session {
        self.session = nil
        leaving = session.gone
        policy.noteFailure(reason)
        lastError = session.error
        seeOff(session.processID, session.gone)
      }
      onBridgeFailed?(reason)
    }
    session.onService = { [weak self] in self?.policy.noteService() }
    session.onFingerStatus = { [weak self] in self?.onFingerStatus?($0, $1, $2) }
    session.onTemperature = { [weak self, weak session] reader, temperature in
      guard let self, let session else { return }
      heat.note(reader, temperature, by: session.processID, limits: limits)
      rest(session)
      onTemperature?(reader, temperature)
    }
    session.onIgnored = { [weak self] in self?.onDeviceIgnored?($0) }
    session.onRequestEnded = { [weak self, weak session] in
      guard let self, let session else { return }
      noteReaders()
      rest(session)
    }
    return session
  }

  /// Lets an idle bridge go after its time.
  private func rest(_ session: BridgeSession) {
    guard session === self.session, session.isIdle, !isHeld else { return }
    idleTimer?.cancel()
    let time = session.isWarm ? max(limits.idle, limits.idleWarm) : limits.idle
    idleTimer = Task { [weak self] in
      try await glibSleep(milliseconds: time)
      guard let self, session === self.session, session.isIdle, !isHeld else { return }
      await stop()
    }
  }

  /// Watches the end of a process that was killed.
  private func seeOff(_ process: Int32, _ gone: Signal) {
    Task { [weak self, limits] in
      if await !gone.wait(milliseconds: limits.cancel) { self?.leaveBehind(process, gone) }
    }
  }

  private func leaveBehind(_ process: Int32, _ gone: Signal) {
    undead += 1
    onBridgeFailed?("process \(process) does not end though it was killed, the kernel holds it; it is left behind")
    Task { [weak self] in
      await gone.wait()
      self?.undead -= 1
    }
  }

  // MARK: Coming and going

  /// Once for however many lists come in one piece.
  private func noteReadersSoon() {
    guard telling == nil else { return }
    telling = Task { [weak self] in
      self?.telling = nil
      self?.noteReaders()
    }
  }

  private func noteReaders() {
    let new = registry.present.map(\.plain)
    let old = told
    told = new
    if old != new { for waker in wakers.values { waker.yield() } }
    guard let old, old != new else { return }
    // One that was away in between has to be seen to have gone.
    let stayed = new.filter { reader in !old.contains { $0.id == reader.id && $0.incarnation != reader.incarnation } }
    if stayed.count < new.count { onReadersChanged?(stayed.map(\.description)) }
    onReadersChanged?(new.map(\.description))
  }

  isolated deinit { for waker in wakers.values { waker.finish() } }
}

/// One consumer of the readers' coming and going.
@GLibActor
private final class ChangeConsumer {
  private weak var keeper: ReaderKeeper?
  private var wakes: AsyncStream<Void>.Iterator
  private var seen: [ReaderRegistry.Presence]

  init(keeper: ReaderKeeper, wakes: AsyncStream<Void>, seen: [ReaderRegistry.Presence]) {
    self.keeper = keeper
    self.wakes = wakes.makeAsyncIterator()
    self.seen = seen
  }

  func next() async -> ReaderChange? {
    var iterator = wakes
    defer { wakes = iterator }
    while await iterator.next(isolation: GLibActor.shared) != nil {
      guard let keeper else { return nil }
      let now = keeper.present
      defer { seen = now }
      if let change = ReaderChange(from: seen, to: now) { return change }
    }
    return nil
  }
}

extension ReaderRegistry.Presence {
  /// Without what differs from bridge to bridge and from moment to moment.
  fileprivate var plain: ReaderRegistry.Presence {
    var copy = self
    copy.description.token = 0
    copy.description.temperature = .cold
    return copy
  }
}
