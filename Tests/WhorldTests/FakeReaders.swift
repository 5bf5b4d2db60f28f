import GLibLoop
import ReaderKeeper
import ReaderLink
import Testing

@testable import WhorlDaemon

/// A time that stands still until a test moves it.
@GLibActor
final class FakeTime {
  /// In milliseconds. Set, it wakes nobody who waits for a moment: ``pass(seconds:)`` does.
  var now: Int64 = 1_000_000
  private var sleepers: [Int: (until: Int64, continuation: CheckedContinuation<Bool, Never>)] = [:]
  private var lastNumber = 0

  nonisolated init() {}

  var clock: DaemonClock {
    DaemonClock {
      self.now
    } sleep: { milliseconds throws(CancellationError) in
      try await self.sleep(milliseconds)
    }
  }

  /// Moves the time on, to each moment for which somebody waits and at last by all of it.
  func pass(seconds: Int64) async {
    await settle()
    let end = now + seconds * 1000
    while let next = sleepers.values.map(\.until).min(), next <= end {
      now = max(now, next)
      for (number, sleeper) in sleepers.filter({ $0.value.until <= now }) {
        sleepers[number] = nil
        sleeper.continuation.resume(returning: true)
      }
      await settle()
    }
    now = end
    await settle()
  }

  private func sleep(_ milliseconds: Int64) async throws(CancellationError) {
    lastNumber += 1
    let number = lastNumber
    let finished = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: false) }
        sleepers[number] = (now + milliseconds, continuation)
      }
    } onCancel: {
      Task { @GLibActor in self.sleepers.removeValue(forKey: number)?.continuation.resume(returning: false) }
    }
    if !finished { throw CancellationError() }
  }
}

/// Lets everything that can go on without the time go on: jobs of the loop run in order of arrival, and no chain of them
/// in these tests is as long as this.
@GLibActor func settle() async {
  for _ in 1...200 { await Task.yield() }
}

/// Lets other jobs run until something is so.
@GLibActor func settle(_ condition: () -> Bool) async {
  while !condition() { await Task.yield() }
}

/// Readers without a bridge: a match waits until the test says how it ends.
@GLibActor
final class FakeReaders: ReaderAccess {
  var processID: Int32? = 1
  /// What was done, in order: "open", "close", "arm", "disarm".
  private(set) var log: [String] = []
  private var armed: CheckedContinuation<Result<Int?, ReaderError>, Never>?
  private var progress: (@GLibActor (RetryReason) -> Void)?
  private var isOpen = false

  nonisolated init() {}

  var isArmed: Bool { armed != nil }
  var arms: Int { log.count { $0 == "arm" } }
  var opens: Int { log.count { $0 == "open" } }

  /// How the armed match ends.
  func end(_ result: Result<Int?, ReaderError>) {
    let armed = armed
    self.armed = nil
    armed?.resume(returning: result)
  }

  /// A touch that has to be repeated.
  func retry() { progress?(.tooShort) }

  /// The bridge ends, as before a sleep.
  func endBridge() {
    processID = nil
    isOpen = false
    end(.failure(.bridgeFailed("the readers were stopped")))
  }

  func processID(of reader: ReaderID) -> Int32? { processID }

  func review(_ reader: ReaderID) async {}

  func open(_ reader: ReaderID) async throws(ReaderError) {
    if isOpen { throw .alreadyOpen("fake") }
    processID = processID ?? 2
    isOpen = true
    log.append("open")
  }

  func close(_ reader: ReaderID) async throws(ReaderError) {
    guard isOpen else { throw .notOpen("fake") }
    isOpen = false
    log.append("close")
  }

  func verify(
    _ reader: ReaderID, print: [UInt8], progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Bool {
    try await identify(reader, prints: [print], unusable: { _ in }, progress: progress) != nil
  }

  func identify(
    _ reader: ReaderID, prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void,
    progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int? {
    guard isOpen else { throw .notOpen("fake") }
    self.progress = progress
    log.append("arm")
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<Int?, ReaderError>, Never>) in
        if Task.isCancelled { continuation.resume(returning: .failure(.cancelled)) } else { armed = continuation }
      }
    } onCancel: {
      Task { @GLibActor in self.end(.failure(.cancelled)) }
    }
    log.append("disarm")
    self.progress = nil
    return try result.get()
  }
}

/// One station over fake readers in a fake time.
@GLibActor
struct Bench {
  let time = FakeTime()
  let readers = FakeReaders()
  let station: ReaderStation

  init() {
    station = ReaderStation(
      number: 0, id: ReaderID(driver: "fake", deviceID: "0", ordinal: 0),
      description: ReaderDescription(
        token: 1, driver: "fake", deviceID: "0", name: "Fake", scanType: .press, features: [.verify, .identify],
        enrollStages: 5), keeper: readers, clock: time.clock)
  }

  /// Starts a match, a screen locker's where it pends.
  func match(_ seeker: Seeker = Seeker(name: "the locker"), pends: Bool = true) -> Task<Int?, any Error> {
    Task { @GLibActor in try await station.match([[1], [2]], by: seeker, pends: pends, waiting: 5) }
  }

  /// What a match came to.
  func failure(of match: Task<Int?, any Error>) async -> MatchFailure? {
    do {
      _ = try await match.value
      return nil
    } catch {
      return error as? MatchFailure
    }
  }
}
