internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// A bridge of its own for requests for secrets: its process sees the trusted readers alone, so that no other reader's
/// driver, and nothing that took that one over, runs where a secret's match is made.
///
/// libfprint is told to load the trusted readers' drivers only, and the sandbox lets the process open those readers' own
/// nodes and no others. It is started where the usual bridge has met other readers, and rests as that does.
@GLibActor
final class SecretBridge {
  /// What one process may see.
  private struct Scope: Hashable {
    var drivers: [String]
    /// nil where the nodes cannot be told one by one.
    var nodes: [String]?
  }

  /// Told as ``ReaderKeeper/ReaderKeeper/onFingerStatus``, under the usual bridge's names of the readers.
  var onFingerStatus: (@GLibActor (_ reader: ReaderID, _ needed: Bool, _ present: Bool) -> Void)?
  /// As ``ReaderKeeper/ReaderKeeper/isPaused``.
  var isPaused = false {
    didSet { keeper?.isPaused = isPaused }
  }

  private let program: String
  private let isPrivate: Bool
  private let environment: [String: String]
  private let places: ReaderPlaces
  private var scope: Scope?
  private var keeper: ReaderKeeper?

  init(program: String, isPrivate: Bool, environment: [String: String], places: ReaderPlaces) {
    self.program = program
    self.isPrivate = isPrivate
    self.environment = environment
    self.places = places
  }

  /// The way to these readers, and to no others. For one request at a time.
  func access(for stations: [ReaderStation]) async throws(ReaderError) -> any ReaderAccess {
    let keeper = await keeper(for: scope(of: stations))
    let readers = try await keeper.readers()
    var names: [ReaderID: ReaderID] = [:]
    for (id, reader) in zip(ReaderID.ids(of: readers), readers) {
      let same = stations.filter {
        $0.description.driver == reader.driver && $0.description.deviceID == reader.deviceID
          && $0.description.hint == reader.hint
      }
      // Who stands at two places, or two at one, is nobody's to trust.
      if same.count == 1, !names.values.contains(id) { names[same[0].id] = id }
    }
    let back = Dictionary(names.map { ($1, $0) }) { first, _ in first }
    keeper.onFingerStatus = { [weak self] reader, needed, present in
      if let usual = back[reader] { self?.onFingerStatus?(usual, needed, present) }
    }
    return NamedAccess(keeper, names)
  }

  /// Ends the process.
  func stop(milliseconds: Int = 2_000) async { await keeper?.stop(milliseconds: milliseconds) }

  private func scope(of stations: [ReaderStation]) -> Scope {
    let nodes = stations.map { places.nodes(of: $0.description) }
    return Scope(
      drivers: Set(stations.map(\.description.driver)).sorted(),
      nodes: nodes.contains { $0 == nil } ? nil : nodes.flatMap { $0 ?? [] }.sorted())
  }

  private func keeper(for wanted: Scope) async -> ReaderKeeper {
    if let keeper, scope == wanted { return keeper }
    // Two processes would fight for the readers.
    await keeper?.stop()
    var variables = environment.filter { name, _ in
      let isVirtual = name.hasPrefix("FP_VIRTUAL_")
      return !isVirtual || wanted.drivers.contains { name.dropFirst("FP_".count).lowercased() == $0 }
    }
    let drivers = wanted.drivers.joined(separator: ":")
    // Under both names: libfprint has changed it.
    for name in ["FP_DRIVERS_ALLOWLIST", "FP_DRIVERS_WHITELIST"] { variables[name] = drivers }
    var arguments = isPrivate ? ["--private"] : []
    if let nodes = wanted.nodes {
      for node in nodes.isEmpty ? ["/dev/null"] : nodes { arguments += ["--only", node] }
    }
    let new = ReaderKeeper(program: program, arguments: arguments, environment: variables)
    new.isPaused = isPaused
    new.onBridgeFailed = { Log.warning("whorl-reader for secrets was replaced: \($0)") }
    (keeper, scope) = (new, wanted)
    return new
  }
}

/// Some readers of a keeper under other names.
@GLibActor
private final class NamedAccess: ReaderAccess {
  private let keeper: ReaderKeeper
  private let names: [ReaderID: ReaderID]

  init(_ keeper: ReaderKeeper, _ names: [ReaderID: ReaderID]) {
    self.keeper = keeper
    self.names = names
  }

  var processID: Int32? { keeper.processID }

  private func name(_ reader: ReaderID) throws(ReaderError) -> ReaderID {
    guard let name = names[reader] else { throw .noSuchReader }
    return name
  }

  func open(_ reader: ReaderID) async throws(ReaderError) { try await keeper.open(try name(reader)) }

  func close(_ reader: ReaderID) async throws(ReaderError) {
    do { try await keeper.close(try name(reader)) } catch .notOpen, .bridgeFailed {}
  }

  func verify(
    _ reader: ReaderID, print: [UInt8], progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Bool {
    try await keeper.verify(try name(reader), print: print, progress: progress)
  }

  func identify(
    _ reader: ReaderID, prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void,
    progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int? {
    try await keeper.identify(try name(reader), prints: prints, unusable: unusable, progress: progress)
  }
}
