internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink

/// The readers there are, kept in step with the bridge, and what is enrolled on them.
@GLibActor
final class ReaderHall {
  let store: PrintStore
  let keeper: ReaderKeeper
  /// For whom each folder of prints was enrolled.
  let owners: PrintOwners
  /// The machine's accounts.
  let accounts: AccountDirectory
  private let allowsVirtualReaders: Bool
  private(set) var stations: [ReaderStation] = []
  private var lastNumber = -1
  private var listers: [@GLibActor (_ came: [ReaderStation], _ went: [ReaderStation]) -> Void] = []

  init(
    keeper: ReaderKeeper, store: PrintStore, owners: PrintOwners, accounts: AccountDirectory,
    allowsVirtualReaders: Bool
  ) {
    self.keeper = keeper
    self.store = store
    self.owners = owners
    self.accounts = accounts
    self.allowsVirtualReaders = allowsVirtualReaders
    keeper.onReadersChanged = { [weak self] readers in self?.update(readers) }
    keeper.onBridgeFailed = { Log.warning("whorl-reader was replaced: \($0)") }
  }

  /// Calls `handler` whenever readers came or went.
  func onChange(_ handler: @escaping @GLibActor ([ReaderStation], [ReaderStation]) -> Void) { listers.append(handler) }

  /// Asks the bridge which readers there are.
  @discardableResult
  func refresh() async throws(ReaderError) -> [ReaderStation] {
    update(try await keeper.readers())
    return stations
  }

  private func update(_ descriptions: [ReaderDescription]) {
    let readers = zip(ReaderID.ids(of: descriptions), descriptions).map { (id: $0, description: $1) }
    let allowed = readers.filter { reader in
      do {
        try PrintStore.check(driver: reader.description.driver, deviceID: reader.description.deviceID)
      } catch {
        Log.warning("leaving out a reader: \(error)")
        return false
      }
      guard reader.description.driver.hasPrefix("virtual_"), !allowsVirtualReaders else { return true }
      Log.warning("refusing the virtual reader \(reader.description.name): this is not private mode")
      return false
    }
    let went = stations.filter { station in !allowed.contains { $0.id == station.id } }
    stations.removeAll { station in went.contains { $0 === station } }
    var came: [ReaderStation] = []
    for reader in allowed {
      if let known = stations.first(where: { $0.id == reader.id }) {
        known.description = reader.description
        continue
      }
      lastNumber += 1
      came.append(ReaderStation(number: lastNumber, id: reader.id, description: reader.description, keeper: keeper))
    }
    stations += came
    guard !came.isEmpty || !went.isEmpty else { return }
    for station in came { Log.notice("reader \(station.number): \(station.description.name)") }
    for station in went { Log.notice("reader \(station.number) is gone: \(station.description.name)") }
    for lister in listers { lister(came, went) }
  }

  /// Names in the log the prints that the bridge left out, for they are damaged or another reader's.
  func noteUnusable(_ fingers: [Finger], of name: String) {
    for finger in fingers {
      Log.warning("the print of \(finger.name) of \(name) cannot be used on this reader; enrol the finger again")
    }
  }
}
