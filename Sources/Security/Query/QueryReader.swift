internal import WhorlClient

/// A dictionary of a call, read key by key. What is left at the end, or has a value of another type, is refused by name.
struct QueryReader {
  private var values: [String: Any] = [:]
  /// The function, for messages.
  let call: String

  /// - Parameter call: the function, such as "SecItemAdd".
  /// - Throws: for a key that is no string.
  init(_ dictionary: NSDictionary, call: String) throws(ItemRequestError) {
    self.call = call
    for (key, value) in dictionary {
      guard let key = key as? String else {
        throw ItemRequestError(errSecParam, "\(call): a key is no string")
      }
      values[key] = value
    }
  }

  /// Whether nothing is left.
  var isEmpty: Bool { values.isEmpty }

  func has(_ key: String) -> Bool { values[key] != nil }

  /// The value as it is.
  mutating func any(_ key: String) -> Any? { values.removeValue(forKey: key) }

  /// A string, or its bytes in UTF-8, as wrappers give them.
  mutating func text(_ key: String) throws(ItemRequestError) -> String? {
    let text: String? = try take(key, "a string") { value in
      value as? String ?? (value as? Data).flatMap { String(validating: $0, as: UTF8.self) }
    }
    if let text, text.utf8.contains(0) { throw refusal(key, "must not hold a NUL character") }
    return text
  }

  /// Bytes, or a string, whose bytes in UTF-8 are meant.
  mutating func bytes(_ key: String) throws(ItemRequestError) -> [UInt8]? {
    try take(key, "data") { value in
      (value as? Data).map { Array($0) } ?? (value as? String).map { Array($0.utf8) }
    }
  }

  /// Bytes and nothing else.
  mutating func data(_ key: String) throws(ItemRequestError) -> Data? { try take(key, "data") { $0 as? Data } }

  /// Yes or no, also as the numbers 1 and 0.
  mutating func flag(_ key: String) throws(ItemRequestError) -> Bool? {
    try take(key, "true or false") { $0 as? Bool }
  }

  mutating func number(
    _ key: String, in range: ClosedRange<UInt32> = 0...UInt32.max
  ) throws(ItemRequestError) -> UInt32? {
    try take(key, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
      // Foundation keeps them apart, and true is no port.
      guard type(of: value) != Bool.self, let number = value as? UInt32, range.contains(number) else { return nil }
      return number
    }
  }

  /// A date, in whole seconds since 1970, as the enclave keeps them.
  mutating func seconds(_ key: String) throws(ItemRequestError) -> Int64? {
    try take(key, "a date") { value in
      (value as? Date).flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) }
    }
  }

  /// A four-character code, such as "htps", or its number.
  mutating func code(_ key: String) throws(ItemRequestError) -> UInt32? {
    try take(key, "a four-character code") { value in
      if let text = value as? String { return FourCharacterCode.number(of: text) }
      return type(of: value) == Bool.self ? nil : value as? UInt32
    }
  }

  /// One of some strings, as what it stands for.
  mutating func choice<T>(
    _ key: String, _ what: String, _ choices: [String: T]
  ) throws(ItemRequestError) -> T? {
    try take(key, what) { value in (value as? String).flatMap { choices[$0] } }
  }

  /// An object of a type.
  mutating func object<T>(
    _ key: String, _ what: String, as type: T.Type = T.self
  ) throws(ItemRequestError) -> T? {
    try take(key, what) { $0 as? T }
  }

  mutating func dictionary(_ key: String) throws(ItemRequestError) -> NSDictionary? {
    try take(key, "a dictionary") { $0 as? NSDictionary ?? ($0 as? [String: Any]).map { $0 as NSDictionary } }
  }

  /// Refuses what nobody has read.
  /// - Parameter subject: what the keys have no meaning for, such as "a generic password".
  func finish(_ subject: String) throws(ItemRequestError) {
    guard let key = values.keys.sorted().first else { return }
    guard ItemRequestError.constant(of: key) != nil else {
      throw ItemRequestError(errSecParam, "\(call): the key \(Self.shown(key)) is not known")
    }
    throw refusal(key, "has no meaning for \(subject)")
  }

  /// Refuses keys that Security does not define, and no others.
  func finishAllowingConstants() throws(ItemRequestError) {
    for key in values.keys.sorted() where ItemRequestError.constant(of: key) == nil {
      throw ItemRequestError(errSecParam, "\(call): the key \(Self.shown(key)) is not known")
    }
  }

  /// A refusal that names the key.
  func refusal(_ key: String, _ why: String, status: OSStatus = errSecParam) -> ItemRequestError {
    ItemRequestError(status, "\(call): \(Self.shown(key)) \(why)")
  }

  /// The name of a key's constant; in quotes, printable and not endless, what is none.
  static func shown(_ key: String) -> String {
    if let constant = ItemRequestError.constant(of: key) { return constant }
    var text = ""
    for scalar in key.unicodeScalars.prefix(64) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: text.append("?")
      default: text.unicodeScalars.append(scalar)
      }
    }
    return "\"\(text)\""
  }

  private mutating func take<T>(
    _ key: String, _ type: String, _ read: (Any) -> T?
  ) throws(ItemRequestError) -> T? {
    guard let value = values.removeValue(forKey: key) else { return nil }
    guard let result = read(value) else { throw refusal(key, "must be \(type)") }
    return result
  }
}

/// Four characters of ASCII that stand for a number, the first of them in its highest byte.
enum FourCharacterCode {
  /// The number; nil where the text is no such code.
  static func number(of text: String) -> UInt32? {
    guard text.utf8.count == 4, text.utf8.allSatisfy({ (32...126).contains($0) }) else { return nil }
    return text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The text; nil where the number stands for none.
  static func text(of number: UInt32) -> String? {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    guard bytes.allSatisfy({ (32...126).contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
