internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// What the owner of secrets says about the fingers and the readers that may open them, with his passcode: registers
/// fingers that are enrolled already, and trusts readers.
@GLibActor
struct ReaderTrust {
  let hall: ReaderHall
  let enclave: Enclave

  /// Registers fingers of the caller's that are enrolled.
  /// - Parameters:
  ///   - names: those alone, by their names; nil for all.
  ///   - reader: those on the reader of this object alone, which is trusted then unless another of its kind is; nil for
  ///     all readers that are there.
  /// - Returns: what was done; data/dbus/org.whorl.Authentication1.xml lists the keys.
  func adopt(
    _ context: ContextID, _ owner: ContextOwner, fingers names: [String]?, reader: String?
  ) async throws -> [String: BusValue] {
    var wanted: Set<Finger>?
    if let names {
      var fingers: Set<Finger> = []
      for name in names {
        guard let finger = Finger(name: name) else {
          throw BusMethodError.whorl("Param", "There is no finger of the name \(String(name.prefix(64)).printable).")
        }
        fingers.insert(finger)
      }
      wanted = fingers
    }
    let user = try await self.user(owner.user)
    var stations = try await stationsNow()
    if let reader {
      stations = stations.filter { FprintNames.devicePath($0.number) == reader }
      guard !stations.isEmpty else { throw BusMethodError.whorl("Param", "That reader is not there any more.") }
    }
    var stored: [StoredFinger] = []
    for station in stations {
      let place = hall.place(of: station)
      do {
        for print in try hall.prints(of: user, on: station).readable where wanted?.contains(print.finger) ?? true {
          stored.append(
            StoredFinger(
              finger: print.finger.rawValue, reader: station.storeName,
              readerName: station.description.name.printable, place: place, print: print.data))
        }
      } catch {
        throw BusMethodError.whorl("Failed", "The enrolled prints cannot be read: \(error)")
      }
    }
    guard !stored.isEmpty else {
      throw BusMethodError.whorl(
        "BiometryNotEnrolled", "No such finger is enrolled on a reader that is there; enrol one with: whorl enroll")
    }
    let done = try await enclave.register(context, owner: owner, fingers: stored)
    for place in done.trusted { Log.notice("uid \(owner.user) trusts the reader \(place.id) (\(place.path))") }
    let registered = Finger.allCases.filter { finger in done.fingers.contains { $0.finger == finger.rawValue } }
    var untrusted: [String] = []
    for station in stations where stored.contains(where: { $0.reader == station.storeName }) {
      if let place = hall.place(of: station), await enclave.isTrusted(place, user: owner.user) { continue }
      untrusted.append(station.description.name.printable)
    }
    return ["fingers": .strings(registered.map(\.name)), "untrusted-readers": .strings(untrusted)]
  }

  /// The readers that are there, then those that are trusted and are not there.
  func list(for user: UserID) async throws -> [BusValue] {
    let trusted = try await enclave.trustedReaders(of: user)
    var entries: [BusValue] = []
    var present: Set<ReaderPlace> = []
    for station in try await stationsNow() {
      var entry: [String: BusValue] = [
        "name": .string(station.description.name), "driver": .string(station.description.driver),
        "path": .objectPath(FprintNames.devicePath(station.number)), "present": .boolean(true),
      ]
      let place = hall.place(of: station)
      if let place {
        present.insert(place)
        add(place, to: &entry)
      }
      entry["trusted"] = .boolean(place.map { place in trusted.contains { $0.place == place } } ?? false)
      entries.append(.options(entry))
    }
    for reader in trusted where !present.contains(reader.place) {
      var entry: [String: BusValue] = [
        "name": .string(reader.name), "driver": .string(reader.place.driver), "present": .boolean(false),
        "trusted": .boolean(true),
      ]
      add(reader.place, to: &entry)
      entries.append(.options(entry))
    }
    return entries
  }

  private func add(_ place: ReaderPlace, to entry: inout [String: BusValue]) {
    entry["id"] = .string(place.id)
    entry["place"] = .string(place.path.printable)
    let attachment =
      switch place.attachment {
      case .fixed: "fixed"
      case .removable: "removable"
      case .virtual: "virtual"
      case .unknown: "unknown"
      }
    entry["attachment"] = .string(attachment)
  }

  /// Trusts a reader that is there with the caller's secrets.
  /// - Parameter reader: its id, as ``list(for:)`` has it.
  func trust(_ context: ContextID, _ owner: ContextOwner, reader id: String) async throws {
    let matching = try await stationsNow().compactMap { station in
      hall.place(of: station).flatMap { $0.id == id ? (place: $0, name: station.description.name) : nil }
    }
    guard matching.count == 1 else {
      throw BusMethodError.whorl(
        "Param",
        "No reader \(String(id.prefix(64)).printable) is here that could be told apart; whorl reader list shows them.")
    }
    try await enclave.trust(context, owner: owner, place: matching[0].place, name: matching[0].name.printable)
    Log.notice("uid \(owner.user) trusts the reader \(matching[0].place.id) (\(matching[0].place.path))")
  }

  /// Trusts a reader no more, be it there or not.
  /// - Parameter id: as ``list(for:)`` has it; empty for all of them.
  func distrust(_ id: String, for user: UserID) async throws {
    if id.isEmpty { return try await enclave.distrustAll(user: user) }
    for reader in try await enclave.trustedReaders(of: user) where reader.place.id == id {
      _ = try await enclave.distrust(reader.place, user: user)
      return
    }
    throw BusMethodError.whorl(
      "Param", "The reader \(String(id.prefix(64)).printable) is not trusted; whorl reader list shows those that are.")
  }

  private func user(_ user: UserID) async throws -> FprintUser {
    let account: Account?
    do { account = try await hall.accounts.with(user) } catch { throw BusMethodError.whorl("Failed", error.line) }
    guard let account else {
      throw BusMethodError.whorl("BiometryNotEnrolled", "Your account has no name, so no finger of yours is enrolled.")
    }
    return FprintUser(name: account.name, account: account)
  }

  private func stationsNow() async throws -> [ReaderStation] {
    do throws(ReaderError) { return try await hall.refresh() } catch {
      throw BusMethodError.whorl(error.leavesNoReader ? "BiometryNotAvailable" : "ReaderFailed", error.line)
    }
  }
}
