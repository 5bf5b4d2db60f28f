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
  /// Why enrolments were refused, for those who ask.
  let notes: EnrollmentNotes
  let limits: CallLimits
  let enrolments: EnrolmentLimits

  /// A user with that account, of whom the enclave knows whose uid it is.
  func user(_ account: Account) async -> FprintUser {
    await enclave.learn(account.user, .named(account.name))
    return FprintUser(name: account.name, account: account)
  }
}

/// `net.reactivated.Fprint.Device` for one reader: claims, and who may do what. The operations are in
/// FprintDeviceFace+Operations.swift.
@GLibActor
final class FprintDeviceFace: BusHandler {
  /// The seconds that an operation waits for its turn on a busy reader.
  static let patience = 5
  /// So many milliseconds a Stop waits for a finger to be lifted.
  static let settleMilliseconds = 5000
  /// So many milliseconds a Start waits for the reader to say that it waits for a finger.
  static let armingMilliseconds = 300

  let services: FprintServices
  let station: ReaderStation
  let path: String
  var claim: FprintClaim?
  /// Whether the reader is being opened for a claim.
  private var isOpening = false
  /// A deletion of prints without a claim, or what is left of one whose claim has ended.
  @GLibActor
  private final class LooseDeletion {
    /// Who asked for it; nil where a claim has ended.
    let caller: Caller?
    var task: Task<Void, Never>?
    /// Whether it has the reader's turn: then it goes to its end.
    var hasBegun = false

    init(_ caller: Caller?) { self.caller = caller }
  }

  private var looseDeletion: LooseDeletion?
  /// Whether the reader was unplugged. Its object stays for as long as somebody holds it.
  private(set) var isGone = false
  /// Told when the object is off the bus.
  var onUnregistered: (@GLibActor () -> Void)?
  private var registration: BusRegistration?
  private var vanishing: UInt64?
  private(set) var fingerNeeded = false
  /// Told once when the reader waits for a finger.
  var onFingerNeeded: (@GLibActor () -> Void)?
  private var fingerPresent = false

  init(_ station: ReaderStation, _ services: FprintServices, xml: String) throws(BusError) {
    self.services = services
    self.station = station
    path = FprintNames.devicePath(station.number)
    registration = try services.bus.export(
      path: path, interfaceXML: xml, interface: FprintNames.deviceInterface, handler: self)
    vanishing = services.clients.onVanish { [weak self] connection in
      guard let self, self.claim?.owner == connection else { return }
      Task { @GLibActor in await self.release() }
    }
  }

  /// The reader was unplugged: what runs ends by itself, and the object goes once nobody holds the reader.
  func readerIsGone() {
    isGone = true
    if claim == nil { unregister() }
  }

  /// The reader is there again while its object still was.
  func readerIsBack() { isGone = false }

  private func unregister() {
    registration?.unregister()
    registration = nil
    if let vanishing { services.clients.ignoreVanishing(vanishing) }
    vanishing = nil
    onUnregistered?()
  }

  // MARK: Calls

  func handle(_ call: BusCall) async throws -> BusAnswer {
    switch call.method {
    // What frees a reader is never refused, and costs nothing where there is nothing to free.
    case "Release": try await release(by: call.sender)
    case "VerifyStop": try await stop(.verification, by: call.sender, "No verification in progress")
    case "EnrollStop": try await stop(.enrolment, by: call.sender, "No enrollment in progress")
    default:
      let caller = try await Caller(ofFprint: call, on: services.bus)
      return try await services.limits.run(for: caller.user, wantsReader: true) {
        // With the caller go its questions to polkit, and with them what keeps others from claiming.
        try await self.services.clients.run(for: caller.connection) { try await self.answer(call, caller) }
      }
    }
    station.stir()
    return BusAnswer()
  }

  private func answer(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    // Who uses the reader is there: a screen locker that waits may arm it again.
    if call.method != "ListEnrolledFingers" { station.stir() }
    switch call.method {
    case "Claim": try await claim(for: call.arguments[0].asString ?? "", caller)
    case "ListEnrolledFingers":
      return BusAnswer([.strings(try await list(call.arguments[0].asString ?? "", caller))])
    case "DeleteEnrolledFingers":
      try await deleteOutsideClaim(call.arguments[0].asString ?? "", caller)
    case "DeleteEnrolledFingers2": try await deleteAll(caller)
    case "DeleteEnrolledFinger": try await deleteOne(call.arguments[0].asString ?? "", caller)
    case "VerifyStart":
      let operation = try await startVerify(call.arguments[0].asString ?? "", caller)
      return BusAnswer(whenSent: { operation.answered() })
    case "EnrollStart":
      let operation = try await startEnroll(call.arguments[0].asString ?? "", caller)
      return BusAnswer(whenSent: { operation.answered() })
    default: throw BusMethodError.fprint(.internalError, "This version of Whorl has no method \(call.method).")
    }
    return BusAnswer()
  }

  func property(_ name: String, for sender: String) async throws -> BusValue {
    let description = station.description
    switch name {
    case "name": return .string(description.name)
    case "num-enroll-stages":
      return .int32(Self.stages(description))
    case "scan-type": return .string(Self.scanType(description))
    case "finger-needed": return .boolean(fingerNeeded)
    case "finger-present": return .boolean(fingerPresent)
    default: throw BusMethodError(name: "org.freedesktop.DBus.Error.UnknownProperty", message: "no property \(name)")
    }
  }

  /// How often a finger is touched for an enrolment: one more than the reader asks for where the first touch is for
  /// finding out whether the finger is enrolled already.
  private static func stages(_ description: ReaderDescription) -> Int32 {
    Int32(clamping: description.enrollStages) + (description.features.contains(.identify) ? 1 : 0)
  }

  private static func scanType(_ description: ReaderDescription) -> String {
    description.scanType == .swipe ? "swipe" : "press"
  }

  /// Tells what is different since the bridge described the reader anew.
  func descriptionChanged(from old: ReaderDescription) {
    let new = station.description
    var changed: [String: BusValue] = [:]
    if old.name != new.name { changed["name"] = .string(new.name) }
    if Self.stages(old) != Self.stages(new) { changed["num-enroll-stages"] = .int32(Self.stages(new)) }
    if old.scanType != new.scanType { changed["scan-type"] = .string(Self.scanType(new)) }
    tell(changed)
  }

  /// Tells what the reader waits for, as the bridge says.
  func fingerStatus(needed: Bool, present: Bool) {
    var changed: [String: BusValue] = [:]
    if needed != fingerNeeded { changed["finger-needed"] = .boolean(needed) }
    if present != fingerPresent { changed["finger-present"] = .boolean(present) }
    fingerNeeded = needed
    fingerPresent = present
    tell(changed)
    if needed {
      onFingerNeeded?()
      onFingerNeeded = nil
    }
  }

  private func tell(_ changed: [String: BusValue]) {
    guard !changed.isEmpty, registration != nil else { return }
    do {
      try services.bus.emitPropertiesChanged(path: path, interface: FprintNames.deviceInterface, changed: changed)
    } catch {
      Log.warning("could not tell of the reader's properties: \(error)")
    }
  }

  // MARK: Who may do what

  /// The user that a name given by a caller means: his own where it is empty; another's with polkit's leave.
  func user(_ name: String, _ caller: Caller) async throws(BusMethodError) -> FprintUser {
    let own: Account?
    do { own = try await services.hall.accounts.with(caller.user) } catch { throw .fprint(.internalError, error.line) }
    if name.isEmpty || name == own?.name {
      guard let own else { throw .fprint(.internalError, "The account of uid \(caller.user.rawValue) has no name.") }
      return await services.user(own)
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
    if let own, account?.user == own.user { return await services.user(own) }
    guard await services.polkit.allows(caller, FprintNames.Action.setUserName) else {
      throw .fprint(.permissionDenied, "Not Authorized: \(FprintNames.Action.setUserName)")
    }
    // The name service's own spelling, so that one account has one folder.
    if let account { return await services.user(account) }
    return FprintUser(name: name, account: nil)
  }

  func authorise(_ caller: Caller, _ actions: [String]) async throws(BusMethodError) {
    for action in actions where await services.polkit.allows(caller, action) { return }
    throw .fprint(.permissionDenied, "Not Authorized: \(actions.joined(separator: " or "))")
  }

  /// The claim of this caller.
  @discardableResult
  func holds(_ caller: Caller) throws(BusMethodError) -> FprintClaim { try holds(caller.connection) }

  @discardableResult
  func holds(_ connection: String) throws(BusMethodError) -> FprintClaim {
    guard let claim else {
      throw .fprint(.claimDevice, "Device was not claimed before use")
    }
    guard claim.owner == connection else {
      throw .fprint(.alreadyInUse, "Device already in use by another user")
    }
    guard !claim.isEnding else { throw .fprint(.alreadyInUse, "The device is being released") }
    return claim
  }

  // MARK: Claim and release

  private func claim(for name: String, _ caller: Caller) async throws(BusMethodError) {
    // One whose client has just gone takes a moment to end, and is nobody's any more.
    _ = await claim?.ending?.value
    if await !mayTakeOver(caller) { try refuseWhenClaimed() }
    try services.clients.follow(caller.connection)
    let user = try await user(name, caller)
    try await authorise(caller, [FprintNames.Action.verify, FprintNames.Action.enroll])
    // Learned now, so that no operation under the claim has to wait for it.
    _ = await services.sessions.standing(of: caller.connection)
    // Once more: polkit's question took its time, and does not keep others from claiming.
    await takeOver(from: caller)
    await endDeletionThatWaits(for: caller)
    try refuseWhenClaimed()
    guard !isGone else { throw .fprint(.internalError, "Open failed with error: the reader was unplugged") }
    isOpening = true
    defer { isOpening = false }
    do {
      try await station.enter()
    } catch {
      throw .fprint(.internalError, "Open failed with error: \(error.line)")
    }
    // The caller may have gone meanwhile: then nobody would ever release.
    // Asked without a wait: after one, its end could have been told before the claim is there to be ended.
    guard services.clients.isFollowed(caller.connection) else {
      await station.leave()
      throw .fprint(.internalError, "The program that claimed is gone.")
    }
    claim = FprintClaim(owner: caller.connection, ownerUser: caller.user, user: user)
  }

  /// Whether a caller goes before the one who holds the reader: see ``Seeker/givesWay(to:)``.
  private func mayTakeOver(_ caller: Caller) async -> Bool {
    guard let claim, !claim.isEnding, claim.owner != caller.connection else { return false }
    _ = await services.sessions.standing(of: caller.connection)
    _ = await services.sessions.standing(of: claim.owner)
    return givesWay(claim.owner, claim.ownerUser, to: caller)
  }

  /// Whether one gives a reader up for another; what is known of both is enough.
  private func givesWay(_ connection: String, _ user: UserID, to caller: Caller) -> Bool {
    let sessions = services.sessions
    return sessions.known(connection).givesWay(to: sessions.known(caller.connection), from: user, to: caller.user)
  }

  private func takeOver(from caller: Caller) async {
    guard let claim, await mayTakeOver(caller), self.claim === claim else { return }
    Log.notice("the claim of \(claim.user.name) gives way to a program at the seat")
    claim.operation?.isDisplaced = true
    await release()
  }

  private func refuseWhenClaimed() throws(BusMethodError) {
    guard claim == nil, !isOpening, looseDeletion == nil else {
      throw .fprint(.alreadyInUse, "Device was already claimed")
    }
  }

  private func release(by connection: String) async throws(BusMethodError) {
    let claim = try holds(connection)
    if claim.operation?.kind == .deletion {
      leaveDeletion(claim)
      throw .fprint(.internalError, "Release failed with error: prints are still being deleted from the reader")
    }
    if let error = await release() {
      throw .fprint(.internalError, "Release failed with error: \(error.line)")
    }
  }

  /// Ends the claim and what runs under it.
  /// - Returns: what the reader said to that; the claim is over all the same.
  @discardableResult
  func release() async -> ReaderError? {
    guard let claim, !claim.isEnding else { return nil }
    if claim.operation?.kind == .deletion {
      leaveDeletion(claim)
      return nil
    }
    claim.isEnding = true
    let ending = Task { @GLibActor in
      if let operation = claim.operation {
        operation.task?.cancel()
        await operation.task?.value
        claim.operation = nil
      }
      let error = await station.leave()
      self.claim = nil
      return error
    }
    claim.ending = ending
    let error = await ending.value
    guard isGone else { return error }
    unregister()
    return error ?? .removed("it was unplugged")
  }

  /// Ends a claim under which prints are being deleted: that goes to its end, and the reader is free then.
  private func leaveDeletion(_ claim: FprintClaim) {
    claim.isEnding = true
    self.claim = nil
    let rest = LooseDeletion(nil)
    rest.hasBegun = true
    looseDeletion = rest
    rest.task = Task { @GLibActor in
      await claim.operation?.task?.value
      await self.station.leave()
      self.endDeletion(rest)
      if self.isGone { self.unregister() }
    }
  }

  // MARK: What is enrolled

  private func list(_ name: String, _ caller: Caller) async throws(BusMethodError) -> [String] {
    let user = try await user(name, caller)
    try await authorise(caller, [FprintNames.Action.verify])
    let fingers: [Finger]
    do {
      // What is no print at all is no finger that could be verified.
      fingers = try services.hall.prints(of: user, on: station).readable.map(\.finger)
    } catch {
      throw .fprint(.internalError, "The enrolled prints cannot be listed: \(error)")
    }
    guard !fingers.isEmpty else {
      throw .fprint(.noEnrolledPrints, "Failed to discover prints")
    }
    return fingers.map(\.name)
  }

  func text(_ error: any Error) -> String {
    if let error = error as? EnclaveError { return error.message }
    return "\(error)"
  }

  /// Runs a deletion by somebody who holds no claim, or his own.
  /// - Parameter body: calls what it is given once it has the reader's turn.
  func withoutOthers(
    _ caller: Caller, _ body: @escaping @GLibActor (_ begun: @escaping @GLibActor () -> Void) async -> BusMethodError?
  ) async throws(BusMethodError) {
    if claim != nil {
      let claim = try holds(caller)
      return try await delete(under: claim) { await body {} }
    }
    // One after the other; whoever has waited for one does not wait for the next.
    await looseDeletion?.task?.value
    guard claim == nil, !isOpening, looseDeletion == nil else {
      throw .fprint(.alreadyInUse, "Another operation is already in progress")
    }
    let deletion = LooseDeletion(caller)
    looseDeletion = deletion
    defer { endDeletion(deletion) }
    let work = Task { @GLibActor in await body { deletion.hasBegun = true } }
    deletion.task = Task { @GLibActor in
      await withTaskCancellationHandler {
        _ = await work.value
      } onCancel: {
        work.cancel()
      }
    }
    if let error = await work.value { throw error }
  }

  /// A deletion that only waits for its turn gives way as a claim would.
  private func endDeletionThatWaits(for caller: Caller) async {
    guard let deletion = looseDeletion, !deletion.hasBegun, let other = deletion.caller else { return }
    _ = await services.sessions.standing(of: other.connection)
    guard looseDeletion === deletion, !deletion.hasBegun, givesWay(other.connection, other.user, to: caller) else {
      return
    }
    deletion.task?.cancel()
    await deletion.task?.value
    endDeletion(deletion)
  }

  private func endDeletion(_ deletion: LooseDeletion) { if looseDeletion === deletion { looseDeletion = nil } }
}
