/// An item on its way to or from an export file, without its secret.
public struct PortableItem: Sendable {
  /// What describes it.
  public let attributes: ItemAttributes
  /// What guards its secret; nil where whoever imports it says that.
  public let accessControl: AccessControl?
  let created: Int64
  let modified: Int64

  /// An item of a keychain.
  public init(_ item: ItemSummary) {
    attributes = item.attributes
    accessControl = item.accessControl
    created = item.created
    modified = item.modified
  }

  /// Reads the byte forms back.
  /// - Parameter accessControl: empty where the file does not say it.
  /// - Throws: `.unsupported` where they are none, or of a later version; what adding such an item would throw.
  public init(attributes bytes: [UInt8], accessControl control: [UInt8]) throws(KeychainError) {
    guard let body = bytes.withUnsafeBufferPointer({ ItemBody(UnsafeRawBufferPointer($0)) }), body.invalidated == 0
    else { throw .unsupported("the attributes of an item in the file") }
    attributes = body.attributes
    created = body.created
    modified = body.modified
    if control.isEmpty {
      accessControl = nil
    } else {
      guard let found = try AccessControl(canonicalBytes: control) else {
        throw .unsupported("the access control of an item in the file")
      }
      accessControl = found
    }
    try attributes.validate()
  }

  /// Its attributes and dates as the file has them.
  public var attributeBytes: [UInt8] {
    ItemBody(attributes: attributes, created: created, modified: modified).bytes
  }

  /// Its access control as the file has it; empty for none.
  public var accessControlBytes: [UInt8] { accessControl?.canonicalBytes ?? [] }
}

extension UserKeychain {
  /// The item that has a secret and is known by the same attributes; nil where there is none.
  /// - Throws: `.tampered` or `.unsupported` where there is one that cannot be read.
  public func item(like other: ItemAttributes) throws(KeychainError) -> ItemSummary? {
    var row: ItemRow?
    let identity = SearchHashes.identity(of: other, key: keys.search)
    try database.rows("SELECT \(ItemRow.columns) FROM item WHERE identity = ?", [.blob(identity)]) {
      (found) throws(KeychainError) in
      row = ItemRow(found)
      return false
    }
    guard let found = try row?.summary(user: user, keys: keys), found.state == .present else { return nil }
    return found
  }

  /// A number that is the same for items that are known by the same attributes, and for no others.
  public func identity(of attributes: ItemAttributes) -> [UInt8] {
    SearchHashes.identity(of: attributes, key: keys.names)
  }
}
