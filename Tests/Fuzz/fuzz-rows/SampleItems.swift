import Keychain

@testable import Keychain

/// Items of each class with each of its attributes, and access controls of each kind.
enum SampleItems {
  static var bodies: [ItemBody] {
    ItemClass.allCases.flatMap { itemClass in
      var attributes = ItemAttributes(itemClass: itemClass)
      let plain = ItemBody(attributes: attributes, created: 1, modified: 2)
      for attribute in ItemAttribute.allCases where itemClass.has(attribute) {
        attributes.values[attribute] =
          switch attribute.kind {
          case .text: .text("ä")
          case .number: .number(80)
          case .bytes: .bytes([0])
          case .flag: .flag(true)
          }
      }
      if itemClass == .key {
        attributes.keyRole = .private
        attributes.keyType = .ecP256
      }
      return [
        plain, ItemBody(attributes: attributes, created: 1, modified: 2),
        ItemBody(attributes: attributes, created: 1, modified: 2, invalidated: 3, biometrySet: [1, 2]),
      ]
    }
  }

  static var accessControls: [AccessControl] {
    let lists: [[String]] = [
      [], ["user-presence"], ["biometry-current-set"], ["application-password"],
      ["biometry-current-set", "device-passcode", "or"],
      ["biometry-any", "device-passcode", "private-key-usage", "and"],
    ]
    return lists.flatMap { names in
      [ProtectionClass.always, .whenPasscodeSetThisDeviceOnly].compactMap {
        try? AccessControl(protection: $0, names: names)
      }
    }
  }
}
