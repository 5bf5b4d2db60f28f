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

  /// Finds fingers of a user's that are enrolled.
  /// - Parameters:
  ///   - names: those alone, by their names; nil for all.
  ///   - reader: those on the reader of this object alone; nil for all readers that are there.
  /// - Throws: `Param`, `BiometryNotEnrolled` where there is none.
  func enrolled(_ owner: UserID, fingers names: [String]?, reader: String?) async throws -> [StoredFinger] {
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
    let user = try await self.user(owner)
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
    return stored
  }

  /// What the person is told of an adoption: the fingers that it would let open secrets.
  func details(of prints: [StoredFinger], _ user: UserID) async -> [String: BusValue] {
    var new: [StoredFinger] = []
    for print in prints where await !enclave.isRegistered(print.print, user: user) { new.append(print) }
    return ["fingers": .strings(Self.names(new.isEmpty ? prints : new))]
  }

  private static func names(_ prints: [StoredFinger]) -> [String] {
    Finger.allCases.filter { finger in prints.contains { $0.finger == finger.rawValue } }.map(\.name)
  }

  /// Registers fingers of the caller's, those that ``enrolled(_:fingers:reader:)`` gave. Where they are all of one reader,
  /// that is trusted then unless another of its kind is.
  /// - Parameter shown: those that the person was told of.
  /// - Returns: what was done; data/dbus/org.whorl.Authentication1.xml lists the keys.
  /// - Throws: `Denied` where others are enrolled by now.
  func adopt(
    _ context: ContextID, _ owner: ContextOwner, fingers names: [String]?, reader: String?, shown: [StoredFinger]
  ) async throws -> [String: BusValue] {
    let stored = try await enrolled(owner.user, fingers: names, reader: reader)
    guard stored == shown else {
      throw BusMethodError.whorl(
        "Denied", "Fingers or readers were changed while you were asked for your password; ask again.")
    }
    let done = try await enclave.register(context, owner: owner, fingers: stored)
    for place in done.trusted { Log.notice("uid \(owner.user) trusts the reader \(place.id) (\(place.path))") }
    var untrusted: [String] = []
    var seen: Set<ReaderPlace?> = []
    for print in stored where seen.insert(print.place).inserted {
      if let place = print.place, await enclave.isTrusted(place, user: owner.user) { continue }
      untrusted.append(print.readerName)
    }
    return ["fingers": .strings(Self.names(done.fingers)), "untrusted-readers": .strings(untrusted)]
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
    entry["attachment"] = .string(Self.word(place.attachment))
  }

  nonisolated private static func word(_ attachment: ReaderPlace.Attachment) -> String {
    switch attachment {
    case .fixed: "fixed"
    case .removable: "removable"
    case .virtual: "virtual"
    case .unknown: "unknown"
    }
  }

  /// A reader that is there and could be trusted.
  struct Candidate: Equatable {
    let place: ReaderPlace
    let name: String

    /// What the person is told of it.
    var details: [String: BusValue] {
      ["reader": .string("\(name) (\(ReaderTrust.word(place.attachment)), \(place.id))")]
    }
  }

  /// Finds a reader that is there.
  /// - Parameter id: as ``list(for:)`` has it.
  /// - Throws: `Param` where there is none.
  func candidate(_ id: String) async throws -> Candidate {
    let matching = try await stationsNow().compactMap { station in
      hall.place(of: station).flatMap {
        $0.id == id ? Candidate(place: $0, name: station.description.name.printable) : nil
      }
    }
    guard matching.count == 1 else {
      throw BusMethodError.whorl(
        "Param",
        "No reader \(String(id.prefix(64)).printable) is here that could be told apart; whorl reader list shows them.")
    }
    return matching[0]
  }

  /// Trusts a reader with the caller's secrets: the one that ``candidate(_:)`` gave, while it is still there.
  func trust(_ context: ContextID, _ owner: ContextOwner, _ reader: Candidate) async throws {
    guard try await candidate(reader.place.id) == reader else {
      throw BusMethodError.whorl(
        "Denied", "The reader was changed while you were asked for your password; ask again.")
    }
    try await enclave.trust(context, owner: owner, place: reader.place, name: reader.name)
    Log.notice("uid \(owner.user) trusts the reader \(reader.place.id) (\(reader.place.path))")
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
