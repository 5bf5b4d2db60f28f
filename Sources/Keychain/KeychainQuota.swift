/// How much one user may keep: what he stores is in root's file system, where no quota of the disk finds him.
public struct KeychainQuota: Sendable, Equatable {
  /// The most items.
  public let items: Int
  /// The most bytes of the keychain's file.
  public let bytes: Int

  /// 200,000 items and 1 GiB: far more than anybody has by hand, and what a machine can bear of each user.
  public static let usual = KeychainQuota(items: 200_000, bytes: 1 << 30)

  /// A quota of so many items and bytes.
  public init(items: Int, bytes: Int) {
    self.items = items
    self.bytes = bytes
  }
}

extension UserKeychain {
  /// Throws where there is no room for another item.
  func requireRoomForItem() throws(KeychainError) {
    // The range of numbers bounds the count, and costs nothing however many there are.
    let range = try database.number("SELECT max(id) - min(id) + 1 FROM item") ?? 0
    guard range >= quota.items else { return }
    let count = try database.number(
      "SELECT count(*) FROM (SELECT 1 FROM item LIMIT ?)", [.integer(Int64(quota.items))])
    guard Int(count ?? 0) < quota.items else { throw .overQuota("\(quota.items) items") }
  }

  /// Throws where there is no room for so many bytes more.
  func requireRoom(for bytes: Int) throws(KeychainError) {
    let pages = try database.number("PRAGMA page_count") ?? 0
    let free = try database.number("PRAGMA freelist_count") ?? 0
    let size = try database.number("PRAGMA page_size") ?? 0
    guard Int(pages - free) * Int(size) + bytes <= quota.bytes else {
      throw .overQuota("\(quota.bytes >> 20) MiB")
    }
  }
}
