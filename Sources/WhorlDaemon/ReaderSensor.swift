internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// The readers and the prints on the disk, as the enclave's sensor.
final class ReaderSensor: BiometrySensor {
  private let hall: ReaderHall

  init(hall: ReaderHall) { self.hall = hall }

  func availability(of user: UserID) async -> BiometryAvailability { await find(user) }

  @GLibActor
  private func find(_ user: UserID) async -> BiometryAvailability {
    let stations: [ReaderStation]
    do {
      stations = try await hall.refresh()
    } catch {
      return .failed(error.line)
    }
    guard !stations.isEmpty else {
      return .noReader("No fingerprint reader is there that libfprint knows; plug one in.")
    }
    let found: Account?
    do { found = try await hall.accounts.with(user) } catch { return .failed(error.line) }
    guard let account = found else { return .notEnrolled }
    let owner = FprintUser(name: account.name, account: account)
    var fingers: [Finger] = []
    var damaged: [Finger] = []
    for station in stations {
      do {
        let prints = try hall.prints(of: owner, on: station)
        fingers += prints.readable.map(\.finger)
        damaged += prints.damaged
      } catch {
        return .failed("The enrolled prints cannot be read: \(error)")
      }
    }
    if fingers.isEmpty {
      return damaged.isEmpty
        ? .notEnrolled
        : .failed(
          "The enrolled print of \(damaged[0].name) cannot be read; see whorld's log, or enrol the finger again.")
    }
    return .available(fingers: Set(fingers).sorted { $0.rawValue < $1.rawValue }.map(\.name))
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
      throw .noReader("No fingerprint reader is there that libfprint knows; plug one in.")
    }
    for station in stations {
      var prints: [(finger: Finger, data: [UInt8])] = []
      let stored: [(finger: Finger, data: [UInt8])]
      do {
        stored = try hall.prints(of: owner, on: station).readable
      } catch {
        throw .failed("The enrolled prints cannot be read: \(error)")
      }
      for print in stored {
        if request.scope == .login {
          prints.append(print)
        } else if await request.isRegistered(print.data) {
          prints.append(print)
        }
      }
      guard !prints.isEmpty else { continue }
      return try await wait(on: station, prints, request, progress)
    }
    throw .notEnrolled
  }

  /// One touch on one reader, within the request's time.
  @GLibActor
  private func wait(
    on station: ReaderStation, _ prints: [(finger: Finger, data: [UInt8])], _ request: MatchRequest,
    _ progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(SensorError) -> MatchOutcome {
    let touch = Task { @GLibActor () -> Result<MatchOutcome, SensorError> in
      do throws(SensorError) {
        return .success(try await self.touch(station, prints, request, progress))
      } catch {
        return .failure(error)
      }
    }
    let deadline = Task { @GLibActor () -> Bool in
      do { try await glibSleep(milliseconds: request.seconds * 1000) } catch { return false }
      touch.cancel()
      return true
    }
    let result = await withTaskCancellationHandler {
      await touch.value
    } onCancel: {
      touch.cancel()
    }
    deadline.cancel()
    if case .failure(.cancelled) = result, !Task.isCancelled, await deadline.value { throw .timedOut }
    return try result.get()
  }

  @GLibActor
  private func touch(
    _ station: ReaderStation, _ prints: [(finger: Finger, data: [UInt8])], _ request: MatchRequest,
    _ progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(SensorError) -> MatchOutcome {
    do {
      try await station.turns.take(for: "another request for a finger", waiting: FprintDeviceFace.patience, first: true)
    } catch .busy(let holder) {
      throw .busy("The fingerprint reader is used by \(holder); try again when that is done.")
    } catch {
      throw .cancelled
    }
    var mayComeBack = false
    defer { station.turns.give(keeping: mayComeBack) }
    do throws(ReaderError) {
      try await station.enter()
    } catch {
      throw SensorError(error)
    }
    let result: Result<MatchOutcome, SensorError>
    do throws(ReaderError) {
      result = .success(try await matched(station, prints, request, progress))
    } catch {
      result = .failure(SensorError(error))
    }
    await station.leave()
    if case .success(.noMatch) = result { mayComeBack = true }
    return try result.get()
  }

  @GLibActor
  private func matched(
    _ station: ReaderStation, _ prints: [(finger: Finger, data: [UInt8])], _ request: MatchRequest,
    _ progress: @escaping @Sendable (MatchProgress) -> Void
  ) async throws(ReaderError) -> MatchOutcome {
    let description = station.description
    let identifies = description.features.contains(.identify)
    // A reader that only verifies knows one print at a time: the first, as fprintd does.
    let offered = identifies ? prints : Array(prints.prefix(1))
    progress(
      .waiting(
        reader: description.name, scanType: description.scanType == .swipe ? "swipe" : "press",
        fingers: offered.map(\.finger.name)))
    let again: @GLibActor (RetryReason) -> Void = { progress(.retry(reason: $0.busName)) }
    let leftOut: @GLibActor ([Int]) -> Void = { [hall] indices in
      hall.noteUnusable(indices.map { offered[$0].finger }, of: "uid \(request.user)")
    }
    let index: Int?
    if identifies {
      index = try await hall.keeper.identify(
        station.id, prints: offered.map(\.data), unusable: leftOut, progress: again)
    } else {
      index = try await hall.keeper.verify(station.id, print: offered[0].data, progress: again) ? 0 : nil
    }
    guard let index, offered.indices.contains(index) else { return .noMatch }
    return .match(
      Touch(
        request: request.id, user: request.user, finger: offered[index].finger.name, reader: station.storeName,
        print: offered[index].data))
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

extension SensorError {
  /// What a reader's error means for the request that waits.
  init(_ error: ReaderError) {
    self =
      switch error {
      case .cancelled: .cancelled
      case .removed, .noSuchReader: .noReader(error.line)
      case .busy: .busy(error.line)
      default: .failed(error.line)
      }
  }
}
