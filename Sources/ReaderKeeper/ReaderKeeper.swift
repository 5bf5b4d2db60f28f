public import GLibLoop
public import ReaderLink

/// whorld's side of the readers: keeps a whorl-reader process while there is use for one, and replaces it when it dies,
/// stops answering or speaks nonsense.
///
/// A failing bridge costs each running request one `.bridgeFailed`; the next request starts a new bridge, where readers
/// have to be opened again. Cancelling a task cancels its request: it ends with `.cancelled`, or with the result that
/// was there before.
@GLibActor
public final class ReaderKeeper {
  /// Told of the new list when readers came or went, or when a new bridge finds others than the last one.
  public var onReadersChanged: (@GLibActor ([ReaderDescription]) -> Void)?
  /// Told when a reader starts or stops to wait for a finger, or sees one.
  public var onFingerStatus: (@GLibActor (_ reader: ReaderID, _ needed: Bool, _ present: Bool) -> Void)?
  /// Told why a bridge failed and was ended; for the log.
  public var onBridgeFailed: (@GLibActor (String) -> Void)?

  /// Whether no new bridge may be started, as while the machine is about to sleep; requests then fail with
  /// `.bridgeFailed`.
  public var isPaused = false

  let limits: Limits
  private let program: String
  private let environment: [String: String]
  private var session: BridgeSession?
  private var lastReaders: [ReaderDescription]?
  private var idleTimer: Task<Void, any Error>?
  /// The end of the last bridge's process.
  private var leaving: Signal?

  /// A keeper without a bridge yet.
  ///
  /// - Parameters:
  ///   - program: the path of whorl-reader.
  ///   - environment: all of the bridge's environment.
  public init(program: String, environment: [String: String], limits: Limits = .standard) {
    self.program = program
    self.environment = environment
    self.limits = limits
  }

  /// The readers that are there now. Starts the bridge if none runs.
  public func readers() async throws(ReaderError) -> [ReaderDescription] {
    let session = try await liveSession()
    rest(session)
    return session.readers
  }

  /// The bridge's process number, for the log and for tests; nil while none runs.
  public var processID: Int32? { session?.processID }

  /// Ends the bridge, for sleep and for the end of the daemon. What runs fails with `.bridgeFailed`; the next request
  /// starts a new bridge. Returns when the process is gone.
  public func stop() async {
    guard let session else { return }
    self.session = nil
    leaving = session.gone
    idleTimer?.cancel()
    await session.stop("the readers were stopped")
  }

  // MARK: The session

  /// A bridge that has told its readers.
  func liveSession() async throws(ReaderError) -> BridgeSession {
    idleTimer?.cancel()
    // Two bridges at once would fight for the readers. One that does not even die of SIGKILL is not waited for.
    while session == nil, let leaving {
      _ = await leaving.wait(milliseconds: limits.cancel)
      if self.leaving === leaving { self.leaving = nil }
    }
    let session: BridgeSession
    if let running = self.session { session = running } else { session = try start() }
    await session.ready.wait()
    if let failure = session.failure { throw .bridgeFailed(failure) }
    if Task.isCancelled {
      rest(session)
      throw .cancelled
    }
    return session
  }

  /// The bridge and the token of a reader there.
  func locate(_ reader: ReaderID) async throws(ReaderError) -> (BridgeSession, UInt32) {
    let session = try await liveSession()
    guard let index = ReaderID.ids(of: session.readers).firstIndex(of: reader) else {
      rest(session)
      throw .noSuchReader
    }
    return (session, session.readers[index].token)
  }

  private func start() throws(ReaderError) -> BridgeSession {
    if isPaused { throw .bridgeFailed("the machine is about to sleep") }
    let session = try BridgeSession(program: program, environment: environment, limits: limits)
    self.session = session
    session.onReaders = { [weak self] in self?.noteReaders($0) }
    session.onFailure = { [weak self, weak session] reason in
      guard let self, let session else { return }
      if self.session === session {
        self.session = nil
        leaving = session.gone
      }
      onBridgeFailed?(reason)
    }
    session.onFingerStatus = { [weak self, weak session] token, needed, present in
      guard let self, let session, let index = session.readers.firstIndex(where: { $0.token == token }) else { return }
      onFingerStatus?(ReaderID.ids(of: session.readers)[index], needed, present)
    }
    session.onRequestEnded = { [weak self, weak session] in
      guard let self, let session else { return }
      noteReaders(session.readers)
      rest(session)
    }
    return session
  }

  /// Lets an idle bridge go after its time.
  private func rest(_ session: BridgeSession) {
    guard session === self.session, session.isIdle else { return }
    idleTimer?.cancel()
    idleTimer = Task { [weak self] in
      try await glibSleep(milliseconds: self?.limits.idle ?? 0)
      guard let self, session === self.session, session.isIdle else { return }
      await stop()
    }
  }

  private func noteReaders(_ readers: [ReaderDescription]) {
    // Tokens differ from bridge to bridge and mean nothing outside.
    let plain = readers.map { reader in
      var copy = reader
      copy.token = 0
      return copy
    }
    defer { lastReaders = plain }
    if let lastReaders, lastReaders != plain { onReadersChanged?(readers) }
  }
}
