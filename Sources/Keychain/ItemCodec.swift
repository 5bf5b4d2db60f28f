internal import SecretMemory

/// An item's attributes and dates as one run of bytes, which is then encrypted.
///
/// Three dates, the class, and then each attribute behind its number, in their order; after the attributes, under numbers
/// from 200, what the keychain itself notes.
struct ItemBody {
  var attributes: ItemAttributes
  var created: Int64
  var modified: Int64
  /// When the item lost its secret; 0 while it has one.
  var invalidated: Int64
  /// A digest of the set of fingers that the item was stored under, where that matters to more than its key
  /// (`AccessControl.prefersBiometrySet`).
  var biometrySet: [UInt8]?

  private static let biometrySetTag: UInt8 = 200

  var bytes: [UInt8] {
    var writer = ByteWriter()
    for date in [created, modified, invalidated] { writer.write(date) }
    writer.write(attributes.itemClass.rawValue)
    for attribute in ItemAttribute.allCases {
      guard let value = attributes.values[attribute] else { continue }
      writer.write(attribute.rawValue)
      writer.write(value.encoded)
    }
    if let biometrySet {
      writer.write(Self.biometrySetTag)
      writer.write(biometrySet)
    }
    return writer.bytes
  }

  init(
    attributes: ItemAttributes, created: Int64, modified: Int64, invalidated: Int64 = 0, biometrySet: [UInt8]? = nil
  ) {
    self.attributes = attributes
    self.created = created
    self.modified = modified
    self.invalidated = invalidated
    self.biometrySet = biometrySet
  }

  /// nil where the bytes are no such form.
  init?(_ source: UnsafeRawBufferPointer) {
    var reader = ByteReader(source)
    guard let created = reader.number(Int64.self), let modified = reader.number(Int64.self),
      let invalidated = reader.number(Int64.self),
      let itemClass = reader.number(UInt8.self).flatMap(ItemClass.init(rawValue:))
    else { return nil }
    var attributes = ItemAttributes(itemClass: itemClass)
    var biometrySet: [UInt8]?
    var last: UInt8 = 0
    while !reader.isAtEnd {
      guard let number = reader.number(UInt8.self), number > last, let field = reader.field() else { return nil }
      last = number
      if number == Self.biometrySetTag {
        biometrySet = field
        continue
      }
      guard let attribute = ItemAttribute(rawValue: number), itemClass.has(attribute),
        let value = AttributeValue(attribute.kind, encoded: field)
      else { return nil }
      // Format 1 stored empty texts; there is one form of "none" now.
      if value != attribute.absentValue { attributes.values[attribute] = value }
    }
    self.init(
      attributes: attributes, created: created, modified: modified, invalidated: invalidated, biometrySet: biometrySet)
  }
}
