internal import GLibLoop
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// A print that the host knows.
struct HostPrint: Sendable {
  let user: String
  let finger: Finger
  let data: [UInt8]
}

/// What is on a reader's chip, compared with the host.
struct ChipSurvey: Sendable {
  /// How many prints the chip holds.
  var count = 0
  /// Those that nobody on the host has, the newest first, those without a date last.
  var foreign: [StoredPrint] = []
  /// Those of the host that the chip no longer has.
  var lost: [HostPrint] = []
  /// Whether every print of the host could be read: otherwise some of ``foreign`` may be somebody's.
  var isComplete = true
}

/// A reader's own storage, in step with the disk (DESIGN section 5). Its calls need an open reader and its turn.
///
/// What the chip has lost matches nobody any more: it goes from the print store to ``ReaderHall/lostPrints``, where it
/// is named, and comes back if the chip shows it again. The enclave's record is left as it is: no reader's word ends
/// what is bound to the set of fingers.
@GLibActor
struct ChipStorage {
  let hall: ReaderHall
  let station: ReaderStation

  private var features: ReaderFeatures { station.description.features }

  /// Every print on the disk that was enrolled on a reader of this kind, whoever's it is, and whose prints there are
  /// besides that cannot be read.
  func hostPrints(
    in store: PrintStore
  ) throws(PrintStoreError) -> (prints: [HostPrint], unreadable: Set<String>) {
    var all: [HostPrint] = []
    var unreadable: Set<String> = []
    for user in try store.users() {
      do {
        let found = try store.loadAll(
          user: user, driver: station.description.driver, deviceID: station.description.deviceID)
        all += found.prints.map { HostPrint(user: user, finger: $0.0, data: $0.1) }
        if !found.damaged.isEmpty { unreadable.insert(user) }
      } catch {
        // One bad folder must not end everybody's enrolment.
        Log.warning("the prints of \(user.printable) are left out: \(error)")
        unreadable.insert(user)
      }
    }
    return (all, unreadable)
  }

  /// Compares the chip with the disk and moves what the chip has lost or shows again; nil where the chip cannot list.
  func survey() async throws(ReaderError) -> ChipSurvey? {
    guard features.contains(.storageList) else { return nil }
    var result = ChipSurvey()
    do {
      let (kept, unreadable) = try hostPrints(in: hall.store)
      let missing = try hostPrints(in: hall.lostPrints).prints
      let known = kept + missing
      guard known.count <= LinkLimits.prints else {
        Log.warning("\(known.count) prints are too many to compare with the chip of \(station.description.name)")
        return nil
      }
      result.isComplete = try unreadable.isEmpty && !hall.store.hasStrays()
      let stored = try await hall.bridges.storedPrints(station.id, known: known.map(\.data))
      let found = Set(stored.compactMap(\.knownIndex))
      result.count = stored.count
      // One print or another gets lost; a chip that shows none of many is another reader's, or has a fault.
      if stored.isEmpty, kept.count > 1 {
        Log.warning("\(station.description.name) shows none of \(kept.count) prints; they are kept, look at the reader")
        result.isComplete = false
        result.lost = kept
        station.chip = result
        return result
      }
      result.foreign = stored.filter { $0.knownIndex == nil }.sorted { ($0.enrolled ?? 0) > ($1.enrolled ?? 0) }
      for (index, print) in known.enumerated() {
        let isKept = index < kept.count
        switch (isKept, found.contains(index)) {
        case (true, false):
          try move(print, from: hall.store, to: hall.lostPrints)
          result.lost.append(print)
          Log.warning(
            "\(station.description.name) has lost the print of \(print.finger.name) of \(print.user.printable)")
        case (false, true):
          try bringBack(print)
        case (false, false): result.lost.append(print)
        case (true, true): break
        }
      }
    } catch let error as ReaderError {
      throw error
    } catch {
      Log.warning("the chip of \(station.description.name) cannot be compared with the disk: \(error)")
      return nil
    }
    station.chip = result
    return result
  }

  /// Puts back what was taken for lost, for a reader that does not list what it holds: nobody can say so of it.
  func bringAllBackWhereUnlisted() {
    guard !features.contains(.storageList) else { return }
    do {
      for print in try hostPrints(in: hall.lostPrints).prints { try bringBack(print) }
    } catch {
      Log.warning("prints that were taken for lost cannot be put back: \(error)")
    }
  }

  /// Deletes one print that nobody on the host has, to make room; false where there is none, or where a print that
  /// cannot be read may be that one.
  /// - Parameters:
  ///   - survey: what the chip holds now.
  ///   - isKnown: whether the host's prints are known to be good ones.
  func collectOne(of survey: ChipSurvey, if isKnown: Bool) async throws(ReaderError) -> Bool {
    guard features.contains(.storageDelete), let print = survey.foreign.first else { return false }
    guard survey.isComplete, isKnown else {
      Log.warning("no room is made on \(station.description.name): some prints on the disk cannot be read")
      return false
    }
    try await delete(print.bytes)
    station.chip?.foreign.removeAll { $0 == print }
    return true
  }

  /// Has the chip delete a print.
  /// - Returns: whether it had it.
  @discardableResult
  func remove(_ print: [UInt8]) async throws(ReaderError) -> Bool {
    do {
      try await hall.bridges.deletePrint(station.id, print: print)
      return true
    } catch .dataNotFound {
      return false
    }
  }

  /// Deletes a print of the chip that nobody on the host has.
  func delete(_ print: [UInt8]) async throws(ReaderError) {
    try await remove(print)
    station.chip?.count -= 1
    Log.notice("deleted a print from \(station.description.name) that belongs to nobody here")
  }

  /// Empties a chip that cannot list what it holds, where nobody on the host has a print there.
  func clearIfNobodys() async throws(ReaderError) {
    guard features.contains(.storageClear), !features.contains(.storageList) else { return }
    do {
      let host = try hostPrints(in: hall.store)
      guard host.prints.isEmpty, host.unreadable.isEmpty else { return }
    } catch {
      return Log.warning("the enrolled prints cannot be listed: \(error)")
    }
    try await hall.bridges.clearStorage(station.id)
  }

  /// Forgets that a finger's print was lost, as when it is enrolled again or deleted.
  func forgetLost(_ user: String, _ finger: Finger) {
    do {
      if try hall.lostPrints.delete(station.printKey(of: user, finger)) {
        station.chip?.lost.removeAll { $0.user == user && $0.finger == finger }
      }
    } catch {
      Log.warning("the lost print of \(finger.name) stays on record: \(error)")
    }
  }

  private func move(_ print: HostPrint, from: PrintStore, to: PrintStore) throws(PrintStoreError) {
    let key = station.printKey(of: print.user, print.finger)
    // The chip took its time: what was forgotten, deleted or enrolled anew meanwhile must not come back.
    guard try from.load(key) == print.data else { return }
    hall.prepareState()
    try to.save(print.data, for: key)
    _ = try from.delete(key)
  }

  /// Back to the disk, unless the finger was enrolled anew meanwhile.
  private func bringBack(_ print: HostPrint) throws(PrintStoreError) {
    if try hall.store.load(station.printKey(of: print.user, print.finger)) == nil {
      Log.notice("\(station.description.name) has the print of \(print.finger.name) of \(print.user.printable) again")
      try move(print, from: hall.lostPrints, to: hall.store)
    } else {
      _ = try hall.lostPrints.delete(station.printKey(of: print.user, print.finger))
    }
  }
}
