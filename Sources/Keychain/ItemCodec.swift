internal import SecretMemory

/// An item's attributes and dates as one run of bytes, which is then encrypted.
struct ItemBody {
  var attributes: ItemAttributes
  var created: Int64
  var modified: Int64
  /// When the item lost its secret; 0 while it has one.
  var invalidated: Int64

  private enum Tag: UInt8 {
    case service = 1
    case account, accessGroup, label, description, comment, creator, type, generic, invisible, negative
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    for date in [created, modified, invalidated] { writer.write(date) }
    writer.write(attributes.itemClass.rawValue)
    func put(_ tag: Tag, _ value: [UInt8]?) {
      guard let value else { return }
      writer.write(tag.rawValue)
      writer.write(value)
    }
    func number(_ value: UInt32?) -> [UInt8]? {
      value.map {
        var writer = ByteWriter()
        writer.write($0)
        return writer.bytes
      }
    }
    put(.service, Array(attributes.service.utf8))
    put(.account, Array(attributes.account.utf8))
    put(.accessGroup, Array(attributes.accessGroup.utf8))
    put(.label, attributes.label.map { Array($0.utf8) })
    put(.description, attributes.itemDescription.map { Array($0.utf8) })
    put(.comment, attributes.comment.map { Array($0.utf8) })
    put(.creator, number(attributes.creator))
    put(.type, number(attributes.type))
    put(.generic, attributes.generic)
    put(.invisible, attributes.invisible.map { [$0 ? 1 : 0] })
    put(.negative, attributes.negative.map { [$0 ? 1 : 0] })
    return writer.bytes
  }

  init(attributes: ItemAttributes, created: Int64, modified: Int64, invalidated: Int64 = 0) {
    self.attributes = attributes
    self.created = created
    self.modified = modified
    self.invalidated = invalidated
  }

  /// nil where the bytes are no such form.
  init?(_ source: UnsafeRawBufferPointer) {
    var reader = ByteReader(source)
    guard let created = reader.number(Int64.self), let modified = reader.number(Int64.self),
      let invalidated = reader.number(Int64.self),
      let itemClass = reader.number(UInt8.self).flatMap(ItemClass.init(rawValue:))
    else { return nil }
    var attributes = ItemAttributes(itemClass: itemClass)
    var last: UInt8 = 0
    while !reader.isAtEnd {
      guard let number = reader.number(UInt8.self), number > last, let tag = Tag(rawValue: number),
        let value = reader.field(), Self.set(tag, value, in: &attributes)
      else { return nil }
      last = number
    }
    self.init(attributes: attributes, created: created, modified: modified, invalidated: invalidated)
  }

  private static func set(_ tag: Tag, _ value: [UInt8], in attributes: inout ItemAttributes) -> Bool {
    func text(_ path: WritableKeyPath<ItemAttributes, String>) -> Bool {
      guard let text = String(validating: value, as: UTF8.self) else { return false }
      attributes[keyPath: path] = text
      return true
    }
    func text(_ path: WritableKeyPath<ItemAttributes, String?>) -> Bool {
      guard let text = String(validating: value, as: UTF8.self) else { return false }
      attributes[keyPath: path] = text
      return true
    }
    func number(_ path: WritableKeyPath<ItemAttributes, UInt32?>) -> Bool {
      guard value.count == 4 else { return false }
      attributes[keyPath: path] = value.reversed().reduce(0) { $0 << 8 | UInt32($1) }
      return true
    }
    func flag(_ path: WritableKeyPath<ItemAttributes, Bool?>) -> Bool {
      guard value == [0] || value == [1] else { return false }
      attributes[keyPath: path] = value == [1]
      return true
    }
    switch tag {
    case .service: return text(\.service)
    case .account: return text(\.account)
    case .accessGroup: return text(\.accessGroup)
    case .label: return text(\.label)
    case .description: return text(\.itemDescription)
    case .comment: return text(\.comment)
    case .creator: return number(\.creator)
    case .type: return number(\.type)
    case .generic:
      attributes.generic = value
      return true
    case .invisible: return flag(\.invisible)
    case .negative: return flag(\.negative)
    }
  }
}

extension ItemAttributes {
  /// Throws for an attribute that cannot be kept.
  func validate() throws(KeychainError) {
    try itemClass.requireSupport()
    for (name, text) in [
      ("service", service), ("account", account), ("access group", accessGroup), ("label", label ?? ""),
      ("description", itemDescription ?? ""), ("comment", comment ?? ""),
    ] {
      guard text.utf8.count <= KeychainLimits.textBytes else {
        throw .tooLarge("the \(name)", limit: KeychainLimits.textBytes)
      }
      guard !text.utf8.contains(0) else { throw .invalidParameter("the \(name) holds a NUL character") }
    }
    if let generic, generic.count > KeychainLimits.genericBytes {
      throw .tooLarge("the generic attribute", limit: KeychainLimits.genericBytes)
    }
  }

  /// These attributes with the ones that `changes` gives in their place.
  func applying(_ changes: ItemQuery) throws(KeychainError) -> ItemAttributes {
    if let other = changes.itemClass, other != itemClass {
      throw .invalidParameter("the class of an item cannot be changed")
    }
    var result = self
    if let service = changes.service { result.service = service }
    if let account = changes.account { result.account = account }
    if let accessGroup = changes.accessGroup { result.accessGroup = accessGroup }
    if let label = changes.label { result.label = label }
    if let text = changes.itemDescription { result.itemDescription = text }
    if let comment = changes.comment { result.comment = comment }
    if let creator = changes.creator { result.creator = creator }
    if let type = changes.type { result.type = type }
    if let generic = changes.generic { result.generic = generic }
    if let invisible = changes.invisible { result.invisible = invisible }
    if let negative = changes.negative { result.negative = negative }
    return result
  }
}

extension ItemQuery {
  /// Whether every attribute given here is that of `attributes`, byte for byte.
  public func matches(_ attributes: ItemAttributes) -> Bool {
    func same(_ wanted: String?, _ found: String?) -> Bool {
      guard let wanted else { return true }
      // Not ==, which takes differently composed letters for the same.
      return found.map { $0.utf8.elementsEqual(wanted.utf8) } ?? false
    }
    func same<Value: Equatable>(_ wanted: Value?, _ found: Value?) -> Bool { wanted == nil || wanted == found }
    return same(itemClass, attributes.itemClass) && same(service, attributes.service)
      && same(account, attributes.account) && same(accessGroup, attributes.accessGroup)
      && same(label, attributes.label) && same(itemDescription, attributes.itemDescription)
      && same(comment, attributes.comment) && same(creator, attributes.creator) && same(type, attributes.type)
      && same(generic, attributes.generic) && same(invisible, attributes.invisible)
      && same(negative, attributes.negative)
  }
}
