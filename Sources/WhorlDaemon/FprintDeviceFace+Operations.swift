internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// Verification and enrolment of `net.reactivated.Fprint.Device`.
///
/// A Start answers before the first status goes out: its task begins only after the handler has returned.
extension FprintDeviceFace {
  // MARK: Verify

  func startVerify(_ name: String, _ caller: Caller) async throws(BusMethodError) {
    try holds(caller)
    try await authorise(caller, [FprintNames.Action.verify])
    // Once more: polkit's question took its time.
    let claim = try holds(caller)
    guard claim.operation == nil else { throw .fprint(.alreadyInUse, "Another operation is already in progress") }
    if let account = claim.user.account {
      do {
        try await services.enclave.requireBiometry(of: account.user)
      } catch {
        throw .fprint(.permissionDenied, error.message)
      }
    }
    guard claim.operation == nil, self.claim === claim else {
      throw .fprint(.alreadyInUse, "Another operation is already in progress")
    }
    var prints: [(finger: Finger, data: [UInt8])]
    do {
      prints = try services.hall.prints(of: claim.user, on: station).readable
    } catch {
      throw .fprint(.internalError, "The enrolled prints cannot be read: \(error)")
    }
    if let finger = Finger(name: name) { prints = prints.filter { $0.finger == finger } }
    guard !prints.isEmpty else { throw .fprint(.noEnrolledPrints, "No prints enrolled") }
    // A reader that only verifies takes one print: the first, as fprintd does.
    if !station.description.features.contains(.identify) { prints = [prints[0]] }
    let selected = prints.count == 1 ? prints[0].finger.name : "any"
    claim.operation = .verify(
      Task { @GLibActor in
        self.emit("VerifyFingerSelected", [.string(selected)], to: claim)
        let status = await self.verify(claim, prints)
        if let status { self.emit("VerifyStatus", [.string("verify-" + status), .boolean(true)], to: claim) }
      })
  }

  func stopVerify(_ caller: Caller) async throws(BusMethodError) {
    let claim = try holds(caller)
    guard case .verify(let task) = claim.operation else {
      throw .fprint(.noActionInProgress, "No verification in progress")
    }
    task.cancel()
    await task.value
    claim.operation = nil
  }

  /// One verification; nil where it was stopped. It may wait for hours, with the reader armed only now and then.
  private func verify(_ claim: FprintClaim, _ prints: [(finger: Finger, data: [UInt8])]) async -> String? {
    let seeker = await seeker("verification", claim)
    do throws(MatchFailure) {
      let index = try await station.match(
        prints.map(\.data), by: seeker, pends: true, waiting: Self.patience,
        unusable: { indices in
          self.services.hall.noteUnusable(indices.map { prints[$0].finger }, of: claim.user.name)
        },
        progress: { reason in
          self.emit("VerifyStatus", [.string("verify-" + FprintNames.status(reason)), .boolean(false)], to: claim)
        })
      let matched = index.flatMap { prints.indices.contains($0) ? prints[$0].data : nil }
      // Counted also where it was stopped meanwhile: otherwise whoever stops in time tries fingers for nothing.
      let counts = await count(matched, for: claim.user)
      guard !Task.isCancelled else { return nil }
      guard counts else { return "unknown-error" }
      return matched != nil ? "match" : "no-match"
    } catch {
      switch error {
      case .reader(.cancelled) where Task.isCancelled:
        return nil
      case .reader(.removed), .reader(.noSuchReader), .reader(.tooHot):
        return "disconnected"
      case .reader(let error):
        Log.warning("verification failed: \(error.line)")
      case .taken(let holder):
        Log.warning("a verification gave up: the reader is used by \(holder)")
      }
      return "unknown-error"
    }
  }

  /// Has the enclave count a verdict before it is told to anybody.
  /// - Returns: whether the verdict may be told: not a match that came after the lockout, nor one that cannot be counted.
  private func count(_ matched: [UInt8]?, for user: FprintUser) async -> Bool {
    guard let account = user.account else { return true }
    do {
      let locked = try await services.enclave.recordExternalVerification(user: account.user, matched: matched)
      return !(matched != nil && locked)
    } catch {
      Log.failure("a verification could not be counted, so it does not count: \(error.message)")
      return false
    }
  }

  // MARK: Enrol

  func startEnroll(_ name: String, _ caller: Caller) async throws(BusMethodError) {
    try holds(caller)
    guard let finger = Finger(name: name) else {
      throw .fprint(.invalidFingerName, "Invalid finger name")
    }
    try await authorise(caller, [FprintNames.Action.enroll])
    let claim = try holds(caller)
    guard claim.operation == nil else { throw .fprint(.alreadyInUse, "Another operation is already in progress") }
    claim.operation = .enroll(
      Task { @GLibActor in
        let status = await self.enroll(claim, finger)
        if let status { self.emit("EnrollStatus", [.string("enroll-" + status), .boolean(true)], to: claim) }
      })
  }

  func stopEnroll(_ caller: Caller) async throws(BusMethodError) {
    let claim = try holds(caller)
    guard case .enroll(let task) = claim.operation else {
      throw .fprint(.noActionInProgress, "No enrollment in progress")
    }
    task.cancel()
    await task.value
    claim.operation = nil
  }

  /// One enrolment; nil where it was stopped.
  private func enroll(_ claim: FprintClaim, _ finger: Finger) async -> String? {
    do {
      try await services.hall.prepareEnrolment(of: claim.user)
    } catch {
      Log.failure("nothing was enrolled for \(claim.user.name): \(error)")
      return "failed"
    }
    return await enrollPrepared(claim, finger)
  }

  private func enrollPrepared(_ claim: FprintClaim, _ finger: Finger) async -> String? {
    await withTurn(claim, "enrolment") {
      do throws(ReaderError) {
        if let hindrance = self.station.hindrance { throw hindrance }
        try await self.station.open()
        let print = try await self.services.hall.keeper.enroll(
          self.station.id, finger: finger, user: claim.user.name
        ) { event in
          switch event {
          // The last stage is told by the end of the enrolment, as fprintd does, or a client would count one too many.
          case .stage(let stage, let total):
            if stage < total {
              self.emit("EnrollStatus", [.string("enroll-stage-passed"), .boolean(false)], to: claim)
            }
          case .retry(let reason):
            self.emit("EnrollStatus", [.string("enroll-" + FprintNames.status(reason)), .boolean(false)], to: claim)
          }
        }
        guard !Task.isCancelled else { return nil }
        self.station.note(nil)
        return await self.keep(print, finger, claim.user) ? "completed" : "failed"
      } catch .cancelled where Task.isCancelled {
        return nil
      } catch .dataFull {
        return "data-full"
      } catch .dataDuplicate {
        return "duplicate"
      } catch .removed, .noSuchReader {
        return "disconnected"
      } catch .tooHot(let text) {
        self.station.note(.tooHot(text))
        return "disconnected"
      } catch {
        Log.warning("enrolment failed: \(error.line)")
        return "unknown-error"
      }
    }
  }

  /// Stores a new print and has the enclave register it: both, or neither.
  private func keep(_ print: [UInt8], _ finger: Finger, _ user: FprintUser) async -> Bool {
    let description = station.description
    let key = PrintStore.Key(
      user: user.name, driver: description.driver, deviceID: description.deviceID, finger: finger)
    let store = services.hall.store
    var before: [UInt8]?
    do { before = try store.load(key) } catch { Log.warning("a damaged print is replaced: \(error)") }
    do {
      try store.save(print, for: key)
    } catch {
      Log.failure("the print of \(finger.name) was not stored: \(error)")
      return false
    }
    guard let account = user.account else { return true }
    do {
      try await services.enclave.enrolled(
        user: account.user, finger: finger.rawValue, reader: station.storeName, print: print)
      return true
    } catch {
      Log.failure("the print of \(finger.name) was not registered: \(text(error))")
      do {
        if let before { try store.save(before, for: key) } else { _ = try store.delete(key) }
      } catch {
        Log.failure("the print of \(finger.name) that was not registered stays on the disk: \(error)")
      }
      return false
    }
  }

  // MARK: Turns and signals

  /// Runs an operation in its turn. A reader that stays busy is an unknown error, since the Start was answered already;
  /// so is one that somebody at the seat takes over.
  private func withTurn(
    _ claim: FprintClaim, _ what: String, _ body: @escaping @GLibActor () async -> String?
  ) async -> String? {
    let seeker = await seeker(what, claim)
    do {
      let end = try await station.inTurn(seeker, waiting: Self.patience, body)
      return end.result ?? (end.gaveWay && !Task.isCancelled ? "unknown-error" : nil)
    } catch .taken(let holder) {
      Log.warning("a \(what) gave up: the reader is used by \(holder)")
      return "unknown-error"
    } catch {
      return nil
    }
  }

  /// Who waits for the reader under this claim, as others are told.
  private func seeker(_ what: String, _ claim: FprintClaim) async -> Seeker {
    let sessions = services.sessions
    let owner = claim.owner
    let program = await sessions.program(of: owner).map { " (\($0))" } ?? ""
    return Seeker(name: "the \(what) of \(claim.user.name)\(program)", standing: { sessions.known(owner) })
  }

  private func emit(_ signal: String, _ arguments: [BusValue], to claim: FprintClaim) {
    do {
      try services.bus.emitSignal(
        destination: claim.owner, path: path, interface: FprintNames.deviceInterface, name: signal,
        arguments: arguments)
    } catch {
      Log.warning("could not send \(signal): \(error)")
    }
  }
}
