internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// What every device face works with.
@GLibActor
struct FprintServices {
  let bus: BusConnection
  let hall: ReaderHall
  let enclave: Enclave
  let polkit: PolkitAuthority
  let clients: ClientTasks
  let sessions: Sessions
}

/// `net.reactivated.Fprint.Device` for one reader: claims, and who may do what. The operations are in
/// FprintDeviceFace+Operations.swift.
@GLibActor
final class FprintDeviceFace: BusHandler {
  /// The seconds that an operation waits for its turn on a busy reader.
  static let patience = 5

  let services: FprintServices
  let station: ReaderStation
  let path: String
  var claim: FprintClaim?
  private var claiming: String?
  private var registration: BusRegistration?
  private var fingerNeeded = false
  private var fingerPresent = false

  init(_ station: ReaderStation, _ services: FprintServices, xml: String) throws(BusError) {
    self.services = services
    self.station = station
    path = FprintNames.devicePath(station.number)
    registration = try services.bus.export(
      path: path, interfaceXML: xml, interface: FprintNames.deviceInterface, handler: self)
    services.clients.onVanish { [weak self] connection in
      guard let self, self.claim?.owner == connection else { return }
      Task { @GLibActor in await self.release() }
    }
  }

  /// The reader was unplugged: ends what runs and takes the object off the bus.
  func readerIsGone() {
    registration?.unregister()
    registration = nil
    claim?.operation?.task.cancel()
    claim = nil
  }

  // MARK: Calls

  func handle(_ call: BusCall) async throws -> BusAnswer {
    let caller: Caller
    do {
      caller = try await Caller(of: call, on: services.bus)
    } catch {
      throw BusMethodError.fprint(.permissionDenied, error.message)
    }
    switch call.method {
    case "Claim":
      let name = call.arguments[0].asString ?? ""
      // With the caller go its questions to polkit, and with them what keeps others from claiming.
      try await services.clients.run(for: caller.connection) { try await self.claim(for: name, caller) }
    case "Release":
      try holds(caller)
      await release()
    case "ListEnrolledFingers":
      return BusAnswer([.strings(try await list(call.arguments[0].asString ?? "", caller))])
    case "DeleteEnrolledFingers":
      try await deleteOutsideClaim(call.arguments[0].asString ?? "", caller)
    case "DeleteEnrolledFingers2": try await deleteAll(caller)
    case "DeleteEnrolledFinger": try await deleteOne(call.arguments[0].asString ?? "", caller)
    case "VerifyStart": try await startVerify(call.arguments[0].asString ?? "", caller)
    case "VerifyStop": try await stopVerify(caller)
    case "EnrollStart": try await startEnroll(call.arguments[0].asString ?? "", caller)
    case "EnrollStop": try await stopEnroll(caller)
    default: throw BusMethodError.fprint(.internalError, "This version of Whorl has no method \(call.method).")
    }
    return BusAnswer()
  }

  func property(_ name: String, for sender: String) async throws -> BusValue {
    let description = station.description
    switch name {
    case "name": return .string(description.name)
    case "num-enroll-stages":
      // Only known while claimed, as fprintd documents.
      return .int32(claim == nil ? -1 : Int32(clamping: description.enrollStages))
    case "scan-type": return .string(description.scanType == .swipe ? "swipe" : "press")
    case "finger-needed": return .boolean(fingerNeeded)
    case "finger-present": return .boolean(fingerPresent)
    default: throw BusMethodError(name: "org.freedesktop.DBus.Error.UnknownProperty", message: "no property \(name)")
    }
  }

  /// Tells what the reader waits for, as the bridge says.
  func fingerStatus(needed: Bool, present: Bool) {
    var changed: [String: BusValue] = [:]
    if needed != fingerNeeded { changed["finger-needed"] = .boolean(needed) }
    if present != fingerPresent { changed["finger-present"] = .boolean(present) }
    fingerNeeded = needed
    fingerPresent = present
    guard !changed.isEmpty else { return }
    do {
      try services.bus.emitPropertiesChanged(path: path, interface: FprintNames.deviceInterface, changed: changed)
    } catch {
      Log.warning("could not tell of the finger: \(error)")
    }
  }

  // MARK: Who may do what

  /// The user that a name given by a caller means: his own where it is empty; another's with polkit's leave.
  private func user(_ name: String, _ caller: Caller) async throws(BusMethodError) -> FprintUser {
    let own: Account?
    do { own = try await services.hall.accounts.with(caller.user) } catch { throw .fprint(.internalError, error.line) }
    if name.isEmpty || name == own?.name {
      guard let own else { throw .fprint(.internalError, "The account of uid \(caller.user.rawValue) has no name.") }
      return FprintUser(name: own.name, account: own)
    }
    do {
      try PrintStore.check(user: name)
    } catch {
      throw .fprint(.internalError, "\(error)")
    }
    let account: Account?
    do {
      account = try await services.hall.accounts.named(name, for: caller.user)
    } catch {
      throw .fprint(.internalError, error.line)
    }
    // His own account in another spelling is still his own.
    if let own, account?.user == own.user { return FprintUser(name: own.name, account: own) }
    guard await services.polkit.allows(caller.connection, FprintNames.Action.setUserName) else {
      throw .fprint(.permissionDenied, "Not Authorized: \(FprintNames.Action.setUserName)")
    }
    // The name service's own spelling, so that one account has one folder.
    return FprintUser(name: account?.name ?? name, account: account)
  }

  func authorise(_ caller: Caller, _ actions: [String]) async throws(BusMethodError) {
    for action in actions where await services.polkit.allows(caller.connection, action) { return }
    throw .fprint(.permissionDenied, "Not Authorized: \(actions.joined(separator: " or "))")
  }

  /// The claim of this caller.
  @discardableResult
  func holds(_ caller: Caller) throws(BusMethodError) -> FprintClaim {
    guard let claim else {
      throw .fprint(.claimDevice, "Device was not claimed before use")
    }
    guard claim.owner == caller.connection else {
      throw .fprint(.alreadyInUse, "Device already in use by another user")
    }
    return claim
  }

  // MARK: Claim and release

  private func claim(for name: String, _ caller: Caller) async throws(BusMethodError) {
    try refuseWhenClaimed()
    // Held through polkit's question, so that two callers cannot both pass it.
    claiming = caller.connection
    defer { claiming = nil }
    try services.clients.follow(caller.connection)
    let user = try await user(name, caller)
    try await authorise(caller, [FprintNames.Action.verify, FprintNames.Action.enroll])
    do {
      try await station.enter()
    } catch {
      throw .fprint(.internalError, "Open failed with error: \(error.line)")
    }
    // The caller may have gone meanwhile: then nobody would ever release.
    guard await isStillThere(caller) else {
      await station.leave()
      throw .fprint(.internalError, "The program that claimed is gone.")
    }
    claim = FprintClaim(owner: caller.connection, user: user)
  }

  private func refuseWhenClaimed() throws(BusMethodError) {
    guard claim == nil, claiming == nil else {
      throw .fprint(.alreadyInUse, "Device was already claimed")
    }
  }

  private func isStillThere(_ caller: Caller) async -> Bool {
    do { return try await services.bus.owner(of: caller.connection) != nil } catch { return false }
  }

  /// Ends the claim and what runs under it.
  func release() async {
    guard let claim else { return }
    if let operation = claim.operation {
      operation.task.cancel()
      await operation.task.value
      claim.operation = nil
    }
    // Another call may have released it while this one waited.
    guard self.claim === claim else { return }
    self.claim = nil
    await station.leave()
  }

  // MARK: What is enrolled

  private func list(_ name: String, _ caller: Caller) async throws(BusMethodError) -> [String] {
    let user = try await user(name, caller)
    try await authorise(caller, [FprintNames.Action.verify])
    let fingers: [Finger]
    do {
      fingers = try services.hall.fingers(of: user, on: station)
    } catch {
      throw .fprint(.internalError, "The enrolled prints cannot be listed: \(error)")
    }
    guard !fingers.isEmpty else {
      throw .fprint(.noEnrolledPrints, "Failed to discover prints")
    }
    return fingers.map(\.name)
  }

  private func deleteOutsideClaim(_ name: String, _ caller: Caller) async throws(BusMethodError) {
    if let claim, claim.owner != caller.connection {
      throw .fprint(.alreadyInUse, "Device already in use by another user")
    }
    let user = try await user(name, caller)
    try await authorise(caller, [FprintNames.Action.enroll])
    try await delete(user, nil)
  }

  private func deleteAll(_ caller: Caller) async throws(BusMethodError) {
    let claim = try holds(caller)
    try await authorise(caller, [FprintNames.Action.enroll])
    guard claim.operation == nil else { throw .fprint(.alreadyInUse, "Another operation is already in progress") }
    try await delete(claim.user, nil)
  }

  private func deleteOne(_ name: String, _ caller: Caller) async throws(BusMethodError) {
    let claim = try holds(caller)
    guard let finger = Finger(name: name) else {
      throw .fprint(.invalidFingerName, "Invalid finger name")
    }
    try await authorise(caller, [FprintNames.Action.enroll])
    guard claim.operation == nil else { throw .fprint(.alreadyInUse, "Another operation is already in progress") }
    try await delete(claim.user, finger)
  }

  /// Deletes one finger, or all of this reader: first from the enclave's record (items bound to the set are gone from
  /// there on), then from the disk, then from the reader's chip.
  private func delete(_ user: FprintUser, _ one: Finger?) async throws(BusMethodError) {
    let fingers: [Finger]
    do {
      fingers = try services.hall.fingers(of: user, on: station)
    } catch {
      throw .fprint(.internalError, "The enrolled prints cannot be listed: \(error)")
    }
    let chosen = one.map { finger in fingers.filter { $0 == finger } } ?? fingers
    guard !chosen.isEmpty else { throw .fprint(.noEnrolledPrints, "No prints to delete") }
    for finger in chosen { try await delete(user, finger: finger) }
  }

  private func delete(_ user: FprintUser, finger: Finger) async throws(BusMethodError) {
    let description = station.description
    let key = PrintStore.Key(
      user: user.name, driver: description.driver, deviceID: description.deviceID, finger: finger)
    var data: [UInt8]?
    do { data = try services.hall.store.load(key) } catch { Log.warning("deleting a damaged print: \(error)") }
    do {
      if let account = user.account {
        try await services.enclave.deleted(user: account.user, finger: finger.rawValue, reader: station.storeName)
      }
      _ = try services.hall.store.delete(key)
    } catch {
      throw .fprint(.printsNotDeleted, "The print of \(finger.name) was not deleted: \(text(error))")
    }
    if let data, description.features.contains(.storageDelete) { try await deleteFromChip(data) }
  }

  private func deleteFromChip(_ data: [UInt8]) async throws(BusMethodError) {
    do throws(ReaderError) {
      try await station.enter()
      do throws(ReaderError) {
        try await services.hall.keeper.deletePrint(station.id, print: data)
      } catch .dataNotFound {
        // What the chip has lost needs no deleting.
      } catch {
        await station.leave()
        throw error
      }
      await station.leave()
    } catch {
      throw .fprint(.printsNotDeletedFromDevice, "The print is off the disk but still on the reader: \(error.line)")
    }
  }

  func text(_ error: any Error) -> String {
    if let error = error as? EnclaveError { return error.message }
    return "\(error)"
  }
}
