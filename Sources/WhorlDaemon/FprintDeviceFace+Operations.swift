internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// Verification in `net.reactivated.Fprint.Device`, and what it shares with enrolment.
extension FprintDeviceFace {
  func startVerify(_ name: String, _ caller: Caller) async throws(BusMethodError) -> FprintClaim.Operation {
    try holds(caller)
    try await authorise(caller, [FprintNames.Action.verify])
    // Once more: polkit's question took its time.
    let claim = try holds(caller)
    guard claim.operation == nil else { throw .fprint(.alreadyInUse, "Another operation is already in progress") }
    try await requireBiometry(claim.user)
    let operation = try claim.begin(.verification)
    let prints: [(finger: Finger, data: [UInt8])]
    do throws(BusMethodError) {
      prints = try chosenPrints(name, claim)
    } catch {
      claim.end(operation)
      throw error
    }
    let selected = prints.count == 1 ? prints[0].finger.name : "any"
    operation.tell { self.emit("VerifyFingerSelected", [.string(selected)]) }
    try await start(operation, of: claim) {
      let status = await self.verify(claim, operation, prints)
      self.end(operation, "VerifyStatus", "verify-" + (operation.isDisplaced ? "unknown-error" : status))
      if status == "no-match" { await self.compareChip(claim) }
    }
    return operation
  }

  /// Refuses whatever would tell more about a user's fingers while he is locked out.
  func requireBiometry(_ user: FprintUser) async throws(BusMethodError) {
    guard let account = user.account else { return }
    do {
      try await services.enclave.requireBiometry(of: account.user)
    } catch {
      throw .fprint(.permissionDenied, error.message)
    }
  }

  /// The prints that a verification is for: those of the finger named, or all.
  private func chosenPrints(
    _ name: String, _ claim: FprintClaim
  ) throws(BusMethodError) -> [(finger: Finger, data: [UInt8])] {
    var prints: [(finger: Finger, data: [UInt8])]
    do {
      prints = try services.hall.prints(of: claim.user, on: station).readable
    } catch {
      Log.warning("the prints of \(claim.user.name) cannot be read: \(error)")
      prints = []
    }
    if let finger = Finger(name: name) { prints = prints.filter { $0.finger == finger } }
    guard !prints.isEmpty else { throw .fprint(.noEnrolledPrints, "No prints enrolled") }
    // A reader that only verifies takes one print: the first, as fprintd does.
    return station.description.features.contains(.identify) ? prints : [prints[0]]
  }

  /// One verification; the last part of its status. It may wait for hours, with the reader armed only now and then.
  private func verify(
    _ claim: FprintClaim, _ operation: FprintClaim.Operation, _ prints: [(finger: Finger, data: [UInt8])]
  ) async -> String {
    let seeker = await seeker("verification", claim)
    do throws(MatchFailure) {
      let index = try await station.match(
        prints.map(\.data), by: seeker, pends: true, waiting: Self.patience, armed: { operation.begin() },
        unusable: { indices in
          self.services.hall.noteUnusable(indices.map { prints[$0].finger }, of: claim.user.name)
        },
        progress: { reason in self.emit("VerifyStatus", "verify-" + FprintNames.status(reason), operation) })
      return await judge(index.flatMap { prints.indices.contains($0) ? prints[$0].data : nil }, claim)
    } catch {
      switch error {
      case .reader(.cancelled) where Task.isCancelled: return "no-match"
      // The chip knows none of them: as good as another finger.
      case .reader(.dataNotFound): return await judge(nil, claim)
      case .reader(let error):
        Log.warning("verification failed: \(error.line)")
        return FprintNames.verifyStatus(error)
      case .taken(let holder):
        refuse(operation, holder)
        return "unknown-error"
      }
    }
  }

  /// What a touch means, which has been counted by then.
  private func judge(_ matched: [UInt8]?, _ claim: FprintClaim) async -> String {
    // Counted also where it was stopped meanwhile: otherwise whoever stops in time tries fingers for nothing.
    let counts = await count(matched, for: claim.user)
    if Task.isCancelled { return "no-match" }
    guard counts else { return "unknown-error" }
    return matched != nil ? "match" : "no-match"
  }

  /// A miss may come from a print that the chip has lost; looked up once a claim.
  private func compareChip(_ claim: FprintClaim) async {
    guard station.description.features.contains(.storageList), !claim.hasComparedChip, !Task.isCancelled else { return }
    let failure: ReaderError?
    do throws(MatchFailure) {
      failure = try await station.inTurn(await seeker("verification", claim), waiting: 0) {
        do throws(ReaderError) {
          claim.hasComparedChip = true
          try await self.station.open()
          _ = try await ChipStorage(hall: self.services.hall, station: self.station).survey()
          return nil
        } catch {
          return error
        }
      }.result
    } catch {
      return
    }
    if let failure {
      Log.warning("the chip of \(station.description.name) was not compared with the disk: \(failure.line)")
    }
  }

  /// Has the enclave count a verdict before it is told to anybody.
  /// - Returns: whether the verdict may be told: not a match that came after the lockout, nor one that cannot be counted.
  private func count(_ matched: [UInt8]?, for user: FprintUser) async -> Bool {
    guard let account = user.account else { return true }
    do {
      let locked = try await services.enclave.recordExternalVerification(
        user: account.user, matched: matched, on: services.hall.place(of: station))
      return !(matched != nil && locked)
    } catch {
      Log.failure("a verification could not be counted, so it does not count: \(error.message)")
      return false
    }
  }

  // MARK: Start and Stop

  /// Begins an operation's work, and returns when the Start may answer. Its signals go out after that answer
  /// (``FprintClaim/Operation/answered()``): a client may take a status that comes first for nobody's.
  func start(
    _ operation: FprintClaim.Operation, of claim: FprintClaim, _ work: @escaping @GLibActor () async -> Void
  ) async throws(BusMethodError) {
    operation.task = Task { @GLibActor in
      await work()
      operation.begin()
    }
    await operation.hasBegunOrFailed()
    if let refusal = operation.refusal, !operation.isAnswered {
      claim.end(operation)
      throw refusal
    }
  }

  /// Ends an operation of that kind, or takes note of its end.
  func stop(
    _ kind: FprintClaim.Operation.Kind, by connection: String, _ none: String
  ) async throws(BusMethodError) {
    let claim = try holds(connection)
    guard let operation = claim.operation else { throw .fprint(.noActionInProgress, none) }
    guard operation.kind == kind, !operation.isStopping else {
      throw .fprint(.alreadyInUse, "Another operation is already in progress")
    }
    operation.isStopping = true
    if operation.isReported {
      // The finger may still lie on the reader: until it is off, no other operation can begin.
      await services.hall.bridges.settle(station.id, milliseconds: Self.settleMilliseconds)
    } else {
      operation.task?.cancel()
    }
    await operation.task?.value
    claim.end(operation)
  }

  /// Runs an operation in its turn; a reader that others keep refuses the Start.
  /// - Parameter stopped: the status of one that was stopped before its turn came.
  func withTurn(
    _ claim: FprintClaim, _ operation: FprintClaim.Operation, _ what: String, stopped: String,
    _ body: @escaping @GLibActor () async -> String
  ) async -> String {
    do throws(MatchFailure) {
      let (status, gaveWay) = try await station.inTurn(await seeker(what, claim), waiting: Self.patience, body)
      // Cancelled, but not by its own client.
      return gaveWay && !Task.isCancelled && status == stopped ? "unknown-error" : status
    } catch {
      guard case .taken(let holder) = error else { return stopped }
      refuse(operation, holder)
      return "unknown-error"
    }
  }

  /// Notes that somebody else keeps the reader: the Start is refused, or, where it was answered, the log says so.
  private func refuse(_ operation: FprintClaim.Operation, _ holder: String) {
    Log.warning("an operation gave up: the reader is used by \(holder)")
    operation.refusal = .fprint(
      .alreadyInUse, "The fingerprint reader is used by \(holder); try again when that is done.")
  }

  /// Who waits for the reader under this claim, as others are told.
  private func seeker(_ what: String, _ claim: FprintClaim) async -> Seeker {
    let sessions = services.sessions
    let owner = claim.owner
    let program = await sessions.program(of: owner).map { " (\($0))" } ?? ""
    return Seeker(
      name: "the \(what) of \(claim.user.name)\(program)", user: claim.ownerUser, standing: { sessions.known(owner) })
  }

  // MARK: Signals

  /// Tells an operation's last status.
  func end(_ operation: FprintClaim.Operation, _ signal: String, _ status: String) {
    // A Start that is refused has nothing to tell.
    if operation.refusal != nil, !operation.isAnswered { return }
    operation.tell {
      operation.isReported = true
      self.emit(signal, [.string(status), .boolean(true)])
    }
  }

  /// Tells a status on the way.
  func emit(_ signal: String, _ status: String, _ operation: FprintClaim.Operation) {
    operation.tell { self.emit(signal, [.string(status), .boolean(false)]) }
  }

  /// To all who listen, as fprintd does: desktops watch what others do.
  private func emit(_ signal: String, _ arguments: [BusValue]) {
    do {
      try services.bus.emitSignal(
        destination: nil, path: path, interface: FprintNames.deviceInterface, name: signal, arguments: arguments)
    } catch {
      Log.warning("could not send \(signal): \(error)")
    }
  }
}
