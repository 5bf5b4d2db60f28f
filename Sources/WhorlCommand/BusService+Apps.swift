import GLibLoop
import WhorlClient

/// The whole keychain, the items of other programs too.
extension BusService {
  /// So many items are asked for at a time.
  private static let part: UInt32 = 500

  func kept(_ query: WhorlAttributes, after reference: [UInt8]?) async throws(WhorlError) -> (
    items: [KeptItem], next: [UInt8]?
  ) {
    var limit = Self.part
    while true {
      do throws(WhorlError) {
        let items = try await whorl.copyMatching(query, limit: limit, includingInvalidated: true, after: reference)
        let next = items.count >= Int(limit) ? items.last?.attributes.persistentReference : nil
        let kept = items.map(KeptItem.init)
        guard let group = query.accessGroup else { return (kept, next) }
        // A query is a wish: what the command shows and removes is what it asked for.
        return (kept.filter { Array($0.group.utf8) == Array(group.utf8) }, next)
      } catch {
        // Apps may keep attributes so large that an answer holds few items.
        guard error.code == .tooLarge, limit > 1 else { throw error }
        limit = max(1, limit / 8)
      }
    }
  }

  func remove(_ item: KeptItem) async throws(WhorlError) {
    guard let reference = item.item.attributes.persistentReference else { throw WhorlError(.badAnswer, "") }
    var query = WhorlAttributes(itemClass: item.itemClass)
    query.accessGroup = item.group
    query.persistentReference = reference
    _ = try await whorl.delete(query)
  }

  func removeAll(ofApp app: String) async throws(WhorlError) -> Int {
    // Without a group it would be what whorl keeps itself.
    guard !app.isEmpty else { throw WhorlError(.param, "the app has no name") }
    var query = WhorlAttributes()
    query.accessGroup = app
    return try await whorl.delete(query, all: true)
  }
}
