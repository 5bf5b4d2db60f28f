internal import SecretMemory

/// The keyed hashes under which items are found; equal values give equal hashes to the holder of the key alone.
struct SearchHashes: Equatable {
  let identity: [UInt8]
  let service: [UInt8]
  let account: [UInt8]
  let accessGroup: [UInt8]
  let label: [UInt8]?
  let generic: [UInt8]?

  init(_ attributes: ItemAttributes, key: borrowing SecretBytes) {
    identity = Self.identity(of: attributes, key: key)
    func hash(_ choices: [ItemAttribute]) -> [UInt8]? {
      // An item has at most one of those that share a column.
      let attribute = choices.first { attributes.values[$0] != nil } ?? choices[0]
      return attributes.value(attribute).map { Self.hash(attribute, $0, key: key) }
    }
    service = hash(Self.service) ?? []
    account = hash(Self.account) ?? []
    accessGroup = hash([.accessGroup]) ?? []
    label = hash([.label])
    generic = hash([.generic])
  }

  /// The attributes that share a column of the table: classes have one of them each.
  private static let service: [ItemAttribute] = [.service, .server, .applicationLabel]
  private static let account: [ItemAttribute] = [.account, .applicationTag]

  /// The hash of what tells an item apart.
  static func identity(of attributes: ItemAttributes, key: borrowing SecretBytes) -> [UInt8] {
    Sealing.keyedHash(identity(of: attributes), key: key)
  }

  /// What tells the item apart, as bytes.
  private static func identity(of attributes: ItemAttributes) -> [UInt8] {
    var writer = ByteWriter()
    writer.write("identity".utf8)
    writer.write(attributes.itemClass.rawValue)
    for attribute in attributes.itemClass.identity {
      // As format 1 wrote it for generic passwords, all of whose values are there.
      guard attribute.absentValue == nil else {
        writer.write(attributes.value(attribute)?.encoded ?? [])
        continue
      }
      writer.write(UInt8(attributes.values[attribute] == nil ? 0 : 1))
      writer.write(attributes.values[attribute]?.encoded ?? [])
    }
    if attributes.synchronizable == true { writer.write("synchronizable".utf8) }
    return writer.bytes
  }

  private static func hash(_ attribute: ItemAttribute, _ value: AttributeValue, key: borrowing SecretBytes) -> [UInt8] {
    var writer = ByteWriter()
    // The names that format 1 gave.
    writer.write(attribute == .accessGroup ? "access_group".utf8 : attribute.name.utf8)
    writer.write(value.encoded)
    return Sealing.keyedHash(writer.bytes, key: key, count: 16)
  }

  /// The columns and hashes that narrow `query` down; its other attributes are compared after decryption.
  static func conditions(
    of query: ItemQuery, key: borrowing SecretBytes
  ) -> [(column: String, hash: [UInt8])] {
    var result: [(String, [UInt8])] = []
    for attribute in ItemAttribute.allCases {
      guard let value = query.values[attribute], let column = column(of: attribute) else { continue }
      result.append((column, hash(attribute, value, key: key)))
    }
    return result
  }

  private static func column(of attribute: ItemAttribute) -> String? {
    switch attribute {
    case .service, .server, .applicationLabel: "service"
    case .account, .applicationTag: "account"
    case .accessGroup: "access_group"
    case .label: "label"
    case .generic: "generic"
    default: nil
    }
  }
}
