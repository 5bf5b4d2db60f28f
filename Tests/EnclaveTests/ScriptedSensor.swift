import Enclave
import Keychain
import Synchronization

/// A reader whose fingers the test presses. Counts what the enclave must never do: arm it twice at a time.
final class ScriptedSensor: BiometrySensor {
  private struct Wait {
    let request: MatchRequest
    let progress: @Sendable (MatchProgress) -> Void
    let continuation: CheckedContinuation<Result<MatchOutcome, SensorError>, Never>
  }
  private struct State {
    var current: Wait?
    var availability: BiometryAvailability = .available(fingers: ["right-index-finger"])
    var lingers = false
    var mostAtOnce = 0
    var running = 0
    var availabilityGate: [CheckedContinuation<Void, Never>]?
  }
  private let state = Mutex(State())
  /// Each time the reader was armed.
  let armings = EventLog<MatchRequest>()
  /// The waits that were told to end.
  let cancels = EventLog<UInt64>()
  /// Each question whether a finger can be asked for.
  let questions = EventLog<UserID>()

  var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }
  var isArmed: Bool { state.withLock { $0.running > 0 } }
  func setAvailability(_ availability: BiometryAvailability) { state.withLock { $0.availability = availability } }
  /// After a cancel the reader lets go only when the test gives a verdict.
  func setLingers(_ lingers: Bool) { state.withLock { $0.lingers = lingers } }
  /// The next questions are not answered until `answerQuestions`.
  func holdQuestions() { state.withLock { $0.availabilityGate = [] } }
  func answerQuestions() {
    let held = state.withLock { state in
      defer { state.availabilityGate = nil }
      return state.availabilityGate ?? []
    }
    for continuation in held { continuation.resume() }
  }

  func availability(of user: UserID) async -> BiometryAvailability {
    questions.append(user)
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        guard state.availabilityGate != nil else { return true }
        state.availabilityGate?.append(continuation)
        return false
      }
      if passes { continuation.resume() }
    }
    return state.withLock { $0.availability }
  }

  func match(
    _ request: MatchRequest, progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(SensorError) -> MatchOutcome {
    state.withLock { state in
      state.running += 1
      state.mostAtOnce = max(state.mostAtOnce, state.running)
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0.current = Wait(request: request, progress: progress, continuation: continuation) }
        progress(.waiting(reader: "Scripted", scanType: "press", fingers: ["right-index-finger"]))
        armings.append(request)
        if Task.isCancelled { cancelled(request.id) }
      }
    } onCancel: {
      cancelled(request.id)
    }
    state.withLock { $0.running -= 1 }
    return try result.get()
  }

  private func cancelled(_ id: UInt64) {
    cancels.append(id)
    if !state.withLock({ $0.lingers }) { end(.failure(.cancelled), only: id) }
  }

  /// Waits until the reader was armed that many times, and gives that request.
  @discardableResult
  func armed(_ count: Int) async throws(CancellationError) -> MatchRequest {
    try await armings.wait { $0.count >= count }
    return armings.events[count - 1]
  }

  /// Ends the current wait; false where there is none (or another than `only`).
  @discardableResult
  func end(_ result: Result<MatchOutcome, SensorError>, only: UInt64? = nil) -> Bool {
    let wait = state.withLock { state -> Wait? in
      guard let wait = state.current, only == nil || wait.request.id == only else { return nil }
      state.current = nil
      return wait
    }
    wait?.continuation.resume(returning: result)
    return wait != nil
  }

  /// A finger whose print matches touches the reader.
  @discardableResult
  func press(_ finger: Finger) -> Bool {
    guard let request = state.withLock({ $0.current?.request }) else { return false }
    return end(.success(.match(finger.touch(of: request))), only: request.id)
  }

  /// A stranger's finger touches the reader.
  @discardableResult
  func pressWrong(onReaders readers: Int = 1) -> Bool { end(.success(.noMatch(readers: readers))) }

  /// The reader could not read the touch.
  func retry(_ reason: String) { state.withLock { $0.current?.progress }?(.retry(reason: reason)) }
}

/// A finger of a test user.
struct Finger: Sendable, Hashable {
  let number: UInt8
  let name: String
  let print: [UInt8]

  static let index = Finger(number: 7, name: "right-index-finger", print: Array("FP3 the right index".utf8))
  static let middle = Finger(number: 8, name: "right-middle-finger", print: Array("FP3 the right middle".utf8))

  func touch(of request: MatchRequest) -> Touch {
    Touch(
      request: request.id, user: request.user, finger: name, reader: Bench.reader, print: print, place: Bench.place)
  }

  /// Its print as it is on the disk.
  func stored(at place: ReaderPlace? = Bench.place) -> StoredFinger {
    StoredFinger(finger: number, reader: Bench.reader, readerName: "Scripted", place: place, print: print)
  }
}
