internal import Bus
internal import ReaderLink

/// The a{sv} of a call, read key by key. What is left at the end, or has another type, is refused by name.
struct StrictOptions {
  private var values: [String: BusValue]
  private let what: String

  /// - Parameter what: what the dictionary is, for errors: "option", "attribute", "query".
  init(_ value: BusValue, what: String) throws(BusMethodError) {
    guard let values = value.asOptions else {
      throw .whorl("Param", "The \(what)s have a key twice; give each once.")
    }
    self.values = values
    self.what = what
  }

  mutating func text(_ key: String) throws(BusMethodError) -> String? { try take(key, "a string", \.asString) }
  mutating func number(_ key: String) throws(BusMethodError) -> UInt32? {
    try take(key, "an unsigned 32-bit number", \.asUInt32)
  }
  mutating func bigNumber(_ key: String) throws(BusMethodError) -> UInt64? {
    try take(key, "an unsigned 64-bit number", \.asUInt64)
  }
  mutating func flag(_ key: String) throws(BusMethodError) -> Bool? { try take(key, "a boolean", \.asBool) }
  mutating func bytes(_ key: String) throws(BusMethodError) -> [UInt8]? {
    try take(key, "an array of bytes", \.asBytes)
  }
  mutating func texts(_ key: String) throws(BusMethodError) -> [String]? {
    try take(key, "an array of strings", \.asStrings)
  }

  mutating func path(_ key: String) throws(BusMethodError) -> String? {
    try take(key, "an object path", \.asObjectPath)
  }

  /// Refuses what nobody has read.
  func finish() throws(BusMethodError) {
    if let key = values.keys.sorted().first {
      throw .whorl("Param", "This version of Whorl does not know the \(what) \(key.quoted).")
    }
  }

  private mutating func take<T>(
    _ key: String, _ type: String, _ read: (BusValue) -> T?
  ) throws(BusMethodError) -> T? {
    guard let value = values.removeValue(forKey: key) else { return nil }
    guard let result = read(value) else { throw .whorl("Param", "The \(what) \"\(key)\" must be \(type).") }
    return result
  }
}

extension BusMethodError {
  /// `org.whorl.Error.NAME` with one line for people.
  static func whorl(_ name: String, _ message: String) -> BusMethodError {
    BusMethodError(name: "org.whorl.Error." + name, message: message)
  }
}

extension String {
  /// What a caller wrote, for a one-line message: at most 64 characters, printable ones, in quotes.
  var quoted: String {
    // Scalars: a "character" of Swift's can be any number of them.
    var shown = ""
    shown.unicodeScalars.append(contentsOf: printable.unicodeScalars.prefix(64))
    return "\"\(shown)\""
  }
}
