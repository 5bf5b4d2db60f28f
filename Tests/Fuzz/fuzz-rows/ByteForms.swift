import Keychain

@testable import FuzzKit
@testable import Keychain

/// The byte forms by themselves: what is read is written as the same bytes.
struct ByteForms {
  func body(_ bytes: [UInt8]) {
    guard let body = bytes.withUnsafeBytes({ ItemBody($0) }) else { return }
    require(body.bytes == Self.canonical(bytes), "an item's body is written as it was read")
    require(body.bytes.withUnsafeBytes { ItemBody($0) } != nil, "an item's body can be read again")
    for (attribute, value) in body.attributes.values {
      require(body.attributes.itemClass.has(attribute), "an item has attributes of its class alone")
      require(AttributeValue(attribute.kind, encoded: value.encoded) == value, "a value is read as it was written")
    }
    do throws(KeychainError) { try body.attributes.validate() } catch { requireLine(error.description) }
  }

  /// Format 1 wrote empty texts where there is nothing now.
  private static func canonical(_ bytes: [UInt8]) -> [UInt8] {
    var result = Array(bytes.prefix(25))
    var rest = bytes.dropFirst(25)
    while rest.count >= 5 {
      let count = 5 + rest.dropFirst().prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      let isDropped = count == 5 && rest.first.map { (1...3).contains($0) } == true
      if !isDropped { result += rest.prefix(count) }
      rest = rest.dropFirst(count)
    }
    return result + rest
  }

  func accessControl(_ bytes: [UInt8]) {
    do throws(KeychainError) {
      guard let control = try AccessControl(canonicalBytes: bytes) else { return }
      require(control.canonicalBytes == bytes, "an access control is written as it was read")
      let again = try AccessControl(protection: control.protection, names: control.names)
      require(again == control, "an access control is what its names say")
      require(!(control.isBoundToBiometrySet && control.prefersBiometrySet), "a set binds or is preferred")
    } catch {
      require(error.isUnsupported, "an access control is read, refused or of a later version: \(error)")
      requireLine(error.description)
    }
  }

  func value(_ input: inout FuzzInput) {
    let attribute = ItemAttribute.allCases[input.choice(ItemAttribute.allCases.count)]
    let bytes = input.all()
    guard let value = AttributeValue(attribute.kind, encoded: bytes) else { return }
    require(value.encoded == bytes, "a value is written as it was read")
    do throws(KeychainError) { try value.validate(as: attribute) } catch { requireLine(error.description) }
  }

  static func seeds(_ body: UInt8, _ accessControl: UInt8, _ value: UInt8) -> [[UInt8]] {
    SampleItems.bodies.map { [body] + $0.bytes }
      + SampleItems.accessControls.map { [accessControl] + $0.canonicalBytes }
      + [[value, 0] + Array("text".utf8), [value, 6, 1, 2, 3, 4], [value, 8, 1, 2], [value, 9, 1]]
  }
}

extension KeychainError {
  /// Whether a later version may have written what was read.
  var isUnsupported: Bool { if case .unsupported = self { true } else { false } }
  /// Whether what was read is not what was stored.
  var isTampered: Bool { if case .tampered = self { true } else { false } }
}
