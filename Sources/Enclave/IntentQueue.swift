internal import Keychain

/// The requests that wait for the sensor. In order of arrival, but users take turns: of those who wait, the one who had
/// the sensor least recently comes first, so that many requests of one user hold up another's by one at most.
struct IntentQueue {
  private struct Entry {
    let request: UInt64
    let user: UserID
  }

  private var waiting: [Entry] = []
  /// When each user had his last turn, since the sensor was last idle; who had none comes before those who had.
  private var lastTurn: [UserID: UInt64] = [:]
  private var turns: UInt64 = 0

  var count: Int { waiting.count }

  mutating func append(_ request: UInt64, of user: UserID) {
    waiting.append(Entry(request: request, user: user))
  }

  mutating func remove(_ request: UInt64) {
    waiting.removeAll { $0.request == request }
  }

  func contains(_ request: UInt64) -> Bool { waiting.contains { $0.request == request } }

  func someoneWaits(otherThan user: UserID) -> Bool { waiting.contains { $0.user != user } }

  /// Takes the request whose turn it is; nil where none waits.
  mutating func next() -> UInt64? {
    // The first of equals wins, which is the one that came first.
    let chosen = waiting.indices.min { lastTurn[waiting[$0].user, default: 0] < lastTurn[waiting[$1].user, default: 0] }
    guard let chosen else {
      lastTurn.removeAll()
      return nil
    }
    let entry = waiting.remove(at: chosen)
    turns += 1
    lastTurn[entry.user] = turns
    return entry.request
  }
}
