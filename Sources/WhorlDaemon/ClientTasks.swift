internal import Bus
internal import GLibLoop

/// The calls that run for each connection, so that a client that vanishes ends what it asked for at once.
@GLibActor
final class ClientTasks {
  private let bus: BusConnection
  private var running: [String: [UInt64: @Sendable () -> Void]] = [:]
  private var watches: [String: BusSubscription] = [:]
  private var followers: [UInt64: @GLibActor (String) -> Void] = [:]
  private var lastNumber: UInt64 = 0

  init(bus: BusConnection) { self.bus = bus }

  /// Calls `handler` with the name of every connection that was ``follow(_:)``ed and is gone, in the order in which
  /// the handlers came, until ``ignoreVanishing(_:)``.
  /// - Returns: the handler's number.
  @discardableResult
  func onVanish(_ handler: @escaping @GLibActor (String) -> Void) -> UInt64 {
    lastNumber += 1
    followers[lastNumber] = handler
    return lastNumber
  }

  /// Calls the handler with that number no more.
  func ignoreVanishing(_ handler: UInt64) { followers[handler] = nil }

  /// Notices when a connection goes, from now on.
  func follow(_ connection: String) throws(BusMethodError) {
    guard watches[connection] == nil else { return }
    do {
      watches[connection] = try bus.watchName(connection) { [weak self] in self?.vanished(connection) }
    } catch {
      throw .failed("The bus does not tell when a program ends; nothing can be done for it.")
    }
  }

  /// Whether the end of that connection is still to come, and will be told to those who asked for it.
  func isFollowed(_ connection: String) -> Bool { watches[connection] != nil }

  /// Runs `body` in a task of its own that is cancelled when the connection goes.
  func run<R: Sendable>(
    for connection: String, _ body: @escaping @GLibActor () async throws -> R
  ) async throws -> R {
    try follow(connection)
    lastNumber += 1
    let number = lastNumber
    let task = Task { @GLibActor in try await body() }
    running[connection, default: [:]][number] = { task.cancel() }
    defer {
      running[connection]?[number] = nil
      if running[connection]?.isEmpty == true { running[connection] = nil }
    }
    return try await task.value
  }

  private func vanished(_ connection: String) {
    watches[connection] = nil
    for cancel in (running.removeValue(forKey: connection) ?? [:]).values { cancel() }
    for (_, follower) in followers.sorted(by: { $0.key < $1.key }) { follower(connection) }
  }
}
