internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// Enrolment in `net.reactivated.Fprint.Device`.
extension FprintDeviceFace {
  func startEnroll(_ name: String, _ caller: Caller) async throws(BusMethodError) -> FprintClaim.Operation {
    try holds(caller)
    guard let finger = Finger(name: name) else {
      throw .fprint(.invalidFingerName, "Invalid finger name")
    }
    try await authorise(caller, [FprintNames.Action.enroll])
    var claim = try holds(caller)
    guard claim.operation == nil else { throw .fprint(.alreadyInUse, "Another operation is already in progress") }
    // Its first touch is a try like any other.
    try await requireBiometry(claim.user)
    try await requireStore(claim.user)
    // Once more: the questions took their time. Whose lockout was looked at must be who enrols.
    let asked = claim
    claim = try holds(caller)
    guard claim === asked else { throw .fprint(.alreadyInUse, "The device was released and claimed again meanwhile") }
    let operation = try claim.begin(.enrolment)
    services.notes.drop(caller.connection)
    try await start(operation, of: claim) {
      let status = await self.enroll(claim, operation, finger, caller)
      let isCut = operation.isDisplaced && status != "completed"
      self.end(operation, "EnrollStatus", "enroll-" + (isCut ? "unknown-error" : status))
    }
    return operation
  }

  /// Refuses before the first touch where the enclave's record could not be kept in step with the new print.
  private func requireStore(_ user: FprintUser) async throws(BusMethodError) {
    guard let account = user.account else { return }
    if let why = await services.enclave.status(user: account.user).storeError { throw .fprint(.permissionDenied, why) }
  }

  /// One enrolment; the last part of its status.
  private func enroll(
    _ claim: FprintClaim, _ operation: FprintClaim.Operation, _ finger: Finger, _ caller: Caller
  ) async -> String {
    do {
      claim.replacesFormer = try services.hall.hasFormerPrints(claim.user)
    } catch {
      refuseForFormer(claim, error)
      return "failed"
    }
    return await withTurn(claim, operation, "enrolment", stopped: "failed") {
      do throws(ReaderError) {
        if let hindrance = self.station.hindrance { throw hindrance }
        try await self.station.open()
        // A former account's prints make room.
        if !claim.replacesFormer { try await self.refuseWhereFull() }
        do throws(BusMethodError) {
          try self.services.enrolments.begin(caller.user)
        } catch {
          operation.refusal = error
          return "failed"
        }
        self.beginWhenArmed(operation)
        if let refusal = try await self.refuseDuplicate(claim, operation, finger) { return refusal }
        let print = try await self.newPrint(claim, operation, finger)
        self.station.note(nil)
        guard !Task.isCancelled else { return "failed" }
        return await self.keep(print, finger, claim) ? "completed" : "failed"
      } catch .cancelled where Task.isCancelled {
        return "failed"
      } catch .dataFull {
        self.explainFull(claim)
        return "data-full"
      } catch .dataDuplicate {
        self.services.notes.record(
          claim.owner,
          "The reader says that this finger is enrolled already; name the finger as which it is, or use another one.")
        return "duplicate"
      } catch {
        Log.warning("enrolment failed: \(error.line)")
        self.station.note(error)
        return FprintNames.enrollStatus(error)
      }
    }
  }

  /// Finds out before the first touch that a chip has no room, where it is known how much it holds. What belongs to
  /// nobody there makes room after that touch.
  private func refuseWhereFull() async throws(ReaderError) {
    let chip = ChipStorage(hall: services.hall, station: station)
    try await chip.clearIfNobodys()
    guard let capacity = station.chipCapacity, let count = station.chip?.count, count >= capacity,
      // What was deleted since then is not counted.
      let now = try await chip.survey(), now.count >= capacity, now.foreign.isEmpty
    else { return }
    throw .dataFull("its memory is full")
  }

  /// Lets the Start answer once the reader waits for a finger, so that whoever is told to touch it is not too early; a
  /// driver that does not say so is not waited for long.
  private func beginWhenArmed(_ operation: FprintClaim.Operation) {
    if fingerNeeded { return operation.begin() }
    onFingerNeeded = { operation.begin() }
    Task { @GLibActor in
      do { try await glibSleep(milliseconds: Self.armingMilliseconds) } catch { return }
      operation.begin()
    }
  }

  /// Brings chip and disk in step, once the first touch has shown that somebody is there.
  private func compareChip(_ claim: FprintClaim) async throws(ReaderError) {
    let chip = ChipStorage(hall: services.hall, station: station)
    // To its end, also where the one who enrols has gone: the next one shall find room.
    let result = await uninterrupted { () -> Result<Void, ReaderError> in
      do throws(ReaderError) {
        let survey: ChipSurvey?
        do throws(ReaderError) {
          survey = try await chip.survey()
          guard let survey, let capacity = self.station.chipCapacity, survey.count >= capacity else {
            return .success(())
          }
        } catch .dataFull {
          // Some chips say so whatever they are asked, once.
          survey = try await chip.survey()
        }
        guard let survey else { return .success(()) }
        return try await chip.collectOne(of: survey, if: claim.mayCollect)
          ? .success(()) : .failure(.dataFull("its memory is full"))
      } catch {
        return .failure(error)
      }
    }
    if Task.isCancelled { throw .cancelled }
    try result.get()
  }

  /// Finds out by a first touch whether the finger is enrolled already, where the reader can.
  /// - Returns: the status that ends the enrolment, or nil.
  private func refuseDuplicate(
    _ claim: FprintClaim, _ operation: FprintClaim.Operation, _ finger: Finger
  ) async throws(ReaderError) -> String? {
    let features = station.description.features
    guard features.contains(.identify) else {
      // Such a chip takes no finger that it knows, and no touch tells which one that is.
      if features.isSuperset(of: [.storageDelete, .duplicatesCheck]), await !removeFormer(claim) { return "failed" }
      try await makeWay(for: finger, claim.user)
      return nil
    }
    let chip = ChipStorage(hall: services.hall, station: station)
    var host: ArraySlice<HostPrint> = []
    // Whose finger it is that only the chip knows cannot be told while others' prints cannot be read.
    var isComplete = false
    do {
      let found = try chip.hostPrints(in: services.hall.store)
      // What a chip was thought to have lost is somebody's all the same.
      let known = try found.prints + chip.hostPrints(in: services.hall.lostPrints).prints
      // A former account's fingers are nobody's; a chip has to know them, or it would take them for a stranger's.
      let counting = known.filter {
        !claim.replacesFormer || features.contains(.storage) || $0.user != claim.user.name
      }
      host = counting.prefix(LinkLimits.prints)
      isComplete =
        try host.count == counting.count && found.unreadable.isSubset(of: [claim.user.name])
        && !services.hall.store.hasStrays()
    } catch {
      Log.warning("enrolled prints cannot be listed: \(error)")
    }
    var index: Int?
    var stranger: [UInt8]?
    do throws(ReaderError) {
      index = try await compare(host, claim, operation) {
        // Whose they are is known, but not which of the chip's prints.
        if !$0.isSubset(of: [claim.user.name]) { isComplete = false }
      } stranger: {
        stranger = $0
      }
    } catch .dataNotFound {
      // The chip knows none of them, so it does not know this finger.
    }
    claim.mayCollect = isComplete
    // The print that is to be replaced may be of the same finger; so may any that a former account left.
    if let index, host.indices.contains(index),
      !(host[index].user == claim.user.name && (host[index].finger == finger || claim.replacesFormer))
    {
      explainDuplicate(host[index], claim)
      return "duplicate"
    }
    if index == nil, let stranger {
      // The chip has it, but nobody here: what an account that is gone has left, or another system.
      do throws(ReaderError) {
        guard isComplete else { throw .general("some enrolled prints cannot be read") }
        try await chip.delete(stranger)
      } catch {
        Log.warning("a print of nobody's could not be deleted from the reader: \(error.line)")
        services.notes.record(
          claim.owner,
          "The reader has a print of this finger that is nobody's as far as can be seen, and was not deleted; see whorld's log."
        )
        return "duplicate"
      }
    }
    // On a chip they would be in the way of the new print.
    if features.contains(.storage), await !removeFormer(claim) { return "failed" }
    // All that the reader does besides waiting for a finger is done before the next touch is asked for.
    try await compareChip(claim)
    try await makeWay(for: finger, claim.user)
    emit("EnrollStatus", "enroll-stage-passed", operation)
    return nil
  }

  /// One touch, compared with those of the prints that the reader can use.
  /// - Parameter unusable: told whose prints it cannot.
  private func compare(
    _ host: ArraySlice<HostPrint>, _ claim: FprintClaim, _ operation: FprintClaim.Operation,
    unusable: @escaping @GLibActor (Set<String>) -> Void, stranger: @escaping @GLibActor ([UInt8]) -> Void
  ) async throws(ReaderError) -> Int? {
    let again: @GLibActor (RetryReason) -> Void = {
      self.emit("EnrollStatus", "enroll-" + FprintNames.status($0), operation)
    }
    do throws(ReaderError) {
      return try await services.hall.bridges.identify(
        station.id, among: host.map(\.data), unusable: { unusable(Set($0.map { host[$0].user })) }, stranger: stranger,
        progress: again)
    } catch .dataInvalid where !host.isEmpty {
      // None of them is good, and nothing was waited for.
      unusable(Set(host.map(\.user)))
      return try await services.hall.bridges.identify(
        station.id, among: [], unusable: { _ in }, stranger: stranger, progress: again)
    }
  }

  /// The touches that make a print. A chip that is full is rid of prints that nobody here has, one by one.
  private func newPrint(
    _ claim: FprintClaim, _ operation: FprintClaim.Operation, _ finger: Finger
  ) async throws(ReaderError) -> [UInt8] {
    let chip = ChipStorage(hall: services.hall, station: station)
    while true {
      do throws(ReaderError) {
        return try await services.hall.bridges.enroll(station.id, finger: finger, user: claim.user.name) { event in
          switch event {
          // The last stage is told by the end of the enrolment, as fprintd does, or a client would count one too many.
          case .stage(let stage, let total):
            if stage < total { self.emit("EnrollStatus", "enroll-stage-passed", operation) }
          case .retry(let reason): self.emit("EnrollStatus", "enroll-" + FprintNames.status(reason), operation)
          }
        }
      } catch .dataFull(let text) {
        // Also where the one who enrols has gone: the next one shall find room.
        let made = await uninterrupted { () -> Bool in
          do throws(ReaderError) {
            guard let survey = try await chip.survey() else { return false }
            self.station.chipCapacity = survey.count
            return try await chip.collectOne(of: survey, if: claim.mayCollect)
          } catch {
            Log.warning("no room could be made on the reader: \(error.line)")
            return false
          }
        }
        if Task.isCancelled { throw .cancelled }
        guard made else { throw .dataFull(text) }
      }
    }
  }

  /// Removes what a former account left under the user's name, once there is no way round it; false where that fails.
  private func removeFormer(_ claim: FprintClaim) async -> Bool {
    guard claim.replacesFormer else { return true }
    do {
      try await services.hall.prepareEnrolment(of: claim.user, holding: station)
      claim.replacesFormer = false
      return true
    } catch {
      refuseForFormer(claim, error)
      return false
    }
  }

  private func refuseForFormer(_ claim: FprintClaim, _ error: PrintStoreError) {
    Log.failure("nothing was enrolled for \(claim.user.name): \(error)")
    services.notes.record(
      claim.owner, "Prints of an account that had this name before cannot be removed (\(error)); see whorld's log.")
  }

  /// A chip that refuses fingers that it knows must lose the print that is to be replaced first.
  private func makeWay(for finger: Finger, _ user: FprintUser) async throws(ReaderError) {
    let description = station.description
    guard description.features.isSuperset(of: [.storageDelete, .duplicatesCheck]) else { return }
    let key = station.printKey(of: user.name, finger)
    do {
      guard let old = try services.hall.store.load(key) else { return }
      try await ChipStorage(hall: services.hall, station: station).remove(old)
    } catch let error as ReaderError {
      throw error
    } catch {
      Log.warning("a damaged print is replaced: \(error)")
    }
  }

  /// Stores a new print, which opens logins: secrets it opens only once it was registered with the passcode (``ReaderTrust``).
  /// A registered one that it replaces leaves the enclave's record: both, or neither. What a former account left under
  /// the name goes now, and no sooner: an enrolment that is cancelled changes nothing.
  private func keep(_ print: [UInt8], _ finger: Finger, _ claim: FprintClaim) async -> Bool {
    let (user, owner) = (claim.user, claim.owner)
    do {
      // Also where it was done before the first touch: whose the folder is may have been forgotten since then, and it must
      // not be nobody's.
      try await services.hall.prepareEnrolment(of: user, holding: station)
    } catch {
      refuseForFormer(claim, error)
      await dropFromChip(print)
      return false
    }
    let key = station.printKey(of: user.name, finger)
    let store = services.hall.store
    var before: [UInt8]?
    do { before = try store.load(key) } catch { Log.warning("a damaged print is replaced: \(error)") }
    do {
      try store.save(print, for: key)
    } catch {
      Log.failure("the print of \(finger.name) was not stored: \(error)")
      await dropFromChip(print)
      return false
    }
    if let account = user.account {
      do {
        // Anew: since the claim the account may have been removed, and what is kept for it forgotten.
        if try await services.hall.accounts.with(account.user)?.name == account.name {
          await services.enclave.learn(account.user, .named(account.name))
        }
        try await services.enclave.stored(user: account.user, finger: finger.rawValue, reader: station.storeName)
      } catch {
        Log.failure("the print of \(finger.name) was not kept: \(text(error))")
        services.notes.record(owner, text(error))
        do {
          if let before { try store.save(before, for: key) } else { _ = try store.delete(key) }
        } catch {
          Log.failure("the print of \(finger.name) that was not kept stays on the disk: \(error)")
        }
        await dropFromChip(print)
        return false
      }
    }
    ChipStorage(hall: services.hall, station: station).forgetLost(user.name, finger)
    // The one that it replaces is nobody's now; a chip that looks for duplicates has lost it before.
    if let before, !station.description.features.contains(.duplicatesCheck) { await dropFromChip(before) }
    return true
  }

  /// Deletes a print that nobody has from the chip; one that stays there is collected when room is needed.
  private func dropFromChip(_ print: [UInt8]) async {
    guard station.description.features.contains(.storageDelete) else { return }
    await uninterrupted {
      do throws(ReaderError) {
        try await ChipStorage(hall: self.services.hall, station: self.station).remove(print)
      } catch {
        Log.warning("a print that nobody has stays on the reader: \(error.line)")
      }
    }
  }

  // MARK: Reasons

  private func explainDuplicate(_ print: HostPrint, _ claim: FprintClaim) {
    services.notes.record(
      claim.owner,
      print.user == claim.user.name
        ? "This finger is enrolled already as \(print.finger.name); to enrol it anew, name it: whorl enroll \(print.finger.name)."
        : "This finger is enrolled already for another account of this machine; its owner has to delete it first.")
  }

  private func explainFull(_ claim: FprintClaim) {
    var fingers: [Finger] = []
    do {
      fingers = try services.hall.fingers(of: claim.user, on: station)
    } catch {
      Log.warning("the enrolled prints cannot be listed: \(error)")
    }
    services.notes.record(
      claim.owner,
      fingers.isEmpty
        ? "The reader's memory is full of other accounts' prints; one of them has to be deleted first."
        : "The reader's memory is full; delete a finger first (whorl delete \(fingers[0].name)).")
  }
}
