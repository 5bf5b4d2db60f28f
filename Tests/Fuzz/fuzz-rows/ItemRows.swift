import SecretMemory

@testable import FuzzKit
@testable import Keychain

/// A row of the item table: body, access control, key and secret from the input and sealed under the right keys, and
/// columns that the input puts something else into.
final class ItemRows {
  private let bench: KeychainBench
  private let keychain: UserKeychain
  private let password: StretchedPassword
  private static let columns = [
    "version", "class", "protection", "access", "state", "identity", "service", "account", "access_group", "label",
    "generic", "attributes", "key", "secret",
  ]

  init() throws {
    bench = try KeychainBench()
    keychain = try bench.makeKeychain()
    password = try KeychainBench.passcode(StretchingParameters(cost: .none))
  }

  func run(_ input: inout FuzzInput) throws {
    let row = try right(&input)
    var columns = row.columns
    var changed: Set<String> = []
    for _ in 0..<input.choice(4) {
      let name = Self.columns[input.choice(Self.columns.count)]
      columns[name] = DatabaseValue(&input)
      changed.insert(name)
    }
    let database = bench.database
    try database.run("DELETE FROM item")
    try database.run(
      "INSERT INTO item(id, \(Self.columns.joined(separator: ", "))) VALUES(?\(Self.columns.map { _ in ", ?" }.joined()))",
      [.integer(1)] + Self.columns.map { columns[$0] ?? .null })
    do throws(KeychainError) { try read(row, changed) } catch { require(false, "reading rows threw \(error)") }
  }

  private struct RightRow {
    var columns: [String: DatabaseValue]
    let body: ItemBody?
    let accessControl: AccessControl?
    /// Whether key and secret are such as the keychain stores.
    let isWhole: Bool
    let secret: [UInt8]
  }

  /// The row that the keychain would have stored for these contents, as far as they are any.
  private func right(_ input: inout FuzzInput) throws -> RightRow {
    let (access, loss, plain) = (input.field(), ItemLoss(rawValue: input.byte()) ?? .none, input.field())
    let (keyBytes, secretBytes) = (input.field(), input.field())
    let body = plain.withUnsafeBytes { ItemBody($0) }
    let control = (try? AccessControl(canonicalBytes: access)) ?? nil
    let attributes = body?.attributes ?? ItemAttributes()
    let hashes = SearchHashes(attributes, key: keychain.keys.search)
    let binding = keychain.binding(ItemID(1), attributes, control ?? .unconstrained, hashes, loss: loss)
    let sealed = plain.withUnsafeBytes {
      Sealing.seal($0, key: keychain.keys.attributes, associatedData: binding.associatedData(.itemAttributes))
    }
    let key = try secret(keyBytes)
    let isKey = keyBytes.count == Sealing.keyBytes
    let secretColumn =
      isKey
      ? Sealing.seal(try secret(secretBytes), key: key, associatedData: binding.associatedData(.itemSecret))
      : secretBytes
    return RightRow(
      columns: [
        "version": .integer(ItemRow.version), "class": .integer(Int64(attributes.itemClass.rawValue)),
        "protection": .integer(Int64((control ?? .unconstrained).protection.rawValue)), "access": .blob(access),
        "state": .integer(Int64(loss.rawValue)), "identity": .blob(hashes.identity), "service": .blob(hashes.service),
        "account": .blob(hashes.account), "access_group": .blob(hashes.accessGroup), "label": .blobOrNull(hashes.label),
        "generic": .blobOrNull(hashes.generic), "attributes": .blob(sealed),
        "key": .blob(try keychain.wrap(key, control ?? .unconstrained, binding, password)),
        "secret": .blob(secretColumn),
      ],
      body: (body?.invalidated != 0) == (loss != .none) ? body : nil, accessControl: control, isWhole: isKey,
      secret: secretBytes)
  }

  private func read(_ row: RightRow, _ changed: Set<String>) throws(KeychainError) {
    let page = try keychain.page(ItemQuery(), after: nil, count: 10, includeInvalidated: true)
    require(page.items.count + page.damaged.count == 1, "a row is an item or a damaged one")
    let check = try keychain.checkItems(count: 10)
    require(check.rows == 1, "a check looks at every row")
    if let damaged = page.damaged.first {
      require(!changed.isEmpty || row.body == nil || row.accessControl == nil, "what was stored is read: \(damaged)")
      require(damaged.error.isTampered || damaged.error.isUnsupported, "a row is read or refused: \(damaged.error)")
      requireLine(damaged.error.description)
    }
    if let item = page.items.first {
      require(item.attributes == row.body?.attributes, "an item's attributes are those that were stored")
      require(item.accessControl == row.accessControl, "an item's access control is the one that was stored")
      require(check.damaged.isEmpty || !changed.isEmpty || !row.isWhole, "a stored secret is whole")
      try use(item, row, changed)
    }
  }

  private func use(_ item: ItemSummary, _ row: RightRow, _ changed: Set<String>) throws(KeychainError) {
    let query = ItemQuery(itemClass: item.attributes.itemClass)
    let reference = keychain.persistentReference(of: item.id)
    var byReference = query
    byReference.persistentReference = reference
    let found = try keychain.find(byReference, includeInvalidated: true)
    require(found == [item], "an item is found by its reference")
    var byValues = query
    byValues.values = item.attributes.values
    let same = try keychain.find(byValues, includeInvalidated: true)
    require(same == [item], "an item is found by its attributes")
    do throws(KeychainError) {
      _ = try keychain.applicationPasswordParameters(of: item.id)
      let given = item.accessControl.needsApplicationPassword ? password : nil
      let secret = try keychain.secret(of: item.id, under: item.accessControl, applicationPassword: given)
      require(item.state == .present, "an item that lost its secret gives none")
      let isRight = secret.withUnsafeBytes { Array($0) == row.secret }
      require(isRight, "a secret is the one that was stored")
    } catch {
      requireLine(error.description)
      guard item.state == .present else { return }
      require(!row.isWhole || !changed.isDisjoint(with: ["key", "secret"]), "a stored secret is given: \(error)")
    }
  }

  static func seeds(_ mode: UInt8) throws -> [[UInt8]] {
    var result: [[UInt8]] = []
    for (index, control) in SampleItems.accessControls.enumerated() {
      let body = SampleItems.bodies[index % SampleItems.bodies.count]
      var seed = FuzzOutput([mode])
      seed.write(field: control.canonicalBytes)
      seed.write(UInt8(body.invalidated == 0 ? 0 : 1))
      seed.write(field: body.bytes)
      seed.write(field: (0..<32).map { $0 })
      seed.write(field: Array("secret".utf8))
      result.append(seed.bytes)
      seed.write(UInt8(1))
      seed.write(UInt8(index))
      seed.write(UInt8(2))
      seed.write(Int64(7))
      result.append(seed.bytes)
    }
    return result
  }
}
