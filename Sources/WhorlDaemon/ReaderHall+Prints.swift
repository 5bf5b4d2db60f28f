internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// The prints of a user, and whose they are. Everything that loads or lists prints goes through here, so that an account
/// that got the name of another never meets that one's.
extension ReaderHall {
  /// Whose the folder of prints with a user's name is.
  enum PrintOwnership: Sendable, Hashable {
    /// The user's, or nobody's yet.
    case own
    /// It was enrolled for another uid, whose account had this name before.
    case former(UserID)
  }

  /// Whose the prints under a user's name are. Those without a record, from before there were records, become the
  /// user's here. For a name without an account nothing is recorded, and polkit alone decides.
  func ownership(of user: FprintUser) throws(PrintStoreError) -> PrintOwnership {
    guard let account = user.account else { return .own }
    let recorded = try owners.uid(of: user.name)
    if recorded == account.user.rawValue { return .own }
    guard try hasPrints(user.name) else { return .own }
    if let recorded { return .former(UserID(recorded)) }
    prepareState()
    do {
      try owners.record(account.user.rawValue, for: user.name)
    } catch {
      Log.warning("whose the prints of \(user.name) are could not be recorded: \(error)")
    }
    return .own
  }

  /// Whether there is a print under a name, be it one that a chip has lost.
  func hasPrints(_ name: String) throws(PrintStoreError) -> Bool {
    if try store.hasPrints(user: name) { return true }
    return try lostPrints.hasPrints(user: name)
  }

  /// The prints of a user on one reader: those that can be read, and the fingers of those that cannot. None where they
  /// are a former account's.
  /// - Throws: where not even the list of them can be had.
  func prints(
    of user: FprintUser, on station: ReaderStation
  ) throws(PrintStoreError) -> (readable: [(finger: Finger, data: [UInt8])], damaged: [Finger]) {
    guard try ownership(of: user) == .own else { return ([], []) }
    let description = station.description
    let all = try store.loadAll(user: user.name, driver: description.driver, deviceID: description.deviceID)
    for (finger, error) in all.damaged { Log.warning("the print of \(finger.name) is skipped: \(error)") }
    return (all.prints.map { (finger: $0.0, data: $0.1) }, all.damaged.map(\.0))
  }

  /// Whether a print is on the disk as it was when it was loaded.
  func keeps(_ print: (finger: Finger, data: [UInt8]), of name: String, on station: ReaderStation) -> Bool {
    let key = station.printKey(of: name, print.finger)
    do {
      return try store.load(key) == print.data
    } catch {
      Log.warning("the print of \(print.finger.name) cannot be read any more: \(error)")
      return false
    }
  }

  /// The fingers that the disk names for a user on one reader, readable or not. None where they are a former account's.
  func fingers(of user: FprintUser, on station: ReaderStation) throws(PrintStoreError) -> [Finger] {
    guard try ownership(of: user) == .own else { return [] }
    return try store.fingers(
      user: user.name, driver: station.description.driver, deviceID: station.description.deviceID)
  }

  /// The fingers that a deletion is for: what the disk names, whatever is there, and what a chip has lost.
  func entries(of user: FprintUser, on station: ReaderStation) throws(PrintStoreError) -> [Finger] {
    guard try ownership(of: user) == .own else { return [] }
    let description = station.description
    let named = try store.entries(user: user.name, driver: description.driver, deviceID: description.deviceID)
    let lost = try lostPrints.entries(user: user.name, driver: description.driver, deviceID: description.deviceID)
    return Finger.allCases.filter { named.contains($0) || lost.contains($0) }
  }

  /// Finds out whether a former account's prints are under a user's name, which have to go before his first one is
  /// stored. Changes nothing of them: an enrolment may still be cancelled.
  /// - Throws: where they could not be removed, as far as that shows beforehand; nothing may be enrolled then.
  func hasFormerPrints(_ user: FprintUser) throws(PrintStoreError) -> Bool {
    guard user.account != nil, case .former = try ownership(of: user) else { return false }
    try store.checkDeletion(user: user.name)
    try lostPrints.checkDeletion(user: user.name)
    return true
  }

  /// To be called before a print of a user is stored: removes a former account's prints under his name, from the
  /// readers' chips too, and records whose the folder is from now on.
  /// - Parameter holding: the reader whose turn the caller has.
  /// - Throws: where that cannot be done; nothing may be enrolled then.
  func prepareEnrolment(of user: FprintUser, holding: ReaderStation) async throws(PrintStoreError) {
    guard let account = user.account else { return }
    prepareState()
    if case .former(let former) = try ownership(of: user) {
      Log.notice("removing the prints that were enrolled for uid \(former), whose account had the name \(user.name)")
      let removal = await removePrints(of: user.name, holding: holding)
      if let error = removal.error { throw error }
    }
    if try owners.uid(of: user.name) != account.user.rawValue {
      try owners.record(account.user.rawValue, for: user.name)
    }
  }

  /// What a removal of all prints under one name did.
  struct PrintRemoval: Sendable {
    /// How many prints are off the disk.
    var fingers = 0
    /// How many of them are off readers' chips as well.
    var onChip = 0
    /// What remains and why, one line for people each.
    var remains: [String] = []
    /// Readers that are not there, as `driver/device-id`, on whose chips prints may be.
    var absent: [String] = []
    /// Why a print remains on the disk; nil where none does.
    var error: PrintStoreError?
  }

  /// Removes all prints under one name: from the disk for every reader there ever was, then from the chips of those
  /// that are there. What a chip keeps all the same belongs to nobody from then on.
  /// - Parameter holding: a reader whose turn the caller has already.
  func removePrints(of name: String, holding: ReaderStation? = nil) async -> PrintRemoval {
    var removal = PrintRemoval()
    do throws(PrintStoreError) {
      for place in try lostPrints.readers(user: name) {
        removal.fingers +=
          try lostPrints.deleteAll(user: name, driver: place.driver, deviceID: place.deviceID).count
      }
      for place in try store.readers(user: name) {
        let prints = try store.loadAll(user: name, driver: place.driver, deviceID: place.deviceID).prints.map(\.1)
        do throws(PrintStoreError) {
          removal.fingers += try store.deleteAll(user: name, driver: place.driver, deviceID: place.deviceID).count
          let left = try store.fingers(user: name, driver: place.driver, deviceID: place.deviceID)
          guard left.isEmpty else { continue }
        } catch {
          removal.error = error
          removal.remains.append("prints on the disk: \(error)")
          continue
        }
        let stations = stations.filter {
          $0.description.driver == place.driver && $0.description.deviceID == place.deviceID
        }
        if stations.isEmpty { removal.absent.append("\(place.driver)/\(place.deviceID)") }
        for station in stations {
          station.chip?.lost.removeAll { $0.user.utf8.elementsEqual(name.utf8) }
          guard station.description.features.contains(.storageDelete) else { continue }
          await deleteFromChip(prints, station, isHeld: station === holding, &removal)
        }
      }
    } catch {
      removal.error = error
      removal.remains.append("prints on the disk: \(error)")
    }
    return removal
  }

  private func deleteFromChip(
    _ prints: [[UInt8]], _ station: ReaderStation, isHeld: Bool, _ removal: inout PrintRemoval
  ) async {
    guard !prints.isEmpty else { return }
    let name = station.description.name
    if !isHeld {
      do throws(TurnQueue.Refusal) {
        try await station.turns.take(for: "the removal of prints", waiting: FprintDeviceFace.patience)
      } catch {
        removal.remains.append("prints on the chip of \(name): the reader is in use")
        return
      }
    }
    defer { if !isHeld { station.turns.give() } }
    do throws(ReaderError) {
      try await station.enter()
    } catch {
      removal.remains.append("prints on the chip of \(name): \(error.line)")
      return
    }
    for print in prints {
      do throws(ReaderError) {
        if try await ChipStorage(hall: self, station: station).remove(print) { removal.onChip += 1 }
      } catch {
        removal.remains.append("a print on the chip of \(name): \(error.line)")
      }
    }
    await station.leave()
  }
}
