internal import CGLib

/// One strong reference to a GVariant, and the conversions between it and BusValue.
///
/// Not Sendable, though GVariants are immutable: nobody needs to pass one on.
struct Variant: ~Copyable {
  let pointer: OpaquePointer

  /// Sinks a floating reference, or adds one.
  init(sinking pointer: OpaquePointer) { self.pointer = g_variant_ref_sink(pointer) }

  /// Takes over a reference that is ours already (transfer full).
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { g_variant_unref(pointer) }
}

/// What one message may hold. The bus has limits of its own; these bound what a value costs in here.
struct MessageLimits {
  /// Values, containers among them, an array of bytes counting as one.
  let values: Int
  /// Bytes of all values in GVariant's form.
  let bytes: Int

  /// Calls and signals, which anybody may send.
  static let unasked = MessageLimits(values: 65_536, bytes: 4 << 20)
  /// What we asked for: as much as our own programs may answer.
  static let reply = MessageLimits(values: 1_000_000, bytes: outgoingBytes)
  /// Bytes of what we send. The bus ends the connection of who sends more than its own limit, usually 32 MiB.
  static let outgoingBytes = 8 << 20
  /// Containers within containers.
  static let depth = 32
  /// Bytes of the object path of a call or a signal.
  static let path = 4096
}

// MARK: - From BusValue

extension Variant {
  /// The tuple that a message's arguments form.
  static func tuple(_ values: [BusValue]) throws(BusError) -> Variant {
    try container(of: values, depth: 0) { g_variant_new_tuple($0, $1) }
  }

  /// The same, for a message that we send.
  /// - Throws: `.invalid`, also where it is more than a message of ours may hold.
  static func outgoing(_ values: [BusValue]) throws(BusError) -> Variant {
    let body = try tuple(values)
    guard body.fitsMessage else { throw .invalid("a message larger than \(MessageLimits.outgoingBytes >> 20) MiB") }
    return body
  }

  /// Whether a message of ours may hold this.
  var fitsMessage: Bool { g_variant_get_size(pointer) <= UInt(MessageLimits.outgoingBytes) }

  /// One value.
  init(_ value: BusValue, depth: Int = 1) throws(BusError) {
    guard depth <= MessageLimits.depth else {
      throw .invalid("a value nested deeper than \(MessageLimits.depth) containers")
    }
    switch value {
    case .byte(let value): self.init(sinking: g_variant_new_byte(value))
    case .boolean(let value): self.init(sinking: g_variant_new_boolean(value ? 1 : 0))
    case .int16(let value): self.init(sinking: g_variant_new_int16(value))
    case .uint16(let value): self.init(sinking: g_variant_new_uint16(value))
    case .int32(let value): self.init(sinking: g_variant_new_int32(value))
    case .uint32(let value): self.init(sinking: g_variant_new_uint32(value))
    case .int64(let value): self.init(sinking: g_variant_new_int64(gint64(value)))
    case .uint64(let value): self.init(sinking: g_variant_new_uint64(guint64(value)))
    case .double(let value): self.init(sinking: g_variant_new_double(value))
    case .handle(let value): self.init(sinking: g_variant_new_handle(value))
    case .string(let text):
      guard !text.utf8.contains(0) else { throw .invalid("a string with a NUL character") }
      self.init(sinking: g_variant_new_string(text))
    case .objectPath(let path):
      try checkObjectPath(path)
      self.init(sinking: g_variant_new_object_path(path))
    case .signature(let signature):
      guard isSignature(signature) else { throw .invalid("the signature \"\(signature)\"") }
      self.init(sinking: g_variant_new_signature(signature))
    case .bytes(let bytes):
      let type = try VariantType("y")
      self.init(
        sinking: bytes.withUnsafeBytes { g_variant_new_fixed_array(type.pointer, $0.baseAddress, UInt($0.count), 1) })
    case .array(let element, let values):
      guard !element.hasPrefix("{") else { throw .invalid("an array of \(element), which is a dictionary") }
      let type = try VariantType(element)
      for value in values where value.signature != element {
        throw .invalid("a \(value.signature) in an array of \(element)")
      }
      self = try Self.container(of: values, depth: depth) { g_variant_new_array(type.pointer, $0, $1) }
    case .dictionary(let key, let value, let entries):
      self = try Self.dictionary(key: key, value: value, entries, depth: depth)
    case .structure(let members):
      guard !members.isEmpty else { throw .invalid("a structure without members") }
      self = try Self.container(of: members, depth: depth) { g_variant_new_tuple($0, $1) }
    case .variant(let inner):
      let inner = try Variant(inner, depth: depth + 1)
      self.init(sinking: g_variant_new_variant(inner.pointer))
    }
  }

  private static func dictionary(
    key: String, value: String, _ entries: [BusEntry], depth: Int
  ) throws(BusError) -> Variant {
    guard key.utf8.count == 1, "ybnqiuxthdsog".contains(key) else { throw .invalid("dictionary keys of type \(key)") }
    guard !value.hasPrefix("{") else { throw .invalid("dictionary values of type \(value)") }
    _ = try VariantType(value)
    let type = try VariantType("{" + key + value + "}")
    return try children(entries.count) { (index) throws(BusError) in
      let entry = entries[index]
      guard entry.key.signature == key, entry.value.signature == value else {
        throw .invalid("a {\(entry.key.signature)\(entry.value.signature)} in an a{\(key)\(value)}")
      }
      let entryKey = try Variant(entry.key, depth: depth + 1)
      let entryValue = try Variant(entry.value, depth: depth + 1)
      return Variant(sinking: g_variant_new_dict_entry(entryKey.pointer, entryValue.pointer))
    } make: {
      g_variant_new_array(type.pointer, $0, $1)
    }
  }

  private static func container(
    of values: [BusValue], depth: Int, make: (UnsafePointer<OpaquePointer?>?, UInt) -> OpaquePointer
  ) throws(BusError) -> Variant {
    try children(
      values.count, child: { (index) throws(BusError) in try Variant(values[index], depth: depth + 1) }, make: make)
  }

  /// Makes the children, then of them the container, which takes references of its own.
  private static func children(
    _ count: Int, child: (Int) throws(BusError) -> Variant,
    make: (UnsafePointer<OpaquePointer?>?, UInt) -> OpaquePointer
  ) throws(BusError) -> Variant {
    var pointers: [OpaquePointer?] = []
    pointers.reserveCapacity(count)
    defer { for pointer in pointers { if let pointer { g_variant_unref(pointer) } } }
    for index in 0..<count {
      let variant = try child(index)
      pointers.append(g_variant_ref(variant.pointer))
    }
    let container = pointers.withUnsafeBufferPointer { make($0.baseAddress, UInt($0.count)) }
    return Variant(sinking: container)
  }
}

// MARK: - To BusValue

extension Variant {
  /// The members of a message's body, which is a tuple; none where there is no body. What is beyond the limits is
  /// refused before anything is converted.
  static func arguments(_ body: OpaquePointer?, _ limits: MessageLimits) throws(BusError) -> [BusValue] {
    guard let body else { return [] }
    guard g_variant_get_size(body) <= UInt(limits.bytes) else {
      throw .badMessage("larger than \(limits.bytes >> 20) MiB")
    }
    var budget = VariantBudget(limits)
    try budget.spend(onMembersOf: body, depth: 0)
    return try VariantReader().members(body)
  }
}

/// Counts the values of a message and how deep they are, without converting any.
private struct VariantBudget {
  private let limits: MessageLimits
  private var left: Int

  init(_ limits: MessageLimits) {
    self.limits = limits
    left = limits.values
  }

  mutating func spend(onMembersOf container: OpaquePointer, depth: Int) throws(BusError) {
    // What is left bounds the loop, too.
    for index in 0..<min(g_variant_n_children(container), UInt(left) + 1) {
      let child = Variant(owning: g_variant_get_child_value(container, index))
      try spend(on: child.pointer, depth: depth + 1)
    }
  }

  private mutating func spend(on variant: OpaquePointer, depth: Int) throws(BusError) {
    guard depth <= MessageLimits.depth else {
      throw .badMessage("nested deeper than \(MessageLimits.depth) containers")
    }
    try spend(1)
    let type = g_variant_get_type_string(variant)
    switch type?[0] {
    case CChar(bitPattern: UInt8(ascii: "v")):
      let inner = Variant(owning: g_variant_get_variant(variant))
      try spend(on: inner.pointer, depth: depth + 1)
    case CChar(bitPattern: UInt8(ascii: "(")):
      try spend(onMembersOf: variant, depth: depth)
    case CChar(bitPattern: UInt8(ascii: "a")):
      if type?[1] == CChar(bitPattern: UInt8(ascii: "y")) { return }
      let count = g_variant_n_children(variant)
      // Each child costs one or more; so none is looked at where they are too many anyway.
      guard count <= UInt(left) else { throw tooMany }
      guard type?[1] == CChar(bitPattern: UInt8(ascii: "{")) else {
        return try spend(onMembersOf: variant, depth: depth)
      }
      for index in 0..<count {
        let entry = Variant(owning: g_variant_get_child_value(variant, index))
        try spend(onMembersOf: entry.pointer, depth: depth)
      }
    default: break
    }
  }

  private mutating func spend(_ count: Int) throws(BusError) {
    guard left >= count else { throw tooMany }
    left -= count
  }

  private var tooMany: BusError { .badMessage("more than \(limits.values) values") }
}

/// Converts what is within the limits.
private struct VariantReader {
  func members(_ container: OpaquePointer) throws(BusError) -> [BusValue] {
    let count = g_variant_n_children(container)
    var values: [BusValue] = []
    values.reserveCapacity(Int(count))
    for index in 0..<count {
      let child = Variant(owning: g_variant_get_child_value(container, index))
      values.append(try value(child.pointer))
    }
    return values
  }

  private func value(_ variant: OpaquePointer) throws(BusError) -> BusValue {
    let signature = String(cString: g_variant_get_type_string(variant))
    switch signature.utf8.first {
    case UInt8(ascii: "y"): return .byte(g_variant_get_byte(variant))
    case UInt8(ascii: "b"): return .boolean(g_variant_get_boolean(variant) != 0)
    case UInt8(ascii: "n"): return .int16(g_variant_get_int16(variant))
    case UInt8(ascii: "q"): return .uint16(g_variant_get_uint16(variant))
    case UInt8(ascii: "i"): return .int32(g_variant_get_int32(variant))
    case UInt8(ascii: "u"): return .uint32(g_variant_get_uint32(variant))
    case UInt8(ascii: "x"): return .int64(Int64(g_variant_get_int64(variant)))
    case UInt8(ascii: "t"): return .uint64(UInt64(g_variant_get_uint64(variant)))
    case UInt8(ascii: "d"): return .double(g_variant_get_double(variant))
    case UInt8(ascii: "h"): return .handle(g_variant_get_handle(variant))
    case UInt8(ascii: "s"): return .string(text(variant))
    case UInt8(ascii: "o"): return .objectPath(text(variant))
    case UInt8(ascii: "g"): return .signature(text(variant))
    case UInt8(ascii: "("): return .structure(try members(variant))
    case UInt8(ascii: "v"):
      let inner = Variant(owning: g_variant_get_variant(variant))
      return .variant(try value(inner.pointer))
    case UInt8(ascii: "a"): return try array(variant, element: String(signature.dropFirst()))
    default: throw .badMessage("a value of type \(signature)")
    }
  }

  private func array(_ variant: OpaquePointer, element: String) throws(BusError) -> BusValue {
    if element == "y" {
      var count: UInt = 0
      guard let bytes = g_variant_get_fixed_array(variant, &count, 1) else { return .bytes([]) }
      return .bytes([UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count))))
    }
    guard element.hasPrefix("{") else { return .array(element: element, try members(variant)) }
    let types = element.dropFirst().dropLast()  // {kv}: the key is one letter
    let count = g_variant_n_children(variant)
    var entries: [BusEntry] = []
    for index in 0..<count {
      let entry = Variant(owning: g_variant_get_child_value(variant, index))
      let both = try members(entry.pointer)
      entries.append(BusEntry(key: both[0], value: both[1]))  // a dictionary entry has exactly two children
    }
    return .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), entries)
  }

  /// Repairs what is not UTF-8, though GVariant has checked that before.
  private func text(_ variant: OpaquePointer) -> String { String(cString: g_variant_get_string(variant, nil)) }
}

// MARK: - Types

/// A GVariantType of one complete type that D-Bus knows.
struct VariantType: ~Copyable {
  let pointer: OpaquePointer

  init(_ signature: String) throws(BusError) {
    guard isSignature(signature), g_variant_type_string_is_valid(signature) != 0 else {
      // A dictionary entry alone is no D-Bus signature, but is what dictionaries are made with.
      guard signature.hasPrefix("{"), isSignature("a" + signature), g_variant_type_string_is_valid(signature) != 0
      else { throw .invalid("\"\(signature)\" is not one complete type") }
      pointer = g_variant_type_new(signature)
      return
    }
    pointer = g_variant_type_new(signature)
  }

  deinit { g_variant_type_free(pointer) }
}

/// Whether this is a D-Bus signature: complete types one after another. NULs would end it early in C.
func isSignature(_ text: String) -> Bool {
  !text.utf8.contains(0) && text.utf8.count <= 255 && g_variant_is_signature(text) != 0
}

func checkObjectPath(_ path: String) throws(BusError) {
  guard !path.utf8.contains(0), g_variant_is_object_path(path) != 0 else {
    throw .invalid("\"\(path)\" is not an object path")
  }
}

func checkInterface(_ name: String) throws(BusError) {
  guard !name.utf8.contains(0), g_dbus_is_interface_name(name) != 0 else {
    throw .invalid("\"\(name)\" is not an interface name")
  }
}

func checkMember(_ name: String) throws(BusError) {
  guard !name.utf8.contains(0), g_dbus_is_member_name(name) != 0 else {
    throw .invalid("\"\(name)\" is not the name of a method, signal or property")
  }
}

func checkBusName(_ name: String) throws(BusError) {
  guard !name.utf8.contains(0), g_dbus_is_name(name) != 0 else { throw .invalid("\"\(name)\" is not a bus name") }
}
