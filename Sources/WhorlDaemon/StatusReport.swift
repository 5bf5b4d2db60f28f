internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
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

  func values(for user: UserID) async -> [String: BusValue] {
    let status = await enclave.status(user: user)
    var values: [String: BusValue] = [
      "version": .string(Self.version),
      "private": .boolean(surroundings.isPrivate),
      "misses": .uint32(UInt32(clamping: status.misses)),
      "misses-allowed": .uint32(UInt32(clamping: status.missesAllowed)),
      "passcode-delay": .uint32(UInt32(clamping: status.passcodeDelay)),
      "passcode": .string(await passcodes.isSet(user: user) ? "set" : "not-set"),
    ]
    switch status.deviceKey {
    case .sealed(let sealing): values["device-key"] = .string(sealing.rawValue)
    case .unavailable(let why):
      values["device-key"] = .string("unavailable")
      values["device-key-error"] = .string(why)
    }
    if let error = status.storeError { values["store-error"] = .string(error) }
    let (biometry, error) =
      if let storeError = status.storeError { ("failed", storeError as String?) } else {
        await biometry(user, isLockedOut: status.isLockedOut)
      }
    values["biometry"] = .string(biometry)
    if let error { values["biometry-error"] = .string(error) }
    await addReaders(of: user, registered: status.registered, to: &values)
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

  private func addReaders(
    of user: UserID, registered: [BiometrySetMember], to values: inout [String: BusValue]
  ) async {
    var readers: [BusValue] = []
    var enrolled: [Finger] = []
    var unreadable: [Finger] = []
    var unregistered: [Finger] = []
    let account = (try? await hall.accounts.with(user)) ?? nil
    for station in hall.stations {
      let description = station.description
      readers.append(
        .options([
          "name": .string(description.name),
          "driver": .string(description.driver),
          "scan-type": .string(description.scanType == .swipe ? "swipe" : "press"),
          "path": .objectPath(FprintNames.devicePath(station.number)),
        ]))
      guard let account else { continue }
      let prints: (readable: [(finger: Finger, data: [UInt8])], damaged: [Finger])
      do {
        prints = try hall.prints(of: FprintUser(name: account.name, account: account), on: station)
      } catch {
        values["biometry"] = .string("failed")
        values["biometry-error"] = .string("The enrolled prints cannot be read: \(error)")
        continue
      }
      enrolled += prints.readable.map(\.finger)
      unreadable += prints.damaged
      for print in prints.readable where !(await enclave.isRegistered(print.data, user: user)) {
        unregistered.append(print.finger)
      }
    }
    values["readers"] = .array(element: "a{sv}", readers)
    values["enrolled"] = .strings(enrolled.map(\.name))
    values["unreadable"] = .strings(unreadable.map(\.name))
    values["unregistered"] = .strings(unregistered.map(\.name))
  }
}
