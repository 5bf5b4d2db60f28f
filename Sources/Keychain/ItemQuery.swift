/// Attributes to look for, or to change: nil leaves an attribute open, or as it is.
///
/// A query matches the items whose attributes all equal those given, byte for byte.
public struct ItemQuery: Hashable, Sendable {
  /// The kind of item.
  public var itemClass: ItemClass?
  /// What the secret is for.
  public var service: String?
  /// Whose it is there.
  public var account: String?
  /// The group of programs it belongs to; the empty text finds those without.
  public var accessGroup: String?
  /// The name for people.
  public var label: String?
  /// The kind for people.
  public var itemDescription: String?
  /// The note for people.
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

  /// A query that leaves all but these open: every item where nothing is given.
  public init(
    itemClass: ItemClass? = nil, service: String? = nil, account: String? = nil, accessGroup: String? = nil,
    label: String? = nil
  ) {
    self.itemClass = itemClass
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
    self.label = label
  }
}
