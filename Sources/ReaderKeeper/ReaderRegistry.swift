internal import ReaderLink

/// Which reader is which, across replugging and new bridges.
///
/// The bridge numbers readers afresh each time. Readers of one driver and device identifier are told apart here by an
/// ordinal that stays with the place where the reader is plugged in: with one of two alike gone, the other keeps its
/// own. A reader that comes back at another place keeps its ordinal only where no other one can be meant.
struct ReaderRegistry {
  /// One that is there.
  struct Presence: Hashable {
    var id: ReaderID
    /// Changes when the reader was away in between.
    var incarnation: Int
    /// What the bridge says of it, with the ordinal.
    var description: ReaderDescription
  }

  private struct Entry {
    var id: ReaderID
    var place: String
    var token: UInt32?
    /// Whether it was there when it was last looked.
    var isPresent: Bool
    var incarnation: Int
    /// When it was last assigned, to forget the oldest first.
    var seen: Int
  }

  private var entries: [Entry] = []
  private var counter = 0
  /// So many absent readers are remembered.
  private static let absentLimit = 64

  /// What ``take(_:)`` gave last.
  private(set) var present: [Presence] = []

  /// A new bridge has other tokens. The readers that were there count as the same where it finds them.
  mutating func beginSession() {
    for index in entries.indices { entries[index].token = nil }
  }

  /// The readers of a list, in its order, by what stays the same.
  mutating func take(_ list: [ReaderDescription]) -> [Presence] {
    counter += 1
    let chosen = assign(list)
    for index in entries.indices where !chosen.contains(index) {
      entries[index].isPresent = false
      entries[index].token = nil
    }
    present = zip(list, chosen).map { reader, index in
      var copy = reader
      copy.ordinal = entries[index].id.ordinal
      return Presence(id: entries[index].id, incarnation: entries[index].incarnation, description: copy)
    }
    forget()
    return present
  }

  /// For each reader of the list the index of its entry.
  private mutating func assign(_ list: [ReaderDescription]) -> [Int] {
    var chosen: [Int?] = list.map { reader in
      entries.firstIndex { $0.token == reader.token && $0.id.isKind(of: reader) }
    }
    func isFree(_ index: Int) -> Bool { !chosen.contains(index) }
    // The place decides where it is known.
    for (number, reader) in list.enumerated() where chosen[number] == nil && !reader.hint.isEmpty {
      chosen[number] = entries.indices.first {
        isFree($0) && entries[$0].place == reader.hint && entries[$0].id.isKind(of: reader)
      }
    }
    for (number, reader) in list.enumerated() where chosen[number] == nil {
      let alike = entries.indices.filter { entries[$0].id.isKind(of: reader) }
      if reader.hint.isEmpty {
        chosen[number] = alike.filter { isFree($0) && entries[$0].place.isEmpty }
          .min { entries[$0].id.ordinal < entries[$1].id.ordinal }
      } else if alike.count == 1, isFree(alike[0]), list.count(where: { entries[alike[0]].id.isKind(of: $0) }) == 1 {
        // The only one of its kind was moved to another plug.
        chosen[number] = alike[0]
      }
      if chosen[number] == nil {
        let taken = Set(alike.map { entries[$0].id.ordinal })
        let ordinal = (0...alike.count).first { !taken.contains($0) } ?? alike.count
        entries.append(
          Entry(
            id: ReaderID(driver: reader.driver, deviceID: reader.deviceID, ordinal: ordinal), place: reader.hint,
            token: nil, isPresent: false, incarnation: counter, seen: counter))
        chosen[number] = entries.count - 1
      }
    }
    return zip(list, chosen).map { reader, index in
      // Each has one by now.
      let index = index ?? 0
      // Under another token of the same bridge it was away, however short.
      let stayed = entries[index].isPresent && (entries[index].token ?? reader.token) == reader.token
      if !stayed { entries[index].incarnation = counter }
      entries[index].isPresent = true
      entries[index].token = reader.token
      entries[index].place = reader.hint
      entries[index].seen = counter
      return index
    }
  }

  private mutating func forget() {
    let absent = entries.filter { !$0.isPresent }
    guard absent.count > Self.absentLimit else { return }
    let oldest = absent.map(\.seen).sorted()[absent.count - Self.absentLimit - 1]
    entries.removeAll { !$0.isPresent && $0.seen <= oldest }
  }
}

extension ReaderID {
  fileprivate func isKind(of reader: ReaderDescription) -> Bool {
    driver == reader.driver && deviceID == reader.deviceID
  }
}
