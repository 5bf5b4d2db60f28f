/// Something that holds values of attributes: an item's own, or those to look for or to set.
public protocol AttributeValues {
  /// The values, by attribute.
  var values: [ItemAttribute: AttributeValue] { get set }
}

extension AttributeValues {
  /// A name for people.
  public var label: String? {
    get { text(.label) }
    set { set(.label, newValue) }
  }
  /// A kind for people, such as "API token".
  public var itemDescription: String? {
    get { text(.itemDescription) }
    set { set(.itemDescription, newValue) }
  }
  /// A note for people.
  public var comment: String? {
    get { text(.comment) }
    set { set(.comment, newValue) }
  }
  /// Apple's four-character code of the creator, as a number.
  public var creator: UInt32? {
    get { number(.creator) }
    set { values[.creator] = newValue.map(AttributeValue.number) }
  }
  /// Apple's four-character code of the type, as a number.
  public var type: UInt32? {
    get { number(.type) }
    set { values[.type] = newValue.map(AttributeValue.number) }
  }
  /// Bytes of the program's own.
  public var generic: [UInt8]? {
    get { bytes(.generic) }
    set { values[.generic] = newValue.map(AttributeValue.bytes) }
  }
  /// Whether lists for people should leave it out.
  public var invisible: Bool? {
    get { flag(.invisible) }
    set { values[.invisible] = newValue.map(AttributeValue.flag) }
  }
  /// Whether it only notes that there is no password.
  public var negative: Bool? {
    get { flag(.negative) }
    set { values[.negative] = newValue.map(AttributeValue.flag) }
  }
  /// Whether the program meant it to be synchronized; nothing syncs.
  public var synchronizable: Bool? {
    get { flag(.synchronizable) }
    set { values[.synchronizable] = newValue.map(AttributeValue.flag) }
  }
  /// The server's name or address.
  public var server: String? {
    get { text(.server) }
    set { set(.server, newValue) }
  }
  /// The server's port, 0 to 65535.
  public var port: UInt32? {
    get { number(.port) }
    set { values[.port] = newValue.map(AttributeValue.number) }
  }
  /// Apple's four-character code of the protocol, as a number.
  public var protocolType: UInt32? {
    get { number(.protocolType) }
    set { values[.protocolType] = newValue.map(AttributeValue.number) }
  }
  /// The path of the URL.
  public var path: String? {
    get { text(.path) }
    set { set(.path, newValue) }
  }
  /// Apple's four-character code of the way to authenticate, as a number.
  public var authenticationType: UInt32? {
    get { number(.authenticationType) }
    set { values[.authenticationType] = newValue.map(AttributeValue.number) }
  }
  /// The realm that the password is for.
  public var securityDomain: String? {
    get { text(.securityDomain) }
    set { set(.securityDomain, newValue) }
  }
  /// Which half of a key it is.
  public var keyRole: KeyRole? {
    get { text(.keyRole).flatMap(KeyRole.init(rawValue:)) }
    set { set(.keyRole, newValue?.rawValue) }
  }
  /// The kind of the key.
  public var keyType: KeyType? {
    get { text(.keyType).flatMap(KeyType.init(rawValue:)) }
    set { set(.keyType, newValue?.rawValue) }
  }
  /// The hash of the public key that both halves share.
  public var applicationLabel: [UInt8]? {
    get { bytes(.applicationLabel) }
    set { values[.applicationLabel] = newValue.map(AttributeValue.bytes) }
  }
  /// Bytes of the program's own that find the key.
  public var applicationTag: [UInt8]? {
    get { bytes(.applicationTag) }
    set { values[.applicationTag] = newValue.map(AttributeValue.bytes) }
  }
  /// The size of the key.
  public var keySizeInBits: UInt32? {
    get { number(.keySizeInBits) }
    set { values[.keySizeInBits] = newValue.map(AttributeValue.number) }
  }
  /// The effective size of the key.
  public var effectiveKeySize: UInt32? {
    get { number(.effectiveKeySize) }
    set { values[.effectiveKeySize] = newValue.map(AttributeValue.number) }
  }

  func text(_ attribute: ItemAttribute) -> String? {
    if case .text(let text)? = values[attribute] { text } else { nil }
  }

  mutating func set(_ attribute: ItemAttribute, _ text: String?) {
    values[attribute] = text.map(AttributeValue.text)
  }

  private func number(_ attribute: ItemAttribute) -> UInt32? {
    if case .number(let number)? = values[attribute] { number } else { nil }
  }

  private func bytes(_ attribute: ItemAttribute) -> [UInt8]? {
    if case .bytes(let bytes)? = values[attribute] { bytes } else { nil }
  }

  private func flag(_ attribute: ItemAttribute) -> Bool? {
    if case .flag(let flag)? = values[attribute] { flag } else { nil }
  }
}

/// What describes an item; encrypted on disk, readable without a finger.
///
/// Which attributes a class has, and which of them tell its items apart, is `ItemClass`'s. Limits are in
/// `KeychainLimits`.
public struct ItemAttributes: Hashable, Sendable, AttributeValues {
  /// The kind of item.
  public var itemClass: ItemClass
  /// The values, by attribute. Empty texts of service, account and access group count as none.
  public var values: [ItemAttribute: AttributeValue] = [:]

  /// What the secret is for; empty for none.
  public var service: String {
    get { text(.service) ?? "" }
    set { set(.service, newValue.isEmpty ? nil : newValue) }
  }
  /// Whose it is there; empty for none.
  public var account: String {
    get { text(.account) ?? "" }
    set { set(.account, newValue.isEmpty ? nil : newValue) }
  }
  /// The group of programs it belongs to; empty for none.
  public var accessGroup: String {
    get { text(.accessGroup) ?? "" }
    set { set(.accessGroup, newValue.isEmpty ? nil : newValue) }
  }

  /// Attributes of an item of that class, the rest of them to be set afterwards.
  public init(
    itemClass: ItemClass = .genericPassword, service: String = "", account: String = "", accessGroup: String = ""
  ) {
    self.itemClass = itemClass
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
  }

  /// The value of an attribute, or what an item without it counts as having.
  func value(_ attribute: ItemAttribute) -> AttributeValue? { values[attribute] ?? attribute.absentValue }

  /// Throws for an attribute that cannot be kept.
  func validate() throws(KeychainError) {
    for (attribute, value) in values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard itemClass.has(attribute) else {
        throw .invalidParameter("an item of class \(itemClass.name) has no attribute \(attribute.name)")
      }
      try value.validate(as: attribute)
    }
  }

  /// These attributes with the ones that `changes` gives in their place.
  /// - Throws: `.invalidParameter` for another class, and for a persistent reference.
  public func applying(_ changes: ItemQuery) throws(KeychainError) -> ItemAttributes {
    if let other = changes.itemClass, other != itemClass {
      throw .invalidParameter("the class of an item cannot be changed")
    }
    guard changes.persistentReference == nil else {
      throw .invalidParameter("the persistent reference of an item cannot be changed")
    }
    var result = self
    for (attribute, value) in changes.values {
      // "No account" is no value, so that there is one form of it.
      result.values[attribute] = value == attribute.absentValue ? nil : value
    }
    return result
  }
}

/// Attributes to look for, or to change: those that are not given are left open, or as they are.
///
/// A query matches the items whose attributes all equal those given, byte for byte.
public struct ItemQuery: Hashable, Sendable, AttributeValues {
  /// The kind of item.
  public var itemClass: ItemClass?
  /// The values, by attribute.
  public var values: [ItemAttribute: AttributeValue] = [:]
  /// The one item that this names (`UserKeychain.persistentReference`).
  public var persistentReference: [UInt8]?

  /// What the secret is for; the empty text finds those without.
  public var service: String? {
    get { text(.service) }
    set { set(.service, newValue) }
  }
  /// Whose it is there; the empty text finds those without.
  public var account: String? {
    get { text(.account) }
    set { set(.account, newValue) }
  }
  /// The group of programs it belongs to; the empty text finds those without.
  public var accessGroup: String? {
    get { text(.accessGroup) }
    set { set(.accessGroup, newValue) }
  }

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

  /// Whether every attribute given here is that of `attributes`, byte for byte. Says nothing of the reference.
  public func matches(_ attributes: ItemAttributes) -> Bool {
    guard itemClass == nil || itemClass == attributes.itemClass else { return false }
    return values.allSatisfy { $0.value == attributes.value($0.key) }
  }

  /// Whether it narrows a search down to items that somebody named: what may be deleted without saying "all".
  var namesItems: Bool {
    persistentReference != nil
      || [.service, .account, .server, .applicationLabel, .applicationTag].contains { values[$0] != nil }
  }
}

extension AttributeValue {
  /// Throws where it is no value of that attribute, or too large.
  func validate(as attribute: ItemAttribute) throws(KeychainError) {
    // As people know it: "the access group", "the service", "the generic attribute".
    let name = attribute.kind == .text ? attribute.name.replacing("-", with: " ") : "\(attribute.name) attribute"
    switch (self, attribute.kind) {
    case (.text(let text), .text):
      guard text.utf8.count <= KeychainLimits.textBytes else {
        throw .tooLarge("the \(name)", limit: KeychainLimits.textBytes)
      }
      guard !text.utf8.contains(0) else { throw .invalidParameter("the \(name) holds a NUL character") }
      switch attribute {
      case .keyRole where KeyRole(rawValue: text) == nil:
        throw .invalidParameter("there is no key class \(printable(text))")
      case .keyType where KeyType(rawValue: text) == nil: throw .unsupported("the key type \(printable(text))")
      default: return
      }
    case (.bytes(let bytes), .bytes):
      guard bytes.count <= KeychainLimits.genericBytes else {
        throw .tooLarge("the \(name)", limit: KeychainLimits.genericBytes)
      }
    case (.number(let number), .number):
      guard attribute != .port || number <= 65535 else {
        throw .invalidParameter("port \(number) is out of range; it must be 0 to 65535")
      }
    case (.flag, .flag): return
    default: throw .invalidParameter("the \(name) has a value of another kind")
    }
  }
}
