internal import WhorlClient

/// Goes through what a search finds, in the order of adding, in parts.
struct ItemFinder {
  /// Items in one answer of the enclave's; fewer where they are large.
  private static let part = 512

  private let search: ItemSearch
  /// What the enclave is asked for.
  private let query: WhorlAttributes
  private let transport: any BlockingTransport
  private let includingLost: Bool
  private var items: ArraySlice<WhorlItem> = []
  private var last: [UInt8]?
  private var isAtEnd: Bool
  private var part: Int
  /// How many are still wanted; nil for all.
  private var wanted: Int?

  /// - Parameter includingLost: also items that have lost their secret.
  init(
    _ search: ItemSearch, _ transport: any BlockingTransport, includingLost: Bool = false
  ) throws(ItemRequestError) {
    self.search = search
    self.transport = transport
    self.includingLost = includingLost
    let query = try search.enclaveQuery()
    self.query = query ?? WhorlAttributes()
    isAtEnd = search.findsNothing || query == nil
    wanted = search.limit
    // One is the usual case, and most often the first that is found.
    part = search.limit == 1 ? 4 : Self.part
  }

  /// The next one that matches; nil at the end, and once as many were taken as are wanted.
  mutating func next() throws(ItemRequestError) -> WhorlItem? {
    guard wanted != 0 else { return nil }
    while true {
      while let item = items.popFirst() {
        if search.filter.accepts(item), search.accepts(keyOf: item) { return item }
      }
      guard !isAtEnd else { return nil }
      do throws(WhorlError) {
        try load()
      } catch {
        throw ItemRequestError(error)
      }
    }
  }

  /// The last one counts for the limit.
  mutating func taken() { wanted = wanted.map { $0 - 1 } }

  private mutating func load() throws(WhorlError) {
    while true {
      do throws(WhorlError) {
        let found = try transport.items(
          matching: query, limit: UInt32(part), includingInvalidated: includingLost, after: last)
        isAtEnd = found.count < part
        items = found[...]
        let end = found.last?.attributes.persistentReference
        // Or it would go on for ever.
        guard isAtEnd || end != nil && end != last else {
          throw WhorlError(.badAnswer, "The daemon's answer makes no sense: a list that does not come to its end.")
        }
        last = end
        part = Self.part
        return
      } catch  where error.code == .tooLarge && part > 1 {
        part /= 8
        part = max(part, 1)
      }
    }
  }
}
