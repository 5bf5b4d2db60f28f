internal import GLibLoop
internal import ReaderLink

/// The life of one bridge process: what it was asked, what it may answer, and its end when it does not keep to that.
@GLibActor
final class BridgeSession {
  /// Fires when the readers are known, or when the bridge has failed before.
  let ready = Signal()
  /// Why it failed; nil while it works.
  private(set) var failure: String?
  /// The readers as the bridge told last, by what stays the same; their tokens are this bridge's.
  private(set) var readers: [ReaderRegistry.Presence] = []
  /// Devices that libfprint has drivers for but could not set up.
  private(set) var ignored: [ReaderError] = []
  /// How many readers the process has met since its start; one that was plugged in again counts again. Not counted
  /// beyond a few.
  var metCount: Int { met.count }
  /// Whether one came after the first list.
  private(set) var metLater = false
  /// The readers that were opened and not closed.
  private(set) var open: Set<UInt32> = []

  /// Tells which readers those of a list are; asked for each list.
  private let recognise: @GLibActor ([ReaderDescription]) -> [ReaderRegistry.Presence]
  /// Told when the list of readers has changed by itself.
  var onReaders: (@GLibActor () -> Void)?
  /// Told how warm a reader has become.
  var onTemperature: (@GLibActor (ReaderID, ReaderTemperature) -> Void)?
  /// Told of a device that could not be set up.
  var onIgnored: (@GLibActor (ReaderError) -> Void)?
  /// Told what a reader waits for.
  var onFingerStatus: (@GLibActor (_ reader: ReaderID, _ needed: Bool, _ present: Bool) -> Void)?
  /// Told once when it has failed.
  var onFailure: (@GLibActor (String) -> Void)?
  /// Told when a request has ended.
  var onRequestEnded: (@GLibActor () -> Void)?
  /// Told when the bridge has done something that it was asked, however that ended.
  var onService: (@GLibActor () -> Void)?

  private let process: BridgeProcess
  private let limits: ReaderKeeper.Limits
  private var decoder = FrameDecoder(limit: LinkLimits.answerBytes)
  private var greeted = false
  private var lastNumber: UInt64 = 0
  private var pending: [UInt64: PendingRequest] = [:]
  private var watchdog: Task<Void, any Error>?
  /// The bytes of what is asked.
  private var pendingBytes = 0
  private var met: Set<UInt32> = []
  private var events = EventAllowance.events
  private var arrivals = EventAllowance.arrivals
  private let started = ContinuousClock.now

  /// More than this at once are refused, so that no client fills the bridge's memory.
  private static let requestLimit = 48
  /// Starts the program.
  init(
    program: String, arguments: [String], environment: [String: String], limits: ReaderKeeper.Limits,
    recognise: @escaping @GLibActor ([ReaderDescription]) -> [ReaderRegistry.Presence]
  ) throws(ReaderError) {
    self.limits = limits
    self.recognise = recognise
    process = try BridgeProcess(program: program, arguments: arguments, environment: environment)
    process.stream.onBytes = { [weak self] in self?.receive($0) }
    process.stream.onEnd = { [weak self] in self?.streamEnded($0) }
    // Strong on purpose: the session lives until the bridge has told its readers or failed.
    Task {
      guard await !ready.wait(milliseconds: limits.start) else { return }
      fail("it did not start within \(limits.start) ms")
    }
    Task { _ = try? await send(.enumerate) }
  }

  /// The bridge's process number.
  var processID: Int32 { process.pid }

  /// ``failure`` as an error; another one where a new bridge would fail as this one did.
  var error: ReaderError? {
    failure.map { process.refusal.map { ReaderError.bridgeUnable($0.text) } ?? .bridgeFailed($0) }
  }

  /// Whether nothing is asked and nothing is open.
  var isIdle: Bool { open.isEmpty && pending.values.allSatisfy { $0.request == .ping } }

  /// Whether a reader is not cold, as only this bridge knows.
  var isWarm: Bool { readers.contains { $0.description.temperature != .cold } }

  /// Whether it found nothing but devices that could not be set up, so long ago that another bridge may find them better.
  var isOutdated: Bool {
    readers.isEmpty && !ignored.isEmpty && isIdle && ContinuousClock.now - started > .milliseconds(limits.ignoredDevice)
  }

  /// Fires when its process has ended and was reaped.
  var gone: Signal { process.exited }

  /// Asks, and waits for the answer. Cancelling the task cancels the request.
  func send(
    _ request: ReaderRequest, progress: @escaping @GLibActor (ReaderEvent) -> Void = { _ in }
  ) async throws(ReaderError) -> ReaderReply {
    if let reader = request.reader { await settle(reader, for: request) }
    if let error { throw error }
    guard pending.count < Self.requestLimit else { throw .busy("too many requests wait for the readers") }
    lastNumber += 1
    let number = lastNumber
    let bytes: [UInt8]
    do throws(LinkError) {
      bytes = try NumberedRequest(number: number, request: request).encoded()
    } catch {
      throw .dataInvalid(error.description)
    }
    // The bridge's queue holds one more of the largest size than is let in here.
    guard pendingBytes + bytes.count <= LinkLimits.requestBytes + (1 << 20) else {
      throw .busy("too many prints wait to be compared")
    }
    let result = await withTaskCancellationHandler {
      if Task.isCancelled { return Result<ReaderReply, ReaderError>.failure(.cancelled) }
      return await withCheckedContinuation { waiter in
        let entry = PendingRequest(number: number, request: request, progress: progress, waiter: waiter)
        entry.bytes = bytes.count
        pendingBytes += bytes.count
        pending[number] = entry
        if !request.awaitsTouch, request != .enumerate, request != .ping {
          entry.limit(milliseconds: limits.answer) { [weak self] in self?.fail("it did not answer in time") }
        }
        process.stream.send(bytes)
        watch()
      }
    } onCancel: {
      Task { @GLibActor in self.cancel(number) }
    }
    return try result.get()
  }

  /// Ends it within that time, in good order where it lets that happen, and by force otherwise; whether it is gone.
  func stop(_ reason: String, milliseconds: Int) async -> Bool {
    abandon(reason)
    return await process.end(milliseconds: milliseconds)
  }

  /// Ends it by force; what was asked fails once, with this reason.
  private func fail(_ reason: String) {
    guard failure == nil else { return }
    process.stream.close()
    process.kill()
    abandon(reason)
    process.keepUntilReaped()
    onFailure?(reason)
  }

  private func abandon(_ reason: String) {
    guard failure == nil else { return }
    failure = reason
    watchdog?.cancel()
    let entries = pending.values
    pending = [:]
    pendingBytes = 0
    open = []
    for entry in entries { entry.abandon(reason) }
    ready.fire()
  }

  // MARK: Requests

  /// After an early verdict the bridge may still wait for the finger to be lifted; the reader's next request waits too,
  /// but not for ever. Closing does not: it ends that wait.
  private func settle(_ reader: UInt32, for request: ReaderRequest) async {
    while let entry = pending.values.first(where: { $0.request.reader == reader && $0.isSettling }) {
      let patience =
        switch request {
        case .close: 0
        case let request where request.awaitsTouch: limits.settle
        default: min(limits.settle, 1_000)
        }
      if await !entry.ended.wait(milliseconds: patience), !Task.isCancelled { cancel(entry.number) }
      await entry.ended.wait()
      if Task.isCancelled { return }
    }
  }

  /// Waits for the end of a request whose verdict was told early, at most so long, and cancels it then.
  func letGo(_ reader: UInt32, _ milliseconds: Int) async {
    guard let entry = pending.values.first(where: { $0.request.reader == reader && $0.isSettling }) else { return }
    if await entry.ended.wait(milliseconds: milliseconds) { return }
    cancel(entry.number)
    await entry.ended.wait()
  }

  private func cancel(_ number: UInt64) {
    guard let entry = pending[number], entry.markCancelled() else { return }
    lastNumber += 1
    if let bytes = try? NumberedRequest(number: lastNumber, request: .cancel(request: number)).encoded() {
      process.stream.send(bytes)
    }
    entry.limit(milliseconds: limits.cancel + limits.pongPerPrint * entry.printCount) { [weak self] in
      self?.fail("it did not cancel in time")
    }
  }

  /// Asks for signs of life for as long as anything is pending.
  private func watch() {
    guard watchdog == nil else { return }
    watchdog = Task { [weak self, limits] in
      defer { self?.watchdog = nil }
      while let self, failure == nil, pending.values.contains(where: { $0.request != .ping }) {
        let ping = Task { [weak self] in _ = try? await self?.send(.ping) }
        let answered = Signal()
        Task {
          await ping.value
          answered.fire()
        }
        let prints = pending.values.reduce(0) { $0 + $1.printCount }
        let patience = limits.pong + limits.pongPerPrint * prints
        if await !answered.wait(milliseconds: patience) { return fail("it stopped answering") }
        try await glibSleep(milliseconds: limits.pingInterval)
      }
    }
  }

  // MARK: Answers

  private func receive(_ bytes: [UInt8]) {
    guard failure == nil else { return }
    decoder.append(bytes)
    do throws(LinkError) {
      while failure == nil, let message = try decoder.next() {
        if !accept(try ReaderAnswer(decoding: message)) { fail("it answered nonsense") }
      }
    } catch {
      fail("it answered nonsense: \(error)")
    }
  }

  /// Takes one message; false when no honest bridge sends it.
  private func accept(_ answer: ReaderAnswer) -> Bool {
    switch answer {
    case .hello(let version, _):
      guard !greeted, version == LinkLimits.version else { return false }
      greeted = true
      return true
    case .reply(let number, let reply):
      guard greeted, let entry = pending[number] else { return false }
      if case .readers(let list) = reply, !take(list) { return false }
      guard entry.finish(reply) else { return false }
      pending[number] = nil
      pendingBytes -= entry.bytes
      note(entry.request, reply)
      return true
    case .event(let event):
      guard greeted, events.spend() else { return false }
      return accept(event)
    }
  }

  private func accept(_ event: ReaderEvent) -> Bool {
    switch event {
    case .readersChanged(let list):
      guard arrivals.spend(), take(list) else { return false }
      onReaders?()
      return true
    case .fingerStatus(let token, let needed, let present):
      // One that came or went a moment ago may not be in the list yet, or no more.
      if let reader = reader(token) { onFingerStatus?(reader, needed, present) }
      return true
    case .temperature(let token, let temperature):
      guard let index = readers.firstIndex(where: { $0.description.token == token }) else { return true }
      readers[index].description.temperature = temperature
      onTemperature?(readers[index].id, temperature)
      return true
    case .deviceIgnored(let error):
      guard arrivals.spend() else { return false }
      let error = error.sanitized
      if ignored.count < LinkLimits.readers { ignored.append(error) }
      onIgnored?(error)
      return true
    case .enrollProgress, .retry, .verdict, .unusablePrints, .strangerPrint:
      guard let number = event.request, let entry = pending[number] else { return false }
      return entry.accept(event)
    }
  }

  private func take(_ list: [ReaderDescription]) -> Bool {
    guard Set(list.map(\.token)).count == list.count else { return false }
    readers = recognise(list.map(\.sanitized))
    let tokens = Set(list.map(\.token))
    if !tokens.isSubset(of: met) {
      if ready.hasFired { metLater = true }
      if met.count <= LinkLimits.readers { met.formUnion(tokens) }
    }
    open.formIntersection(tokens)
    for entry in pending.values {
      // libfprint ends what runs on an unplugged reader by itself; a driver may fail to.
      guard let reader = entry.request.reader, !tokens.contains(reader), entry.markOrphaned() else { continue }
      entry.limit(milliseconds: limits.cancel) { [weak self] in self?.fail("it did not let go of an unplugged reader") }
    }
    return true
  }

  /// The reader with that token.
  private func reader(_ token: UInt32) -> ReaderID? { readers.first { $0.description.token == token }?.id }

  /// The token of a reader; nil where it is not there.
  func token(of reader: ReaderID) -> UInt32? { readers.first { $0.id == reader }?.description.token }

  private func note(_ request: ReaderRequest, _ reply: ReaderReply) {
    switch (request, reply) {
    case (.enumerate, .readers): ready.fire()
    case (.enumerate, _): fail("it could not list the readers")
    case (.open(let reader), .done): open.insert(reader)
    case (.close(let reader), .done), (.close(let reader), .failed(.notOpen)): open.remove(reader)
    default: break
    }
    guard request != .ping else { return }
    if request != .enumerate { onService?() }
    onRequestEnded?()
  }

  private func streamEnded(_ end: ByteStream.End) {
    guard failure == nil else { return }
    if end == .overflow { return fail("it does not read what it is asked") }
    // How the process ended is worth a moment; kill is for one that only closed its socket.
    Task {
      if await !process.exited.wait(milliseconds: 200) { process.kill() }
      await process.exited.wait()
      fail("it \(process.ending ?? "ended")")
    }
  }
}

/// How many events a bridge may still send.
private struct EventAllowance {
  private let most: Double
  private let perSecond: Double
  private var left: Double
  private var updated = ContinuousClock.now

  /// Of all kinds: a sensor tells some in a second, never thousands for long.
  static let events = EventAllowance(most: 10_000, perSecond: 200)
  /// Of those that readers came, went or could not be set up: each may cost a new object on the bus and lines in the
  /// log, and hands plug things in and out.
  static let arrivals = EventAllowance(most: 100, perSecond: 2)

  private init(most: Double, perSecond: Double) {
    self.most = most
    self.perSecond = perSecond
    left = most
  }

  /// Takes one event; false when there were too many.
  mutating func spend() -> Bool {
    let now = ContinuousClock.now
    left = min(most, left + (now - updated) / .seconds(1) * perSecond) - 1
    updated = now
    return left >= 0
  }
}
