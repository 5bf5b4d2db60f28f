internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// One reader as the daemon knows it: its turns, and whether it is open.
///
/// A reader is opened for a claim or an operation and closed when nobody needs it any more.
@GLibActor
final class ReaderStation {
  /// The number in the object path.
  let number: Int
  /// The keeper's name for it, which survives a new bridge.
  let id: ReaderID
  /// What the bridge says of it.
  var description: ReaderDescription
  /// One operation at a time.
  let turns = TurnQueue()
  private let keeper: ReaderKeeper
  private var users = 0
  /// The bridge process in which the reader is open, as far as we know.
  private var openedIn: Int32?
  /// Opening and closing, one after the other.
  private let door = TurnQueue()

  init(number: Int, id: ReaderID, description: ReaderDescription, keeper: ReaderKeeper) {
    self.number = number
    self.id = id
    self.description = description
    self.keeper = keeper
  }

  /// The reader as the enclave and the print store name it.
  var storeName: String { "\(description.driver)/\(description.deviceID)" }

  /// Holds the reader open from here to ``leave()``.
  func enter() async throws(ReaderError) {
    users += 1
    do {
      try await open()
    } catch {
      users -= 1
      throw error
    }
  }

  /// Opens the reader where it is not open, as after a new bridge.
  func open() async throws(ReaderError) {
    do { try await door.take(for: "opening", waiting: nil) } catch { throw .cancelled }
    defer { door.give() }
    if let openedIn, openedIn == keeper.processID { return }
    do {
      try await keeper.open(id)
    } catch .alreadyOpen {
    }
    openedIn = keeper.processID
  }

  /// The counterpart of ``enter()``; the last one closes the reader, also where its task was cancelled.
  func leave() async {
    users -= 1
    guard users == 0 else { return }
    await Task { @GLibActor in await self.closeIfUnused() }.value
  }

  private func closeIfUnused() async {
    do { try await door.take(for: "closing", waiting: nil) } catch { return }
    defer { door.give() }
    guard users == 0, let bridge = openedIn else { return }
    openedIn = nil
    // With its bridge the reader is closed; asking would only start a new one.
    guard bridge == keeper.processID else { return }
    do {
      try await keeper.close(id)
    } catch .notOpen, .noSuchReader, .bridgeFailed {
      // Closed as it should be.
    } catch {
      Log.warning("closing the reader \(description.name) failed: \(error.line)")
    }
  }
}
