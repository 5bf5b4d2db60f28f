public import ReaderLink

/// Readers that came and went since the last time that one consumer looked.
public struct ReaderChange: Sendable, Hashable {
  /// The readers that are new. One that was unplugged and plugged in again in between is in both lists.
  public var came: [ReaderDescription]
  /// The readers that are gone.
  public var went: [ReaderID]
  /// All that are there now.
  public var readers: [ReaderDescription]

  /// What has changed from one list of presences to another; nil for nothing.
  init?(from old: [ReaderRegistry.Presence], to new: [ReaderRegistry.Presence]) {
    let before = Dictionary(old.map { ($0.id, $0.incarnation) }) { first, _ in first }
    let after = Dictionary(new.map { ($0.id, $0.incarnation) }) { first, _ in first }
    came = new.filter { before[$0.id] != $0.incarnation }.map(\.description)
    went = old.map(\.id).filter { after[$0] != before[$0] }
    readers = new.map(\.description)
    if came.isEmpty, went.isEmpty { return nil }
  }
}
