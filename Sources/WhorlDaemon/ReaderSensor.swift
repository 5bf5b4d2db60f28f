internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// The readers and the prints on the disk, as the enclave's sensor.
final class ReaderSensor: BiometrySensor {
  private let hall: ReaderHall
  private let sessions: Sessions

  init(hall: ReaderHall, sessions: Sessions) {
    self.hall = hall
    self.sessions = sessions
  }

  func availability(of user: UserID) async -> BiometryAvailability { await find(user) }

  @GLibActor
  private func find(_ user: UserID) async -> BiometryAvailability {
    let stations: [ReaderStation]
    do {
      stations = try await hall.refresh()
    } catch {
      return error.leavesNoReader ? .noReader(error.line) : .failed(error.line)
    }
    guard !stations.isEmpty else {
      return .noReader(
        "No fingerprint reader is there that libfprint knows; plug one in, or see in lsusb whether it is seen at all.")
    }
    let found: Account?
    do { found = try await hall.accounts.with(user) } catch { return .failed(error.line) }
    guard let account = found else { return .notEnrolled }
    let owner = FprintUser(name: account.name, account: account)
    var fingers: [Finger] = []
    var damaged: [Finger] = []
    var hindrance: ReaderError?
    var underLid = false
    await sessions.know()
    for station in stations {
      do {
        let prints = try hall.prints(of: owner, on: station)
        damaged += prints.damaged
        if !prints.readable.isEmpty, isUnderLid(station) {
          underLid = true
          continue
        }
        if !prints.readable.isEmpty, let reason = station.hindrance {
          hindrance = reason
          continue
        }
        fingers += prints.readable.map(\.finger)
      } catch {
        return .failed("The enrolled prints cannot be read: \(error)")
      }
    }
    if fingers.isEmpty {
      if underLid { return .noReader(Self.lidIsClosed) }
      if let hindrance { return hindrance.leavesNoReader ? .noReader(hindrance.line) : .failed(hindrance.line) }
      return damaged.isEmpty
        ? .notEnrolled
        : .failed(
          "The enrolled print of \(damaged[0].name) cannot be read; see whorld's log, or enrol the finger again.")
    }
    return .available(fingers: Set(fingers).sorted { $0.rawValue < $1.rawValue }.map(\.name))
  }

  private static let lidIsClosed = "The lid is closed over the fingerprint reader; open it, or use your password."

  /// Whether the lid is closed over a reader. One of which nobody says that it is built in can be reached; virtual ones,
  /// which only tests have, are.
  @GLibActor
  private func isUnderLid(_ station: ReaderStation) -> Bool {
    guard sessions.isLidClosed, let attachment = hall.place(of: station)?.attachment else { return false }
    return attachment == .fixed || attachment == .virtual
  }

  func match(
    _ request: MatchRequest, progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(SensorError) -> MatchOutcome {
    try await arm(request, progress)
  }

  @GLibActor
  private func arm(
    _ request: MatchRequest, _ progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(SensorError) -> MatchOutcome {
    let found: Account?
    do { found = try await hall.accounts.with(request.user) } catch { throw .failed(error.line) }
    guard let account = found else { throw .notEnrolled }
    let owner = FprintUser(name: account.name, account: account)
    let stations: [ReaderStation]
    do { stations = try await hall.refresh() } catch { throw SensorError(error) }
    guard !stations.isEmpty else {
      throw .noReader(
        "No fingerprint reader is there that libfprint knows; plug one in, or see in lsusb whether it is seen at all.")
    }
    var chances: [Chance] = []
    var untrusted: String?
    for station in stations where !isUnderLid(station) {
      let stored: [(finger: Finger, data: [UInt8])]
      do {
        stored = try hall.prints(of: owner, on: station).readable
      } catch {
        throw .failed("The enrolled prints cannot be read: \(error)")
      }
      var prints: [(finger: Finger, data: [UInt8])] = []
      for print in stored {
        if request.scope == .login {
          prints.append(print)
        } else if await request.isRegistered(print.data) {
          prints.append(print)
        }
      }
      // A reader that only verifies knows one print at a time: the first, as fprintd does.
      if !station.description.features.contains(.identify) { prints = Array(prints.prefix(1)) }
      guard !prints.isEmpty else { continue }
      let place = hall.place(of: station)
      if request.scope == .secret {
        // One that is not trusted may say yes to everything: it is not even asked.
        guard let place, await request.isTrusted(place) else {
          untrusted = untrusted ?? station.description.name
          continue
        }
      }
      chances.append(Chance(station: station, prints: prints, place: place))
    }
    guard !chances.isEmpty else {
      if let untrusted { throw .noReader(Enclave.untrusted("the reader \(untrusted.printable)")) }
      throw .notEnrolled
    }
    // So that it is known below, without waiting for it there.
    _ = await sessions.standing(of: request.connection, for: request.user)
    return try await wait(chances, account.name, request, progress)
  }

  /// A reader, and what it is offered.
  private struct Chance {
    let station: ReaderStation
    let prints: [(finger: Finger, data: [UInt8])]
    /// Where the reader stands; nil where that is not known.
    let place: ReaderPlace?
  }

  /// One touch on one of the readers, within the request's time.
  @GLibActor
  private func wait(
    _ chances: [Chance], _ name: String, _ request: MatchRequest,
    _ progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(SensorError) -> MatchOutcome {
    let race = Task { @GLibActor in await self.race(chances, name, request, progress) }
    let deadline = Task { @GLibActor () -> Bool in
      do { try await glibSleep(milliseconds: request.seconds * 1000) } catch { return false }
      race.cancel()
      return true
    }
    let result = await withTaskCancellationHandler {
      await race.value
    } onCancel: {
      race.cancel()
    }
    deadline.cancel()
    if case .failure(.cancelled) = result, !Task.isCancelled, await deadline.value { throw .timedOut }
    return try result.get()
  }

  /// Arms all the readers; the first that comes to a verdict ends the others. Returns when all have let go.
  @GLibActor
  private func race(
    _ chances: [Chance], _ name: String, _ request: MatchRequest,
    _ progress: @escaping @Sendable (MatchProgress) -> Void
  ) async -> Result<MatchOutcome, SensorError> {
    let seeker = Seeker(
      name: "a request of \(name) for a finger", request: request.operation, user: request.user,
      standing: { [sessions] in sessions.known(request.connection, for: request.user) })
    let report = ArmedReaders(progress)
    for chance in chances { report.expect(chance.station, atOnce: chance.station.turns.isFree(for: seeker)) }
    var runners: [Task<Result<MatchOutcome, SensorError>, Never>] = []
    // Readers do not wait for each other, so the order in which they get their turns cannot lock anybody out.
    for chance in chances {
      runners.append(
        Task { @GLibActor in
          let result = await self.touch(chance, seeker, name, request, report, progress)
          report.ended(chance.station)
          if case .success = result { report.decide() }
          return result
        })
    }
    report.onDecision = { for runner in runners { runner.cancel() } }
    return await withTaskCancellationHandler {
      var results: [Result<MatchOutcome, SensorError>] = []
      for runner in runners { results.append(await runner.value) }
      report.decide()
      return Self.verdict(of: results)
    } onCancel: {
      Task { @GLibActor in report.decide() }
    }
  }

  /// What several readers came to, of which more than one may have seen a finger at the same moment.
  static func verdict(
    of results: [Result<MatchOutcome, SensorError>]
  ) -> Result<MatchOutcome, SensorError> {
    var misses = 0
    for case .success(let outcome) in results {
      guard case .noMatch(let readers) = outcome else { return .success(outcome) }
      misses += readers
    }
    if misses > 0 { return .success(.noMatch(readers: misses)) }
    // A failure of one counts only since none is left.
    return results.first { $0 != .failure(.cancelled) } ?? .failure(.cancelled)
  }

  @GLibActor
  private func touch(
    _ chance: Chance, _ seeker: Seeker, _ name: String, _ request: MatchRequest, _ report: ArmedReaders,
    _ progress: @escaping @Sendable (MatchProgress) -> Void
  ) async -> Result<MatchOutcome, SensorError> {
    let (station, prints) = (chance.station, chance.prints)
    do throws(ReaderError) {
      try await station.enter()
    } catch {
      return .failure(SensorError(error))
    }
    let result: Result<MatchOutcome, SensorError>
    do throws(MatchFailure) {
      let index = try await station.match(
        prints.map(\.data), by: seeker, pends: false, waiting: FprintDeviceFace.patience,
        armed: { report.armed(station, fingers: prints.map(\.finger.name)) },
        unusable: { [hall] indices in hall.noteUnusable(indices.map { prints[$0].finger }, of: name) },
        progress: { progress(.retry(reason: $0.busName)) })
      // A finger that was deleted, or whose account was forgotten, while the reader waited is none of his any more.
      if let index, prints.indices.contains(index), hall.keeps(prints[index], of: name, on: station) {
        // One that was moved, or joined by another that claims its place, is none that anybody knows.
        let place = hall.place(of: station) == chance.place ? chance.place : nil
        result = .success(
          .match(
            Touch(
              request: request.id, user: request.user, finger: prints[index].finger.name, reader: station.storeName,
              print: prints[index].data, place: place)))
      } else {
        result = .success(.noMatch(readers: 1))
      }
    } catch .reader(.dataNotFound) {
      // The chip knows none of them: as good as another finger, and counted as that.
      result = .success(.noMatch(readers: 1))
    } catch {
      result = .failure(SensorError(error))
    }
    await station.leave()
    return result
  }
}

extension RetryReason {
  /// The reason as `org.whorl.Authentication1.Progress` tells it.
  var busName: String {
    switch self {
    case .general: "general"
    case .tooShort: "too-short"
    case .centerFinger: "center-finger"
    case .removeFinger: "remove-finger"
    case .tooFast: "too-fast"
    }
  }
}

extension ReaderError {
  /// Whether there is no reader to use, rather than one that failed: whoever asks is told the same.
  var leavesNoReader: Bool {
    switch self {
    case .removed, .noSuchReader, .tooHot, .permissionDenied: true
    default: false
    }
  }
}

extension SensorError {
  /// What the end of a wait on one reader means for the request.
  init(_ failure: MatchFailure) {
    self =
      switch failure {
      case .taken(let holder): .busy("The fingerprint reader is used by \(holder); try again when that is done.")
      case .reader(let error): SensorError(error)
      }
  }

  /// What a reader's error means for the request that waits.
  init(_ error: ReaderError) {
    self =
      switch error {
      case .cancelled: .cancelled
      case .busy: .busy(error.line)
      default: error.leavesNoReader ? .noReader(error.line) : .failed(error.line)
      }
  }
}
