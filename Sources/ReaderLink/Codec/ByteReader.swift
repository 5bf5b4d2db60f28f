/// Takes one message apart. Any bytes give a value or a `LinkError`.
struct ByteReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8], limit: Int) throws(LinkError) {
    guard bytes.count <= limit else { throw .tooLarge("a message") }
    self.bytes = bytes
  }

  mutating func take<T: FixedWidthInteger>(_ type: T.Type = T.self) throws(LinkError) -> T {
    let size = T.bitWidth / 8
    guard bytes.count - position >= size else { throw .truncated }
    var value: T = 0
    for index in 0..<size { value |= T(truncatingIfNeeded: bytes[position + index]) << (8 * index) }
    position += size
    return value
  }

  mutating func takeBool(_ what: String) throws(LinkError) -> Bool {
    switch try take(UInt8.self) {
    case 0: return false
    case 1: return true
    default: throw .invalid(what)
    }
  }

  mutating func takeRaw(_ count: Int) throws(LinkError) -> [UInt8] {
    guard count >= 0, bytes.count - position >= count else { throw .truncated }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func takeText() throws(LinkError) -> String {
    let count = Int(try take(UInt16.self))
    guard count <= LinkLimits.textBytes else { throw .tooLarge("a text") }
    guard let text = String(validating: try takeRaw(count), as: UTF8.self) else { throw .invalid("a text") }
    return text
  }

  mutating func takePrint() throws(LinkError) -> [UInt8] {
    let count = Int(try take(UInt32.self))
    guard count <= LinkLimits.printBytes else { throw .tooLarge("a print") }
    return try takeRaw(count)
  }

  mutating func takePrints() throws(LinkError) -> [[UInt8]] {
    let count = Int(try take(UInt16.self))
    guard count <= LinkLimits.prints else { throw .tooLarge("a list of prints") }
    var prints: [[UInt8]] = []
    for _ in 0..<count { prints.append(try takePrint()) }
    return prints
  }

  func end() throws(LinkError) {
    guard position == bytes.count else { throw .trailingBytes }
  }
}
