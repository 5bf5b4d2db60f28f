internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// Deletion in `net.reactivated.Fprint.Device`. What a caller has begun goes to its end, also when he is gone.
extension FprintDeviceFace {
  func deleteOutsideClaim(_ name: String, _ caller: Caller) async throws(BusMethodError) {
    if let claim, claim.owner != caller.connection {
      throw .fprint(.alreadyInUse, "Device already in use by another user")
    }
    if let operation = claim?.operation, operation.kind != .deletion {
      throw .fprint(.alreadyInUse, "Another operation is already in progress")
    }
    let user = try await user(name, caller)
    try await authorise(caller, [FprintNames.Action.enroll])
    try await withoutOthers(caller) { begun in await self.delete(user, nil, by: caller, begun) }
  }

  func deleteAll(_ caller: Caller) async throws(BusMethodError) {
    let user = try holds(caller).user
    try await authorise(caller, [FprintNames.Action.enroll])
    try await delete(under: try holds(caller)) { await self.delete(user, nil, by: caller) }
  }

  func deleteOne(_ name: String, _ caller: Caller) async throws(BusMethodError) {
    let user = try holds(caller).user
    guard let finger = Finger(name: name) else {
      throw .fprint(.invalidFingerName, "Invalid finger name")
    }
    try await authorise(caller, [FprintNames.Action.enroll])
    try await delete(under: try holds(caller)) { await self.delete(user, finger, by: caller) }
  }

  /// Runs a deletion as the operation of a claim.
  func delete(
    under claim: FprintClaim, _ body: @escaping @GLibActor () async -> BusMethodError?
  ) async throws(BusMethodError) {
    // One deletion after the other, as fprintd has it.
    while let other = claim.operation, other.kind == .deletion, !claim.isEnding {
      await other.task?.value
      claim.end(other)
    }
    let operation = try claim.begin(.deletion)
    let work = Task { @GLibActor in await body() }
    operation.task = Task { @GLibActor in _ = await work.value }
    defer { claim.end(operation) }
    if let error = await work.value { throw error }
  }

  /// Deletes one finger, or all of this reader.
  private func delete(
    _ user: FprintUser, _ one: Finger?, by caller: Caller, _ begun: @GLibActor () -> Void = {}
  ) async -> BusMethodError? {
    let fingers: [Finger]
    do {
      fingers = try services.hall.entries(of: user, on: station)
    } catch {
      return .fprint(.internalError, "The enrolled prints cannot be listed: \(error)")
    }
    let chosen = one.map { finger in fingers.filter { $0 == finger } } ?? fingers
    guard !chosen.isEmpty else { return .fprint(.noEnrolledPrints, "No prints to delete") }
    guard station.description.features.contains(.storage) else {
      begun()
      return await delete(chosen, of: user, onChip: false)
    }
    let sessions = services.sessions
    let seeker = Seeker(
      name: "the deletion of prints of \(user.name)", user: caller.user,
      standing: { sessions.known(caller.connection) })
    do {
      try await station.turns.take(seeker, waiting: Self.patience)
    } catch .busy(let holder) {
      return .fprint(.alreadyInUse, "The fingerprint reader is used by \(holder); try again when that is done.")
    } catch {
      return .fprint(.internalError, "The deletion was ended.")
    }
    defer { station.turns.give() }
    begun()
    do throws(ReaderError) {
      try await station.enter()
    } catch {
      return .fprint(.internalError, "Open failed with error: \(error.line); nothing was deleted.")
    }
    let error = await delete(chosen, of: user, onChip: true)
    await station.leave()
    return error
  }

  /// Deletes each of the fingers as far as that can be done, and tells the gravest of what could not.
  private func delete(_ fingers: [Finger], of user: FprintUser, onChip: Bool) async -> BusMethodError? {
    var left: BusMethodError?
    var leftOnChip: BusMethodError?
    for finger in fingers {
      do throws(BusMethodError) {
        let error = try await delete(finger, of: user, onChip: onChip)
        leftOnChip = leftOnChip ?? error
      } catch {
        left = left ?? error
      }
    }
    return left ?? leftOnChip
  }

  /// Deletes one finger: first from the enclave's record (items bound to the set are gone from there on), then from the
  /// reader's chip, then from the disk.
  /// - Returns: why it may still be on the chip.
  /// - Throws: where it is still on the disk.
  private func delete(
    _ finger: Finger, of user: FprintUser, onChip: Bool
  ) async throws(BusMethodError) -> BusMethodError? {
    let key = station.printKey(of: user.name, finger)
    var data: [UInt8]?
    do { data = try services.hall.store.load(key) } catch { Log.warning("deleting a damaged print: \(error)") }
    var chipError: BusMethodError?
    do {
      if let account = user.account {
        try await services.enclave.deleted(user: account.user, finger: finger.rawValue, reader: station.storeName)
      }
      if onChip, let data { chipError = await deleteFromChip(data, finger) }
      _ = try services.hall.store.delete(key)
    } catch {
      throw .fprint(.printsNotDeleted, "The print of \(finger.name) was not deleted: \(text(error))")
    }
    ChipStorage(hall: services.hall, station: station).forgetLost(user.name, finger)
    return chipError
  }

  private func deleteFromChip(_ data: [UInt8], _ finger: Finger) async -> BusMethodError? {
    guard station.description.features.contains(.storageDelete) else { return nil }
    do throws(ReaderError) {
      try await station.open()
      try await services.hall.bridges.deletePrint(station.id, print: data)
      return nil
    } catch {
      return .fprint(
        .printsNotDeletedFromDevice,
        "The print of \(finger.name) is off the disk, but could not be deleted from the reader: \(error.line)")
    }
  }
}
