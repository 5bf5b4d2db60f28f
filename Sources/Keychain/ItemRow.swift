internal import SecretMemory

/// A row of the item table, of which nothing is trusted before `ItemRow.body` has opened it.
struct ItemRow {
  static let version: Int64 = 1
  static let columns = """
    id, version, class, protection, access, state, identity, service, account, access_group, label, generic, \
    attributes
    """

  let id: Int64
  private let integers: [Int64?]
  private let blobs: [[UInt8]?]

  /// From the columns of `columns`, in that order.
  init(_ row: borrowing Row) {
    id = row.integer(0) ?? 0
    integers = [1, 2, 3, 5].map { row.integer($0) }
    blobs = [4, 6, 7, 8, 9, 10, 11, 12].map { row.blob($0) }
  }

  /// The item this row stands for, once everything in it is proved to be as the keychain stored it.
  /// - Throws: `.tampered` or `.unsupported`, naming the item.
  func summary(user: UserID, keys: borrowing Keybag) throws(KeychainError) -> ItemSummary {
    let altered = KeychainError.tampered("item \(id) of user \(user)")
    guard let version = integers[0], let classNumber = integers[1], let protection = integers[2],
      let state = integers[3], let access = blobs[0], let identity = blobs[1], let sealed = blobs[7]
    else { throw altered }
    guard version == Self.version else { throw .unsupported("item \(id) of user \(user), of version \(version)") }
    guard let itemClass = UInt8(exactly: classNumber).flatMap(ItemClass.init(rawValue:)) else {
      throw .unsupported("item \(id) of user \(user), of class number \(classNumber)")
    }
    guard let accessControl = try AccessControl(canonicalBytes: access),
      protection == Int64(accessControl.protection.rawValue),
      let loss = UInt8(exactly: state).flatMap(ItemLoss.init(rawValue:))
    else { throw altered }
    let binding = ItemBinding(
      user: user, id: id, itemClass: itemClass, accessControl: accessControl, loss: loss, identity: identity,
      name: identity)
    guard
      let plain = try Sealing.open(
        sealed, key: keys.attributes, associatedData: binding.associatedData(.itemAttributes)),
      let body = plain.withUnsafeBytes({ ItemBody($0) }), body.attributes.itemClass == itemClass,
      (body.invalidated != 0) == (loss != .none)
    else { throw altered }
    let hashes = SearchHashes(body.attributes, key: keys.search)
    guard hashes.identity == identity, hashes.service == blobs[2], hashes.account == blobs[3],
      hashes.accessGroup == blobs[4], hashes.label == blobs[5], hashes.generic == blobs[6]
    else { throw altered }
    return ItemSummary(
      id: ItemID(id), attributes: body.attributes, accessControl: accessControl, created: body.created,
      modified: body.modified, state: loss.state(at: body.invalidated), storedSet: body.biometrySet)
  }
}

/// Whether and why an item lost its secret. Its number is part of the file format.
enum ItemLoss: UInt8 {
  case none = 0
  /// The set of fingers that it was bound to changed.
  case fingersChanged = 1
  /// The account's password was removed.
  case passcodeRemoved = 2

  func state(at time: Int64) -> ItemState {
    switch self {
    case .none: .present
    case .fingersChanged: .invalidated(at: time)
    case .passcodeRemoved: .passcodeRemoved(at: time)
    }
  }
}

/// What every ciphertext of an item is bound to.
struct ItemBinding {
  let user: UserID
  let id: Int64
  let itemClass: ItemClass
  let accessControl: AccessControl
  let loss: ItemLoss
  /// The hash under which the database finds the item; attributes are bound to it.
  let identity: [UInt8]
  /// The hash of the same that stays over a rekeying (`Keybag.names`): what lies under a program's own password cannot be
  /// sealed anew.
  let name: [UInt8]

  func associatedData(_ purpose: Purpose) -> ByteWriter {
    var data = purpose.associatedData(of: user)
    data.write(ItemRow.version)
    data.write(id)
    data.write(itemClass.rawValue)
    data.write(accessControl.protection.rawValue)
    data.write(accessControl.canonicalBytes)
    data.write(loss.rawValue)
    data.write(purpose == .itemAttributes ? identity : name)
    return data
  }
}
