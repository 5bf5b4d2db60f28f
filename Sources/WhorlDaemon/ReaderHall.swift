internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// The readers there are, kept in step with the bridge, and what is enrolled on them.
@GLibActor
final class ReaderHall {
  let store: PrintStore
  /// Prints that readers' chips have lost, in the same layout: see ``ChipStorage``.
  let lostPrints: PrintStore
  /// The usual bridge, which tells what readers there are.
  let keeper: ReaderKeeper
  /// For whom each folder of prints was enrolled.
  let owners: PrintOwners
  /// The machine's accounts.
  let accounts: AccountDirectory
  /// Makes Whorl's own folder where it is missing, before something is written there.
  var prepareState: @GLibActor () -> Void = {}
  private let allowsVirtualReaders: Bool
  let places: ReaderPlaces
  /// In which process each reader is opened.
  let bridges: ReaderBridges
  private(set) var stations: [ReaderStation] = []
  private var lastNumber = -1
  /// The machine sleeps, or is about to: no bridge is started.
  private(set) var isAsleep = false
  /// Until then, by `clock`, a reader that the bridge does not see is kept: after a wake they come back one by one.
  private(set) var graceEnd: Int64 = 0
  private var graceTimer: Task<Void, Never>?
  /// Readers that may be about to come.
  let arrivals: ReaderArrivals
  let clock: DaemonClock
  /// So long after a wake, in milliseconds, a reader may take to come back.
  private static let grace: Int64 = 5_000
  /// New readers, each of which costs an object on the bus: a hub with a loose plug brings one a second.
  private var newReaders = Bucket(burst: 2 * Int64(LinkLimits.readers), interval: 1_000)
  /// Lines in the log about readers, which a bridge can bring about.
  private var remarks = Bucket(burst: 256, interval: 1_000)
  private var bridgeEnds: [@GLibActor () -> Void] = []
  private var listers: [@GLibActor (_ came: [ReaderStation], _ went: [ReaderStation]) -> Void] = []

  init(
    bridges: ReaderBridges, store: PrintStore, lostPrints: PrintStore, owners: PrintOwners, accounts: AccountDirectory,
    allowsVirtualReaders: Bool, places: ReaderPlaces = ReaderPlaces(), clock: DaemonClock = .machine,
    arrivalLimits: ReaderArrivals.Limits = ReaderArrivals.Limits()
  ) {
    self.places = places
    self.bridges = bridges
    keeper = bridges.usual
    self.store = store
    self.lostPrints = lostPrints
    self.owners = owners
    self.accounts = accounts
    self.allowsVirtualReaders = allowsVirtualReaders
    self.clock = clock
    arrivals = ReaderArrivals(now: clock.now(), limits: arrivalLimits)
    bridges.stations = { [weak self] in self?.stations ?? [] }
    bridges.onEnd = { [weak self] in self?.tellBridgeEnd() }
    keeper.onReadersChanged = { [weak self] readers in self?.update(readers) }
    keeper.onDeviceIgnored = { [weak self] error in
      guard let self else { return }
      remark(Log.warning, "a reader could not be set up: \(error.line)")
      self.bridges.reviewSoon()
    }
    keeper.onBridgeFailed = { [weak self] reason in
      Log.warning("whorl-reader was replaced: \(reason)")
      self?.tellBridgeEnd()
    }
  }

  /// Told when the bridge describes a reader anew.
  var onDescriptionChange: (@GLibActor (_ station: ReaderStation, _ old: ReaderDescription) -> Void)?

  /// Calls `handler` whenever readers came or went.
  func onChange(_ handler: @escaping @GLibActor ([ReaderStation], [ReaderStation]) -> Void) { listers.append(handler) }

  /// Calls `handler` when the bridge has ended in the middle of its work: no reader waits for a finger any more.
  func onBridgeEnd(_ handler: @escaping @GLibActor () -> Void) { bridgeEnds.append(handler) }

  /// Asks the bridge which readers there are.
  /// - Throws: `.asleep` too.
  @discardableResult
  func refresh() async throws(ReaderError) -> [ReaderStation] {
    if isAsleep { throw .asleep }
    // A new process would look at a reader that works in another one, and may disturb it.
    if keeper.processID == nil, bridges.areOpenApart { return stations }
    do throws(ReaderError) {
      update(try await keeper.readers())
    } catch {
      // Whoever goes away in the middle has learnt nothing.
      if error != .cancelled { arrivals.looked() }
      throw error
    }
    return stations
  }

  // MARK: Sleep

  /// No reader is opened and no bridge started from here to ``awake()``.
  func fallAsleep() {
    isAsleep = true
    bridges.isPaused = true
    for station in stations { station.isAsleep = true }
    arrivals.changes.beat()
  }

  /// Ends the bridge for sleep.
  func endBridge() async {
    // Of logind's five seconds others need some too.
    await bridges.stop(milliseconds: 1_500)
    tellBridgeEnd()
  }

  /// The counterpart of ``fallAsleep()``; ``refresh()`` finds the readers afresh.
  func awake() {
    isAsleep = false
    bridges.isPaused = false
    graceEnd = clock.now() + Self.grace
    for station in stations {
      station.isAsleep = false
      // Somebody woke the machine.
      station.stir()
    }
  }

  /// A person is at the machine.
  func stir() { for station in stations { station.stir() } }

  /// A screen was locked by its user.
  func locked() { for station in stations { station.locked() } }

  /// What a reader sees, told by the bridge.
  func fingerStatus(_ reader: ReaderID, needed: Bool, present: Bool) {
    stations.first { $0.id == reader }?.fingerStatus(needed: needed, present: present)
  }

  /// Somebody's standing has changed.
  func reconsider() {
    for station in stations {
      station.turns.reconsider()
      station.changes.beat()
    }
  }

  private func tellBridgeEnd() { for handler in bridgeEnds { handler() } }

  /// What is still missing when the time after a wake is over is gone.
  private func waitForMissing() {
    guard graceTimer == nil else { return }
    graceTimer = Task { @GLibActor [weak self, clock] in
      while let left = self.map({ $0.graceEnd - clock.now() }), left > 0 {
        do { try await clock.sleep(left) } catch { return }
      }
      guard let self else { return }
      graceTimer = nil
      guard !isAsleep, stations.contains(where: \.isMissing) else { return }
      do throws(ReaderError) { try await refresh() } catch {
        Log.warning("looking for readers failed: \(error.line)")
      }
    }
  }

  private func update(_ descriptions: [ReaderDescription]) {
    let readers = zip(ReaderID.ids(of: descriptions), descriptions).map { (id: $0, description: $1) }
    let allowed = readers.filter { reader in
      do {
        try PrintStore.check(driver: reader.description.driver, deviceID: reader.description.deviceID)
      } catch {
        remark(Log.warning, "leaving out a reader: \(error)")
        return false
      }
      guard reader.description.driver.hasPrefix("virtual_"), !allowsVirtualReaders else { return true }
      remark(Log.warning, "refusing the virtual reader \(reader.description.name): this is not private mode")
      return false
    }
    let missing = stations.filter { station in !allowed.contains { $0.id == station.id } }
    // With many new ones none of the old is waited for.
    let waits = clock.now() < graceEnd && missing.count + allowed.count <= LinkLimits.readers
    for station in missing { station.isMissing = waits }
    if waits, !missing.isEmpty { waitForMissing() }
    let went = waits ? [] : missing
    stations.removeAll { station in went.contains { $0 === station } }
    var came: [ReaderStation] = []
    for reader in allowed {
      if let known = stations.first(where: { $0.id == reader.id }) {
        let old = known.description
        known.description = reader.description
        known.isMissing = false
        if old != reader.description { onDescriptionChange?(known, old) }
        continue
      }
      guard newReaders.take(at: clock.now()) == nil else {
        remark(Log.warning, "readers come and go too fast; leaving out \(reader.description.name)")
        continue
      }
      lastNumber += 1
      let station = ReaderStation(
        number: lastNumber, id: reader.id, description: reader.description, keeper: bridges, clock: clock)
      station.isAsleep = isAsleep
      came.append(station)
    }
    stations += came
    for station in went { arrivals.noteDeparture(of: station.storeName, at: clock.now()) }
    arrivals.looked()
    bridges.reviewSoon()
    guard !came.isEmpty || !went.isEmpty else { return }
    for station in came { remark(Log.notice, "reader \(station.number): \(station.description.name)") }
    for station in went { remark(Log.notice, "reader \(station.number) is gone: \(station.description.name)") }
    for station in came { ChipStorage(hall: self, station: station).bringAllBackWhereUnlisted() }
    for station in went { bridges.forget(station.id) }
    for lister in listers { lister(came, went) }
  }

  /// Where a reader stands now; nil where that is not known, or where a second one claims to stand there too.
  func place(of station: ReaderStation) -> ReaderPlace? {
    guard !station.isMissing, let place = places.place(of: station.description) else { return nil }
    let others = stations.filter { $0 !== station }
    return others.contains { places.place(of: $0.description)?.path == place.path } ? nil : place
  }

  /// A line in the log, unless there were too many.
  private func remark(_ write: (String) -> Void, _ text: String) {
    if remarks.take(at: clock.now()) == nil { write(text) }
  }

  /// Names in the log the prints that the bridge left out, for they are damaged or another reader's.
  func noteUnusable(_ fingers: [Finger], of name: String) {
    for finger in fingers {
      Log.warning("the print of \(finger.name) of \(name) cannot be used on this reader; enrol the finger again")
    }
  }
}
