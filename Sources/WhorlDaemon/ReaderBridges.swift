internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// In which bridge process each reader is opened. A process that has opened one reader opens no other, and none that has
/// met another serves one: a reader that breaks its driver has then nobody else's verdicts to give.
///
/// The usual bridge tells what readers there are, and opens a reader that is the only one it ever met, as on most
/// machines. Beside others each reader is opened in a process of its own: libfprint loads that reader's driver alone there,
/// and the sandbox lets the process open that reader's nodes alone.
@GLibActor
final class ReaderBridges: ReaderAccess {
  /// Where a reader is open: the keeper, the reader's name there, and the process.
  private struct Door {
    let keeper: ReaderKeeper
    let name: ReaderID
    let process: Int32?
    @GLibActor var isThere: Bool { keeper.processID.map { $0 == process } ?? false }
  }

  /// Told what a reader waits for, as ``ReaderKeeper/ReaderKeeper/onFingerStatus``, under the usual bridge's names.
  var onFingerStatus: (@GLibActor (_ reader: ReaderID, _ needed: Bool, _ present: Bool) -> Void)?
  /// Told when the usual bridge was ended since it may not serve its reader any more.
  var onEnd: (@GLibActor () -> Void)?
  /// All readers there are.
  var stations: @GLibActor () -> [ReaderStation] = { [] }
  /// As ``ReaderKeeper/ReaderKeeper/isPaused``.
  var isPaused = false {
    didSet {
      usual.isPaused = isPaused
      for other in apart.values { other.keeper.isPaused = isPaused }
    }
  }

  let usual: ReaderKeeper
  private let make: NarrowBridge.Maker
  private let places: ReaderPlaces
  /// What the kernel says; nil in private mode, where readers are virtual.
  private let history: ReaderHistory?
  private var apart: [ReaderID: NarrowBridge] = [:]
  private var doors: [ReaderID: Door] = [:]
  /// The last process that was ended since it had met another reader.
  private var retired: Int32?
  private var reviewing: Task<Void, Never>?

  /// So often a reader is opened anew since another one appeared meanwhile.
  private static let tries = 3

  /// For these surroundings.
  convenience init(_ surroundings: Surroundings) {
    self.init(
      make: NarrowBridge.Maker(
        program: surroundings.programFolder + "/whorl-reader", isPrivate: surroundings.isPrivate,
        environment: surroundings.readerEnvironment), places: ReaderPlaces(surroundings),
      history: surroundings.readersByKernel.map { ReaderHistory($0) })
  }

  init(make: NarrowBridge.Maker, places: ReaderPlaces, history: ReaderHistory?) {
    self.make = make
    self.places = places
    self.history = history
    usual = make.usual()
    usual.onStart = { [weak self] in self?.begin() }
    usual.onFingerStatus = { [weak self] reader, needed, present in
      guard let self, !isOpenApart(reader) else { return }
      onFingerStatus?(reader, needed, present)
    }
  }

  /// A new usual process is about to start.
  private func begin() {
    guard let history else { return }
    let before = history.gap
    history.begin()
    if let gap = history.gap, gap != before {
      Log.warning("which devices come is not known (\(gap)), so each reader gets a process of its own")
    }
  }

  // MARK: Which process

  func processID(of reader: ReaderID) -> Int32? {
    guard let door = doors[reader], door.isThere else { return nil }
    return door.process
  }

  /// Whether a reader is open in a process of its own.
  func isOpenApart(_ reader: ReaderID) -> Bool {
    doors[reader].map { $0.keeper !== usual && $0.isThere } ?? false
  }

  /// Whether any is.
  var areOpenApart: Bool { doors.keys.contains { isOpenApart($0) } }

  /// Whether the usual bridge has met, by its own and by the kernel's word, no reader but this one.
  private func isAlone(_ reader: ReaderID) -> Bool {
    let stations = stations()
    if stations.contains(where: { $0.id != reader }) { return false }
    let nodes = stations.first { $0.id == reader }.flatMap { places.nodes(of: $0.description) } ?? []
    guard let met = usual.encounters else { return !(history?.hasOthersNow(beside: nodes) ?? false) }
    return met.readers <= 1 && !met.hasIgnored && history?.isAlone(nodes) ?? true
  }

  /// Whether the process in which a reader is open may serve it on.
  private func isFit(_ reader: ReaderID, _ door: Door) -> Bool {
    guard door.isThere else { return false }
    return door.keeper === usual ? isAlone(reader) : door.keeper.encounters?.later == false
  }

  func review(_ reader: ReaderID) async {
    if let door = doors[reader], door.isThere, !isFit(reader, door) { await retire(door) }
  }

  /// Reviews every open reader, in a moment.
  func reviewSoon() {
    guard reviewing == nil, !doors.isEmpty else { return }
    reviewing = Task { @GLibActor [weak self] in
      self?.reviewing = nil
      for reader in self.map({ Array($0.doors.keys) }) ?? [] { await self?.review(reader) }
    }
  }

  /// Ends a process that has met another reader. What runs there does not count.
  private func retire(_ door: Door) async {
    guard let process = door.process, door.isThere else { return }
    Log.notice("whorl-reader (\(process)) has met another reader and is replaced")
    retired = process
    // Nor is it asked to close its reader in good order, where that takes long.
    await door.keeper.stop(milliseconds: 1_000)
    if door.keeper === usual { onEnd?() }
    noteOpen()
  }

  private func noteOpen() { usual.isHeld = areOpenApart }

  /// Ends all processes.
  func stop(milliseconds: Int = 2_000) async {
    let keepers = [usual] + apart.values.map(\.keeper)
    doors = [:]
    let ends = keepers.map { keeper in Task { @GLibActor in await keeper.stop(milliseconds: milliseconds) } }
    for end in ends { await end.value }
    noteOpen()
  }

  /// A reader is gone. What runs on it ends as its own process says, and that process when it is closed.
  func forget(_ reader: ReaderID) {
    guard let gone = apart.removeValue(forKey: reader) else { return }
    if doors[reader]?.keeper !== gone.keeper || !isOpenApart(reader) { Task { await gone.keeper.stop() } }
  }

  // MARK: Opening

  func open(_ reader: ReaderID) async throws(ReaderError) {
    await review(reader)
    for _ in 0..<Self.tries {
      guard isAlone(reader) else { return try await openApart(reader) }
      _ = try await usual.readers()
      guard isAlone(reader) else { continue }
      try await usual.open(reader)
      let door = Door(keeper: usual, name: reader, process: usual.processID)
      doors[reader] = door
      if isFit(reader, door) { return }
      await retire(door)
    }
    throw .moved
  }

  private func openApart(_ reader: ReaderID) async throws(ReaderError) {
    guard let station = stations().first(where: { $0.id == reader }) else { throw .noSuchReader }
    let scope = NarrowBridge.Scope(driver: station.description.driver, nodes: places.nodes(of: station.description))
    if let old = apart[reader], old.scope != scope {
      // It stands elsewhere now. Two processes would fight for it.
      apart[reader] = nil
      await old.keeper.stop()
    }
    if let old = doors[reader]?.keeper, old !== usual, old !== apart[reader]?.keeper { await old.stop() }
    let bridge = apart[reader] ?? start(for: reader, scope)
    let name = try await bridge.name(of: station.description)
    try await bridge.keeper.open(name)
    doors[reader] = Door(keeper: bridge.keeper, name: name, process: bridge.keeper.processID)
    noteOpen()
  }

  private func start(for reader: ReaderID, _ scope: NarrowBridge.Scope) -> NarrowBridge {
    let bridge = make.bridge(for: scope)
    bridge.keeper.isPaused = isPaused
    bridge.keeper.onFingerStatus = { [weak self] _, needed, present in self?.onFingerStatus?(reader, needed, present) }
    bridge.keeper.onReadersChanged = { [weak self] _ in self?.reviewSoon() }
    bridge.keeper.onBridgeFailed = { [weak self] reason in
      Log.warning("whorl-reader for the driver \(scope.driver) was replaced: \(reason)")
      self?.onFingerStatus?(reader, false, false)
      self?.noteOpen()
    }
    apart[reader] = bridge
    return bridge
  }

  func close(_ reader: ReaderID) async throws(ReaderError) {
    guard let door = doors[reader] else { return }
    defer { noteOpen() }
    guard door.isThere else {
      doors[reader] = nil
      return
    }
    // Open until it is closed: no other process may look at it before.
    let result: Result<Void, ReaderError>
    do throws(ReaderError) {
      result = .success(try await door.keeper.close(door.name))
    } catch {
      result = .failure(error)
    }
    if doors[reader]?.process == door.process { doors[reader] = nil }
    if door.keeper !== usual, door.keeper !== apart[reader]?.keeper { Task { await door.keeper.stop() } }
    try result.get()
  }

  // MARK: Operations

  /// Has the process in which a reader is open do something.
  /// - Parameter isVerdict: whether what it says is believed: not by a process that has met another reader meanwhile.
  private func ask<R>(
    _ reader: ReaderID, isVerdict: Bool = true,
    _ body: @GLibActor (ReaderKeeper, ReaderID) async throws(ReaderError) -> R
  ) async throws(ReaderError) -> R {
    guard let door = doors[reader], door.isThere else { throw .notOpen("its process has ended") }
    let result: R
    do throws(ReaderError) {
      result = try await body(door.keeper, door.name)
    } catch {
      throw door.process == retired && error != .cancelled ? .moved : error
    }
    guard isVerdict, !isFit(reader, door) else { return result }
    await retire(door)
    throw .moved
  }

  func verify(
    _ reader: ReaderID, print: [UInt8], progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Bool {
    try await ask(reader) { keeper, name throws(ReaderError) in
      try await keeper.verify(name, print: print, progress: progress)
    }
  }

  func identify(
    _ reader: ReaderID, prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void,
    progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int? {
    try await ask(reader) { keeper, name throws(ReaderError) in
      try await keeper.identify(name, prints: prints, unusable: unusable, progress: progress)
    }
  }

  /// As ``ReaderKeeper/ReaderKeeper/identify(_:among:unusable:stranger:progress:)``; `.moved` too.
  func identify(
    _ reader: ReaderID, among prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void,
    stranger: @escaping @GLibActor ([UInt8]) -> Void, progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int? {
    try await ask(reader) { keeper, name throws(ReaderError) in
      try await keeper.identify(name, among: prints, unusable: unusable, stranger: stranger, progress: progress)
    }
  }

  /// As ``ReaderKeeper/ReaderKeeper/enroll(_:finger:user:progress:)``; `.moved` too.
  func enroll(
    _ reader: ReaderID, finger: Finger?, user: String, progress: @escaping @GLibActor (EnrollEvent) -> Void
  ) async throws(ReaderError) -> [UInt8] {
    try await ask(reader) { keeper, name throws(ReaderError) in
      try await keeper.enroll(name, finger: finger, user: user, progress: progress)
    }
  }

  /// As ``ReaderKeeper/ReaderKeeper/storedPrints(_:known:)``; `.moved` too.
  func storedPrints(_ reader: ReaderID, known: [[UInt8]]) async throws(ReaderError) -> [StoredPrint] {
    try await ask(reader) { keeper, name throws(ReaderError) in try await keeper.storedPrints(name, known: known) }
  }

  /// As ``ReaderKeeper/ReaderKeeper/deletePrint(_:print:)``.
  func deletePrint(_ reader: ReaderID, print: [UInt8]) async throws(ReaderError) {
    try await ask(reader, isVerdict: false) { keeper, name throws(ReaderError) in
      try await keeper.deletePrint(name, print: print)
    }
  }

  /// As ``ReaderKeeper/ReaderKeeper/clearStorage(_:)``.
  func clearStorage(_ reader: ReaderID) async throws(ReaderError) {
    try await ask(reader, isVerdict: false) { keeper, name throws(ReaderError) in try await keeper.clearStorage(name) }
  }

  /// As ``ReaderKeeper/ReaderKeeper/settle(_:milliseconds:)``.
  func settle(_ reader: ReaderID, milliseconds: Int) async {
    if let door = doors[reader] { await door.keeper.settle(door.name, milliseconds: milliseconds) }
  }
}
