internal import Bus
internal import Enclave
internal import Keychain

/// Items as `org.whorl.Keychain1` writes them (data/dbus/org.whorl.Keychain1.xml).
enum ItemCoding {
  /// The attributes of an item to add. Class, service, account and access group may be left out: a generic password,
  /// and empty texts.
  static func attributes(_ value: BusValue) throws -> ItemAttributes {
    var keys = try StrictOptions(value, what: "attribute")
    let partial = try partial(&keys)
    try keys.finish()
    var result = ItemAttributes(
      itemClass: partial.itemClass ?? .genericPassword, service: partial.service ?? "", account: partial.account ?? "",
      accessGroup: partial.accessGroup ?? "")
    result.label = partial.label
    result.itemDescription = partial.itemDescription
    result.comment = partial.comment
    result.creator = partial.creator
    result.type = partial.type
    result.generic = partial.generic
    result.invisible = partial.invisible
    result.negative = partial.negative
    return result
  }

  /// A query, or the attributes to change.
  static func query(_ value: BusValue, what: String) throws -> ItemQuery {
    var keys = try StrictOptions(value, what: what)
    let result = try partial(&keys)
    try keys.finish()
    return result
  }

  private static func partial(_ keys: inout StrictOptions) throws -> ItemQuery {
    var result = ItemQuery()
    result.itemClass = try keys.text("class").map { name throws(KeychainError) in try ItemClass(name: name) }
    result.service = try keys.text("service")
    result.account = try keys.text("account")
    result.accessGroup = try keys.text("access-group")
    result.label = try keys.text("label")
    result.itemDescription = try keys.text("description")
    result.comment = try keys.text("comment")
    result.creator = try keys.number("creator")
    result.type = try keys.number("type")
    result.generic = try keys.bytes("generic")
    result.invisible = try keys.flag("invisible")
    result.negative = try keys.flag("negative")
    return result
  }

  /// The protection and constraints of an item to add.
  static func accessControl(_ keys: inout StrictOptions) throws -> AccessControl {
    let protection = try keys.text("protection") ?? ProtectionClass.always.name
    let constraints = try keys.texts("constraints") ?? []
    return try AccessControl(
      protection: ProtectionClass(name: protection),
      constraints: constraints.map { name throws(KeychainError) in try Constraint(name: name) })
  }

  /// The most bytes of attributes in one answer; a bus takes no messages without end.
  static let answerBytes = 4 << 20

  /// What a search returns.
  /// - Throws: `TooLarge` where it is more than an answer may hold.
  static func summaries(_ items: [ItemSummary]) throws(BusMethodError) -> [BusValue] {
    var bytes = 0
    for item in items {
      let attributes = item.attributes
      let texts = [
        attributes.service, attributes.account, attributes.accessGroup, attributes.label, attributes.itemDescription,
        attributes.comment,
      ]
      bytes += 512 + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } + (attributes.generic?.count ?? 0)
      guard bytes <= answerBytes else {
        throw .whorl("TooLarge", "\(items.count) items match, which is too much for one answer; ask with a limit.")
      }
    }
    return items.map(summary)
  }

  /// What a search returns of an item.
  static func summary(_ item: ItemSummary) -> BusValue {
    var values: [String: BusValue] = [
      "class": .string(item.attributes.itemClass.name),
      "service": .string(item.attributes.service),
      "account": .string(item.attributes.account),
      "access-group": .string(item.attributes.accessGroup),
      "created": .int64(item.created),
      "modified": .int64(item.modified),
      "protection": .string(item.accessControl.protection.name),
      "constraints": .strings(item.accessControl.constraints.map(\.rawValue)),
    ]
    let attributes = item.attributes
    values["label"] = attributes.label.map { .string($0) }
    values["description"] = attributes.itemDescription.map { .string($0) }
    values["comment"] = attributes.comment.map { .string($0) }
    values["creator"] = attributes.creator.map { .uint32($0) }
    values["type"] = attributes.type.map { .uint32($0) }
    values["generic"] = attributes.generic.map { .bytes($0) }
    values["invisible"] = attributes.invisible.map { .boolean($0) }
    values["negative"] = attributes.negative.map { .boolean($0) }
    switch item.state {
    case .present: values["state"] = .string("present")
    case .invalidated: values["state"] = .string("invalidated")
    }
    return .options(values)
  }
}
