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
    var identity = ByteWriter()
    identity.write("identity".utf8)
    identity.write(attributes.itemClass.rawValue)
    for text in [attributes.service, attributes.account, attributes.accessGroup] { identity.write(text.utf8) }
    self.identity = Sealing.keyedHash(identity.bytes, key: key)
    service = Self.hash(.service, attributes.service.utf8, key: key)
    account = Self.hash(.account, attributes.account.utf8, key: key)
    accessGroup = Self.hash(.accessGroup, attributes.accessGroup.utf8, key: key)
    label = attributes.label.map { Self.hash(.label, $0.utf8, key: key) }
    generic = attributes.generic.map { Self.hash(.generic, $0, key: key) }
  }

  /// The columns that can be searched.
  enum Column: String {
    case service
    case account
    case accessGroup = "access_group"
    case label
    case generic
  }

  static func hash(_ column: Column, _ value: some Collection<UInt8>, key: borrowing SecretBytes) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(column.rawValue.utf8)
    writer.write(value)
    return Sealing.keyedHash(writer.bytes, key: key, count: 16)
  }

  /// The columns and hashes that narrow `query` down; its other attributes are compared after decryption.
  static func conditions(of query: ItemQuery, key: borrowing SecretBytes) -> [(column: Column, hash: [UInt8])] {
    var result: [(Column, [UInt8])] = []
    if let value = query.service { result.append((.service, hash(.service, value.utf8, key: key))) }
    if let value = query.account { result.append((.account, hash(.account, value.utf8, key: key))) }
    if let value = query.accessGroup { result.append((.accessGroup, hash(.accessGroup, value.utf8, key: key))) }
    if let value = query.label { result.append((.label, hash(.label, value.utf8, key: key))) }
    if let value = query.generic { result.append((.generic, hash(.generic, value, key: key))) }
    return result
  }
}
