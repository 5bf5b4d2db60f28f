internal import Bus
internal import EmbeddedLink
internal import Foundation
internal import Glibc
internal import SecretMemory
internal import Synchronization

/// Hears from the helper, on a thread of its own: nothing here needs Swift's thread pool, or anybody's main loop.
final class EventPump: Sendable {
  typealias Passcode = @Sendable (EmbeddedRequest) -> Data?
  typealias Progress = @Sendable (EnrollmentStep) -> Void

  private struct Operation {
    let progress: Progress
    let finish: @Sendable (Result<[String: BusValue], EmbeddedError>) -> Void
  }

  private struct State {
    var operations: [UInt64: Operation] = [:]
    var lastNumber: UInt64 = 0
    var hasEnded = false
  }

  private let bus: BlockingBus
  private let passcode: Passcode?
  private let state = Mutex(State())

  init(bus: BlockingBus, passcode: Passcode?) {
    self.bus = bus
    self.passcode = passcode
  }

  /// Begins to listen, until the connection closes.
  func start() {
    Thread.detachNewThread { [self] in
      while let (kind, number, details) = next() { take(kind, number, details) }
      let left = state.withLock { state in
        state.hasEnded = true
        defer { state.operations = [:] }
        return state.operations.values.map(\.finish)
      }
      for finish in left { finish(.failure(Self.ended)) }
    }
  }

  /// Ends it.
  func stop() { bus.close() }

  private static let ended = EmbeddedError(.ended, "The enclave has ended; start it again.")

  // MARK: Operations

  /// Has the helper do something that takes its time.
  func run(
    _ method: String, _ finger: String?, progress: @escaping Progress = { _ in }
  ) async throws(EmbeddedError) -> [String: BusValue] {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        begin(method, number, finger, Operation(progress: progress, finish: { continuation.resume(returning: $0) }))
      }
    } onCancel: {
      send("Cancel", [.uint64(number)])
    }
    return try result.get()
  }

  private func begin(_ method: String, _ number: UInt64, _ finger: String?, _ operation: Operation) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.operations[number] = operation }
      return state.hasEnded
    }
    guard !hasEnded else { return operation.finish(.failure(Self.ended)) }
    guard !Task.isCancelled else {
      return finish(number, .failure(EmbeddedError(.cancelled, "The request was cancelled.")))
    }
    // Where the connection is gone, the thread that listens says so.
    send(method, [.uint64(number)] + (finger.map { [.string($0)] } ?? []))
    // The wish to cancel may have overtaken it.
    if Task.isCancelled { send("Cancel", [.uint64(number)]) }
  }

  private func finish(_ number: UInt64, _ result: Result<[String: BusValue], EmbeddedError>) {
    state.withLock { $0.operations.removeValue(forKey: number) }?.finish(result)
  }

  // MARK: Events

  private func next() -> (EmbeddedLink.Event, UInt64, [String: BusValue])? {
    let reply = try? bus.call(
      destination: EmbeddedLink.name, path: EmbeddedLink.path, interface: EmbeddedLink.interface, method: "Next",
      expecting: "sta{sv}", timeoutMilliseconds: nil, options: .noAutoStart)
    guard let reply, let kind = reply.arguments[0].asString.flatMap({ EmbeddedLink.Event(rawValue: $0) }),
      let number = reply.arguments[1].asUInt64
    else { return nil }
    return (kind, number, reply.arguments[2].asOptions ?? [:])
  }

  private func take(_ kind: EmbeddedLink.Event, _ number: UInt64, _ details: [String: BusValue]) {
    switch kind {
    case .none: break
    case .passcode:
      // A thread of its own: a person may take long, and other things happen meanwhile.
      Thread.detachNewThread { [self] in answer(number, EmbeddedRequest(details)) }
    case .ready: tell(number, .ready(touches: details["touches"]?.asUInt32.map(Int.init)))
    case .scan: if let step = EnrollmentStep(word: details["word"]?.asString ?? "") { tell(number, step) }
    case .done: finish(number, .success(details))
    case .failed:
      let failure = details["code"]?.asString.flatMap { EmbeddedLink.Failure(rawValue: $0) } ?? .failed
      finish(number, .failure(EmbeddedError(EmbeddedError.Code(failure), details["message"]?.asString ?? "It failed.")))
    }
  }

  private func tell(_ number: UInt64, _ step: EnrollmentStep) {
    let progress = state.withLock { $0.operations[number]?.progress }
    progress?(step)
  }

  private func answer(_ number: UInt64, _ request: EmbeddedRequest) {
    guard let data = passcode?(request), !data.isEmpty, let file = try? Self.seal(data)
    else { return send("Decline", [.uint64(number)]) }
    // The helper has its own copy of the descriptor once it has answered.
    _ = try? bus.call(
      destination: EmbeddedLink.name, path: EmbeddedLink.path, interface: EmbeddedLink.interface, method: "Answer",
      arguments: [.uint64(number), .handle(0)], descriptors: [file], expecting: "")
    close(file)
  }

  private static func seal(_ data: Data) throws -> Int32 {
    var secret = try SecretBytes(count: data.count)
    secret.withUnsafeMutableBytes { $0.copyBytes(from: data) }
    return try SecretFile.seal(secret, name: "whorl-passcode")
  }

  private func send(_ method: String, _ arguments: [BusValue]) {
    try? bus.send(
      destination: EmbeddedLink.name, path: EmbeddedLink.path, interface: EmbeddedLink.interface, method: method,
      arguments: arguments)
  }
}
