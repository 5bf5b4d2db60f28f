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
    return try ItemAttributes(itemClass: partial.itemClass ?? .genericPassword).applying(partial)
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
    result.persistentReference = try keys.bytes("persistent-reference")
    for attribute in ItemAttribute.allCases {
      result.values[attribute] =
        switch attribute.kind {
        case .text: try keys.text(attribute.name).map(AttributeValue.text)
        case .number: try keys.number(attribute.name).map(AttributeValue.number)
        case .bytes: try keys.bytes(attribute.name).map(AttributeValue.bytes)
        case .flag: try keys.flag(attribute.name).map(AttributeValue.flag)
        }
    }
    return result
  }

  /// The protection and constraints of an item to add.
  static func accessControl(_ keys: inout StrictOptions) throws -> AccessControl {
    try newAccessControl(&keys) ?? .unconstrained
  }

  /// The protection and constraints that an item is to have from now on; nil where neither is given.
  static func newAccessControl(_ keys: inout StrictOptions) throws -> AccessControl? {
    let protection = try keys.text("protection")
    let constraints = try keys.texts("constraints")
    guard protection != nil || constraints != nil else { return nil }
    return try AccessControl(
      protection: ProtectionClass(name: protection ?? ProtectionClass.always.name), names: constraints ?? [])
  }

  /// The most bytes of attributes in one answer; a bus takes no messages without end.
  static let answerBytes = 4 << 20

  /// What a search returns.
  /// - Throws: `TooLarge` where it is more than an answer may hold.
  static func summaries(_ items: [FoundItem]) throws(BusMethodError) -> [BusValue] {
    var bytes = 0
    for found in items {
      bytes += 512
      for value in found.item.attributes.values.values {
        switch value {
        case .text(let text): bytes += text.utf8.count
        case .bytes(let content): bytes += content.count
        case .number, .flag: break
        }
      }
      guard bytes <= answerBytes else {
        throw .whorl("TooLarge", "\(items.count) items match, which is too much for one answer; ask with a limit.")
      }
    }
    return items.map(summary)
  }

  /// What a search returns of an item.
  static func summary(_ found: FoundItem) -> BusValue {
    let item = found.item
    var values: [String: BusValue] = [
      "class": .string(item.attributes.itemClass.name),
      "created": .int64(item.created),
      "modified": .int64(item.modified),
      "protection": .string(item.accessControl.protection.name),
      "constraints": .strings(item.accessControl.names),
      "persistent-reference": .bytes(found.reference),
    ]
    if item.attributes.itemClass == .genericPassword {
      // Always there, so that who reads them need not know what "none" is.
      values["service"] = .string(item.attributes.service)
      values["account"] = .string(item.attributes.account)
    }
    values["access-group"] = .string(item.attributes.accessGroup)
    for (attribute, value) in item.attributes.values {
      values[attribute.name] =
        switch value {
        case .text(let text): .string(text)
        case .number(let number): .uint32(number)
        case .bytes(let bytes): .bytes(bytes)
        case .flag(let flag): .boolean(flag)
        }
    }
    switch item.state {
    case .present: values["state"] = .string("present")
    case .invalidated: values["state"] = .string("invalidated")
    case .passcodeRemoved: values["state"] = .string("passcode-removed")
    }
    return .options(values)
  }
}
