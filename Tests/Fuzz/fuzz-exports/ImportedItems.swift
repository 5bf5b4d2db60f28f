import SecretMemory

@testable import FuzzKit
@testable import Keychain

/// The byte forms of an export file's items, on their way into a keychain.
final class ImportedItems {
  private let bench: KeychainBench
  private let keychain: UserKeychain

  init() throws {
    bench = try KeychainBench()
    keychain = try bench.makeKeychain()
  }

  func run(_ input: inout FuzzInput) throws {
    let (control, attributes) = (input.field(), input.all())
    do throws(KeychainError) {
      let item = try PortableItem(attributes: attributes, accessControl: control)
      require(item.accessControlBytes == control, "an access control is written as it was read")
      let again = try PortableItem(attributes: item.attributeBytes, accessControl: control)
      require(again.attributes == item.attributes, "attributes are written as they were read")
      require(again.attributeBytes == item.attributeBytes, "attributes have one form")
      try add(item)
    } catch {
      requireLine(error.description)
      switch error {
      case .unsupported, .invalidParameter, .tooLarge, .applicationPasswordNeeded: break
      default: require(false, "an item is imported or refused: \(error)")
      }
    }
  }

  private func add(_ item: PortableItem) throws(KeychainError) {
    let control = item.accessControl ?? .unconstrained
    let secret = try guarded { () throws(SecretMemoryError) in try SecretBytes.random(count: 8) }
    defer { try? bench.database.execute("DELETE FROM item") }
    let id = try bench.database.write { () throws(KeychainError) in
      try keychain.insert(
        item.attributes, control, secret, nil, created: item.created == 0 ? nil : item.created,
        modified: item.modified == 0 ? nil : item.modified)
    }
    let stored = try keychain.summary(of: id)
    require(stored.attributes == item.attributes, "an item has the attributes that it was imported with")
    require(stored.accessControl == control, "an item has the access control that it was imported with")
    let same = try keychain.item(like: item.attributes)
    require(same?.id == id, "an item is found by what it is known by")
    let back = try keychain.secret(of: id, under: control)
    require(SecretBytes.constantTimeEqual(back, secret), "an item has the secret that it was imported with")
  }

  static var attributes: [UInt8] {
    var attributes = ItemAttributes(service: "s", account: "a", accessGroup: "g")
    attributes.label = "l"
    attributes.generic = [0]
    attributes.creator = 1
    attributes.invisible = true
    return ItemBody(attributes: attributes, created: 1, modified: 2).bytes
  }

  static var accessControl: [UInt8] {
    let control = try? AccessControl(
      protection: .whenUnlocked, constraints: [.biometryCurrentSet, .devicePasscode], combination: .and)
    return control?.canonicalBytes ?? []
  }

  static func seeds(_ mode: UInt8) -> [[UInt8]] {
    [[], accessControl].map { control in
      var seed = FuzzOutput([mode])
      seed.write(field: control)
      seed.write(all: attributes)
      return seed.bytes
    }
  }
}
