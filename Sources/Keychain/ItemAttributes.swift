/// What describes an item; encrypted on disk, readable without a finger.
///
/// An item is known by class, service, account and access group together, byte for byte: text that only looks the
/// same is another text. Limits are in `KeychainLimits`.
public struct ItemAttributes: Hashable, Sendable {
  /// The kind of item.
  public var itemClass: ItemClass
  /// What the secret is for.
  public var service: String
  /// Whose it is there.
  public var account: String
  /// The group of programs it belongs to; empty for none.
  public var accessGroup: String
  /// A name for people.
  public var label: String?
  /// A kind for people, such as "API token".
  public var itemDescription: String?
  /// A note for people.
  public var comment: String?
  /// Apple's four-character code of the creator, as a number.
  public var creator: UInt32?
  /// Apple's four-character code of the type, as a number.
  public var type: UInt32?
  /// Bytes of the program's own.
  public var generic: [UInt8]?
  /// Whether lists for people should leave it out.
  public var invisible: Bool?
  /// Whether it only notes that there is no password.
  public var negative: Bool?

  /// Attributes of a generic password, the rest of them to be set afterwards.
  public init(
    itemClass: ItemClass = .genericPassword, service: String = "", account: String = "", accessGroup: String = ""
  ) {
    self.itemClass = itemClass
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
  }
}
