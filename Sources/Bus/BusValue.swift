/// One value as D-Bus knows it: plain, Sendable, with its type inside.
public enum BusValue: Sendable, Hashable {
  /// y
  case byte(UInt8)
  /// b
  case boolean(Bool)
  /// n
  case int16(Int16)
  /// q
  case uint16(UInt16)
  /// i
  case int32(Int32)
  /// u
  case uint32(UInt32)
  /// x
  case int64(Int64)
  /// t
  case uint64(UInt64)
  /// d
  case double(Double)
  /// s; a NUL in it is refused when it is sent.
  case string(String)
  /// o; refused when it is sent unless it is a valid object path.
  case objectPath(String)
  /// g
  case signature(String)
  /// h: an index into the descriptors that travel with the message. It may lie outside them: look it up with
  /// ``BusCall/descriptor(_:)`` or ``BusReply/descriptor(_:)``, which say so with an error.
  case handle(Int32)
  /// ay. Arrays of bytes always arrive as this.
  case bytes([UInt8])
  /// a, with the signature of one element, which an empty array needs too.
  case array(element: String, [BusValue])
  /// a{..}, with the signatures of keys and values. Entries keep their order; a sender may repeat keys.
  case dictionary(key: String, value: String, [BusEntry])
  /// (..) with at least one member.
  case structure([BusValue])
  /// v
  indirect case variant(BusValue)

  /// The D-Bus signature of the value: one complete type, as long as the signatures given to arrays and
  /// dictionaries are.
  public var signature: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .handle: "h"
    case .bytes: "ay"
    case .array(let element, _): "a" + element
    case .dictionary(let key, let value, _): "a{" + key + value + "}"
    case .structure(let members): "(" + members.map(\.signature).joined() + ")"
    case .variant: "v"
    }
  }
}

/// One entry of a dictionary.
public struct BusEntry: Sendable, Hashable {
  /// A value of a basic type.
  public let key: BusValue
  /// Any value.
  public let value: BusValue

  /// An entry of these.
  public init(key: BusValue, value: BusValue) {
    self.key = key
    self.value = value
  }
}

extension BusValue {
  /// An a{sv} of these, sorted by key.
  public static func options(_ values: [String: BusValue]) -> BusValue {
    .dictionary(
      key: "s", value: "v",
      values.sorted { $0.key < $1.key }.map { BusEntry(key: .string($0.key), value: .variant($0.value)) })
  }

  /// An as of these.
  public static func strings(_ values: [String]) -> BusValue { .array(element: "s", values.map { .string($0) }) }

  /// The value inside, where this is a variant (or a variant in a variant, and so on); else the value itself.
  public var unwrapped: BusValue {
    var value = self
    while case .variant(let inner) = value { value = inner }
    return value
  }

  /// The text of an s.
  public var asString: String? { if case .string(let value) = self { value } else { nil } }
  /// The text of an o.
  public var asObjectPath: String? { if case .objectPath(let value) = self { value } else { nil } }
  /// The value of a b.
  public var asBool: Bool? { if case .boolean(let value) = self { value } else { nil } }
  /// The value of a u.
  public var asUInt32: UInt32? { if case .uint32(let value) = self { value } else { nil } }
  /// The value of an i.
  public var asInt32: Int32? { if case .int32(let value) = self { value } else { nil } }
  /// The value of a t.
  public var asUInt64: UInt64? { if case .uint64(let value) = self { value } else { nil } }
  /// The value of an x.
  public var asInt64: Int64? { if case .int64(let value) = self { value } else { nil } }
  /// The content of an ay.
  public var asBytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  /// The elements of an array other than ay and dictionaries.
  public var asArray: [BusValue]? { if case .array(_, let values) = self { values } else { nil } }
  /// The members of a structure.
  public var asStructure: [BusValue]? { if case .structure(let values) = self { values } else { nil } }

  /// The elements of an as.
  public var asStrings: [String]? {
    guard case .array("s", let values) = self else { return nil }
    return values.compactMap(\.asString)
  }

  /// The content of an a{sv} with the variants taken off; nil for other types and where a key comes twice.
  public var asOptions: [String: BusValue]? {
    guard case .dictionary("s", "v", let entries) = self else { return nil }
    var result: [String: BusValue] = [:]
    for entry in entries {
      guard let key = entry.key.asString, case .variant(let value) = entry.value else { return nil }
      guard result.updateValue(value, forKey: key) == nil else { return nil }
    }
    return result
  }
}
