internal import GLibLoop
internal import ReaderLink

/// The life of one bridge process: what it was asked, what it may answer, and its end when it does not keep to that.
@GLibActor
final class BridgeSession {
  /// Fires when the readers are known, or when the bridge has failed before.
  let ready = Signal()
  /// Why it failed; nil while it works.
  private(set) var failure: String?
  /// The readers as the bridge told last.
  private(set) var readers: [ReaderDescription] = []
  /// The readers that were opened and not closed.
  private(set) var open: Set<UInt32> = []

  /// Told when the list of readers has changed.
  var onReaders: (@GLibActor ([ReaderDescription]) -> Void)?
  /// Told what a reader waits for.
  var onFingerStatus: (@GLibActor (_ reader: UInt32, _ needed: Bool, _ present: Bool) -> Void)?
  /// Told once when it has failed.
  var onFailure: (@GLibActor (String) -> Void)?
  /// Told when a request has ended.
  var onRequestEnded: (@GLibActor () -> Void)?

  private let process: BridgeProcess
  private let limits: ReaderKeeper.Limits
  private var decoder = FrameDecoder(limit: LinkLimits.answerBytes)
  private var greeted = false
  private var lastNumber: UInt64 = 0
  private var pending: [UInt64: PendingRequest] = [:]
  private var watchdog: Task<Void, any Error>?
  private var eventsSinceReply = 0

  /// More than this at once are refused, so that no client fills the bridge's memory.
  private static let requestLimit = 48
  /// More events than this without an answer between them are no sensor's.
  private static let eventLimit = 10_000

  /// Starts the program.
  init(program: String, environment: [String: String], limits: ReaderKeeper.Limits) throws(ReaderError) {
    self.limits = limits
    process = try BridgeProcess(program: program, environment: environment)
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

  /// Whether nothing is asked and nothing is open.
  var isIdle: Bool { open.isEmpty && pending.values.allSatisfy { $0.request == .ping } }

  /// Fires when its process has ended and was reaped.
  var gone: Signal { process.exited }

  /// Asks, and waits for the answer. Cancelling the task cancels the request.
  func send(
    _ request: ReaderRequest, progress: @escaping @GLibActor (ReaderEvent) -> Void = { _ in }
  ) async throws(ReaderError) -> ReaderReply {
    if let reader = request.reader { await settle(reader, for: request) }
    if let failure { throw .bridgeFailed(failure) }
    guard pending.count < Self.requestLimit else { throw .busy("too many requests wait for the readers") }
    lastNumber += 1
    let number = lastNumber
    let bytes: [UInt8]
    do throws(LinkError) {
      bytes = try NumberedRequest(number: number, request: request).encoded()
    } catch {
      throw .dataInvalid(error.description)
    }
    let result = await withTaskCancellationHandler {
      if Task.isCancelled { return Result<ReaderReply, ReaderError>.failure(.cancelled) }
      return await withCheckedContinuation { waiter in
        let entry = PendingRequest(number: number, request: request, progress: progress, waiter: waiter)
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

  /// Ends it in good order where it lets that happen in time, and by force otherwise.
  func stop(_ reason: String) async {
    abandon(reason)
    process.stream.close()
    if await !process.exited.wait(milliseconds: limits.cancel) { process.kill() }
    await process.exited.wait()
  }

  /// Ends it by force; what was asked fails once, with this reason.
  private func fail(_ reason: String) {
    guard failure == nil else { return }
    process.stream.close()
    process.kill()
    abandon(reason)
    // The process is held until it is reaped.
    Task { [process] in await process.exited.wait() }
    onFailure?(reason)
  }

  private func abandon(_ reason: String) {
    guard failure == nil else { return }
    failure = reason
    watchdog?.cancel()
    let entries = pending.values
    pending = [:]
    open = []
    for entry in entries { entry.abandon(reason) }
    ready.fire()
  }

  // MARK: Requests

  /// After an early verdict the bridge may still wait for the finger to be lifted; the reader's next request waits too.
  /// Only closing does not: it ends that wait.
  private func settle(_ reader: UInt32, for request: ReaderRequest) async {
    while let entry = pending.values.first(where: { $0.request.reader == reader && $0.isSettling }) {
      if case .close = request { cancel(entry.number) }
      await entry.ended.wait()
      if Task.isCancelled { return }
    }
  }

  private func cancel(_ number: UInt64) {
    guard let entry = pending[number], entry.markCancelled() else { return }
    lastNumber += 1
    if let bytes = try? NumberedRequest(number: lastNumber, request: .cancel(request: number)).encoded() {
      process.stream.send(bytes)
    }
    entry.limit(milliseconds: limits.cancel) { [weak self] in self?.fail("it did not cancel in time") }
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
        if await !answered.wait(milliseconds: limits.pong) { return fail("it stopped answering") }
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
      eventsSinceReply = 0
      note(entry.request, reply)
      return true
    case .event(let event):
      eventsSinceReply += 1
      guard greeted, eventsSinceReply <= Self.eventLimit else { return false }
      return accept(event)
    }
  }

  private func accept(_ event: ReaderEvent) -> Bool {
    switch event {
    case .readersChanged(let list):
      guard take(list) else { return false }
      onReaders?(readers)
      return true
    case .fingerStatus(let reader, let needed, let present):
      guard readers.contains(where: { $0.token == reader }) else { return false }
      onFingerStatus?(reader, needed, present)
      return true
    case .enrollProgress, .retry, .verdict, .unusablePrints:
      guard let number = event.request, let entry = pending[number] else { return false }
      return entry.accept(event)
    }
  }

  private func take(_ list: [ReaderDescription]) -> Bool {
    guard Set(list.map(\.token)).count == list.count else { return false }
    readers = list.map(\.sanitized)
    open.formIntersection(list.map(\.token))
    return true
  }

  private func note(_ request: ReaderRequest, _ reply: ReaderReply) {
    switch (request, reply) {
    case (.enumerate, .readers): ready.fire()
    case (.enumerate, _): fail("it could not list the readers")
    case (.open(let reader), .done): open.insert(reader)
    case (.close(let reader), .done), (.close(let reader), .failed(.notOpen)): open.remove(reader)
    default: break
    }
    if request != .ping { onRequestEnded?() }
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

extension ReaderDescription {
  /// The same with its texts cut to what is printable.
  fileprivate var sanitized: ReaderDescription {
    var copy = self
    copy.driver = driver.printable
    copy.deviceID = deviceID.printable
    copy.name = name.printable
    copy.hint = hint.printable
    return copy
  }
}
