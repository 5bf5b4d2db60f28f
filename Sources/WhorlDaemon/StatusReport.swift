internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderLink

/// What `GetStatus` tells a caller about himself (data/dbus/org.whorl.Authentication1.xml).
@GLibActor
struct StatusReport {
  /// The version of Whorl.
  static let version = "0.1.0"

  let surroundings: Surroundings
  let hall: ReaderHall
  let enclave: Enclave
  let sensor: ReaderSensor
  let passcodes: PasscodeChild
  /// USB readers that the bridge does not offer.
  var unlisted = UnlistedReaders()

  func values(for user: UserID) async -> [String: BusValue] {
    let status = await enclave.status(user: user)
    var values: [String: BusValue] = [
      "version": .string(Self.version),
      "private": .boolean(surroundings.isPrivate),
      "misses": .uint32(UInt32(clamping: status.misses)),
      "misses-allowed": .uint32(UInt32(clamping: status.missesAllowed)),
      "passcode-delay": .uint32(UInt32(clamping: status.passcodeDelay)),
      "passcode": .string(await passcodes.state(of: user).isWorthAsking ? "set" : "not-set"),
    ]
    switch status.deviceKey {
    case .sealed(let sealing): values["device-key"] = .string(sealing.rawValue)
    case .unavailable(let why):
      values["device-key"] = .string("unavailable")
      values["device-key-error"] = .string(why)
    }
    values["recovery-key"] = .boolean(status.hasRecoveryKey)
    if let keybag = status.keybag {
      values["keybag"] = .string(status.isFormerPasscodeNeeded ? "former-passcode-needed" : keybag.rawValue)
    }
    if status.storeError != nil, let ways = (try? await enclave.waysBack(of: user)) ?? nil, !ways.isEmpty {
      values["recoverable-by"] = .strings(
        (ways.recoveryKey ? ["recovery-key"] : []) + (ways.passcode == nil ? [] : ["passcode"]))
    }
    if let error = status.storeError { values["store-error"] = .string(error) }
    let (biometry, error) =
      if let storeError = status.storeError { ("failed", storeError as String?) } else {
        await biometry(user, isLockedOut: status.isLockedOut)
      }
    values["biometry"] = .string(biometry)
    // Of its own: a lockout stays one without a finger or a reader. A store that cannot be read knows of none.
    values["locked-out"] = .boolean(status.storeError == nil && status.isLockedOut)
    if let error { values["biometry-error"] = .string(error) }
    if !status.registered.isEmpty { values["biometry-set"] = .bytes(status.domainState) }
    await addReaders(of: user, to: &values)
    return values
  }

  private func biometry(_ user: UserID, isLockedOut: Bool) async -> (String, String?) {
    switch await sensor.availability(of: user) {
    case .noReader(let why): ("no-reader", why)
    case .failed(let why): ("failed", why)
    case .notEnrolled: ("not-enrolled", nil)
    case .available: (isLockedOut ? "locked-out" : "available", nil)
    }
  }

  private func addReaders(of user: UserID, to values: inout [String: BusValue]) async {
    var readers: [BusValue] = []
    var enrolled: [Finger] = []
    var unreadable: [Finger] = []
    var unregistered: [Finger] = []
    var hasTrustedReader = false
    var untrusted: String?
    var owner: FprintUser?
    do {
      owner = try await hall.accounts.with(user).map { FprintUser(name: $0.name, account: $0) }
      if let owner, case .former(let former) = try hall.ownership(of: owner) {
        values["former-prints"] = .uint32(former.rawValue)
      }
      if let account = owner?.account, let home = await hall.accounts.homeState(of: account) {
        values["home"] = .string(home.keeper.rawValue)
        values["home-locked"] = .boolean(home.isLocked)
      }
      if let account = owner?.account, let former = await hall.formerName(of: account, enclave) {
        values["former-name"] = .string(former)
      }
    } catch {
      values["biometry"] = .string("failed")
      let line = (error as? AccountsError)?.line ?? "Whose the prints are cannot be found out: \(error)"
      values["biometry-error"] = .string(line)
      owner = nil
    }
    if hall.stations.isEmpty, !surroundings.isPrivate { values["unlisted"] = unlistedReaders() }
    for station in hall.stations {
      let description = station.description
      var entry: [String: BusValue] = [
        "name": .string(description.name),
        "driver": .string(description.driver),
        "scan-type": .string(description.scanType == .swipe ? "swipe" : "press"),
        "path": .objectPath(FprintNames.devicePath(station.number)),
      ]
      (entry["state"], entry["state-detail"]) = Self.state(of: station)
      if let owner {
        do {
          let prints = try hall.prints(of: owner, on: station)
          enrolled += prints.readable.map(\.finger)
          unreadable += prints.damaged
          entry["enrolled"] = .strings(prints.readable.map(\.finger.name))
          entry["unreadable"] = .strings(prints.damaged.map(\.name))
          let place = hall.place(of: station)
          let isTrusted = if let place { await enclave.isTrusted(place, user: user) } else { false }
          entry["trusted"] = .boolean(isTrusted)
          var counts = 0
          for print in prints.readable {
            if await enclave.isRegistered(print.data, user: user) {
              counts += 1
            } else {
              unregistered.append(print.finger)
            }
          }
          // For nothing else does it matter whether it is trusted.
          if counts > 0, isTrusted { hasTrustedReader = true }
          if counts > 0, !isTrusted { untrusted = untrusted ?? description.name }
          if station.description.features.contains(.storage) {
            let lost = try lostFingers(of: owner, on: station)
            entry["chip-lost"] = .strings(lost.map(\.name))
            // Known since it was last compared with the disk, at an enrolment or a miss.
            if let chip = station.chip { entry["chip-foreign"] = .uint32(UInt32(clamping: chip.foreign.count)) }
          }
        } catch {
          values["biometry"] = .string("failed")
          values["biometry-error"] = .string("The enrolled prints cannot be read: \(error)")
        }
      }
      readers.append(.options(entry))
    }
    values["readers"] = .array(element: "a{sv}", readers)
    values["enrolled"] = .strings(enrolled.map(\.name))
    values["unreadable"] = .strings(unreadable.map(\.name))
    values["unregistered"] = .strings(unregistered.map(\.name))
    // Prints that open a login alone are none to the enclave.
    if values["biometry"] == .string("available"), unregistered.count == enrolled.count {
      values["biometry"] = .string("not-enrolled")
    }
    if values["biometry"] == .string("available"), !hasTrustedReader, let untrusted {
      values["biometry"] = .string("not-trusted")
      values["biometry-error"] = .string(Enclave.untrusted("the reader \(untrusted.printable)"))
    }
  }

  /// The fingers of a user whose prints the chip has lost.
  private func lostFingers(of user: FprintUser, on station: ReaderStation) throws(PrintStoreError) -> [Finger] {
    guard try hall.ownership(of: user) == .own else { return [] }
    let description = station.description
    return try hall.lostPrints.fingers(
      user: user.name, driver: description.driver, deviceID: description.deviceID)
  }

  /// How a reader does, as far as that is known without opening it, and in words what is the matter.
  private static func state(of station: ReaderStation) -> (BusValue, BusValue) {
    if let holder = station.turns.holder { return (.string("busy"), .string(holder)) }
    // A rest after overheating says for how long.
    guard let trouble = station.hindrance ?? station.trouble else { return (.string("ok"), .string("")) }
    let state =
      switch trouble {
      case .permissionDenied: "blocked"
      case .tooHot: "too-hot"
      case .busy: "busy"
      default: "failed"
      }
    return (.string(state), .string(trouble.line))
  }

  private func unlistedReaders() -> BusValue {
    .array(
      element: "a{sv}",
      unlisted.find().map {
        .options(["usb-id": .string($0.id), "supported": .boolean($0.isSupported), "node": .string($0.node)])
      })
  }
}
