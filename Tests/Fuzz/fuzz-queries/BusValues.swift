import Bus

@testable import FuzzKit
@testable import Keychain

extension BusValue {
  /// What a call's dictionaries know: the fuzzer need not find the words.
  static let words: [String] =
    ["class", "persistent-reference", "protection", "constraints", "timeout", "max-tries", "no-wait", "operation"]
    + ["reason"] + ItemAttribute.allCases.map(\.name)

  private static let names: [String] =
    ItemClass.allCases.map(\.name) + ProtectionClass.allCases.map(\.name) + Constraint.allCases.map(\.rawValue)
    + ["and", "or", "watch", "certificate", "public", "private", "ec-p256", "ed25519", "rsa", ""]

  /// An a{sv} with known and unknown keys, most of them with values of the right type.
  static func options(_ input: inout FuzzInput) -> BusValue {
    var entries: [BusEntry] = []
    while !input.isEmpty, entries.count < 64 {
      let number = Int(input.byte())
      let key = number < words.count ? words[number] : input.text()
      let value = input.choice(8) == 7 ? anything(&input, depth: 0) : usual(key, &input)
      entries.append(BusEntry(key: .string(key), value: .variant(value)))
    }
    return .dictionary(key: "s", value: "v", entries)
  }

  /// A value of the type that the key has.
  private static func usual(_ key: String, _ input: inout FuzzInput) -> BusValue {
    switch key {
    case "constraints":
      return .strings((0..<input.choice(6)).map { _ in names[input.choice(names.count)] })
    case "class", "protection", "key-class", "key-type": return .string(names[input.choice(names.count)])
    case "persistent-reference": return .bytes(input.bytes(input.choice(64)))
    case "timeout", "max-tries": return .uint32(input.number(UInt32.self))
    case "no-wait": return .boolean(input.flag())
    case "operation": return .uint64(input.number(UInt64.self))
    default: break
    }
    // Some as long as no attribute may be.
    let repeats = 1 << input.choice(9)
    switch ItemAttribute.allCases.first(where: { $0.name == key })?.kind ?? .text {
    case .text: return .string(String(repeating: input.text(), count: repeats))
    case .number: return .uint32(input.number(UInt32.self))
    case .bytes: return .bytes(Array(repeatElement(input.bytes(input.choice(64)), count: repeats).joined()))
    case .flag: return .boolean(input.flag())
    }
  }

  /// Any value, also such as the bus would not carry.
  static func anything(_ input: inout FuzzInput, depth: Int) -> BusValue {
    // As deep as messages on the bus may be.
    guard depth < 32 else { return .byte(input.byte()) }
    func elements(_ input: inout FuzzInput) -> [BusValue] {
      (0..<input.choice(5)).map { _ in anything(&input, depth: depth + 1) }
    }
    switch input.choice(19) {
    case 0: return .byte(input.byte())
    case 1: return .boolean(input.flag())
    case 2: return .int16(input.number(Int16.self))
    case 3: return .uint16(input.number(UInt16.self))
    case 4: return .int32(input.number(Int32.self))
    case 5: return .uint32(input.number(UInt32.self))
    case 6: return .int64(input.number(Int64.self))
    case 7: return .uint64(input.number(UInt64.self))
    case 8: return .double(Double(bitPattern: input.number(UInt64.self)))
    case 9: return .string(input.text())
    case 10: return .objectPath(input.text())
    case 11: return .signature(input.text())
    case 12: return .handle(input.number(Int32.self))
    case 13: return .bytes(input.bytes(input.choice(64)))
    case 14: return .array(element: input.flag() ? "s" : input.text(), elements(&input))
    case 15:
      let isUsual = input.flag()
      let entries = elements(&input).map { key in
        BusEntry(key: key, value: anything(&input, depth: depth + 1))
      }
      return .dictionary(key: isUsual ? "s" : input.text(), value: isUsual ? "v" : input.text(), entries)
    case 16: return .structure(elements(&input))
    case 17: return .variant(anything(&input, depth: depth + 1))
    default: return options(&input)
    }
  }
}
