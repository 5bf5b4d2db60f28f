/// Builds one frame: its length as four little-endian bytes, then the message.
struct ByteWriter {
  private var bytes: [UInt8] = [0, 0, 0, 0]

  init(kind: UInt8) { bytes.append(kind) }

  mutating func put(_ value: UInt8) { bytes.append(value) }

  mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func put<T: FixedWidthInteger>(_ value: T) {
    for shift in stride(from: 0, to: T.bitWidth, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func put(_ text: String) throws(LinkError) {
    guard text.utf8.count <= LinkLimits.textBytes else { throw .tooLarge("a text") }
    put(UInt16(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func put(print: [UInt8]) throws(LinkError) {
    guard print.count <= LinkLimits.printBytes else { throw .tooLarge("a print") }
    put(UInt32(print.count))
    bytes.append(contentsOf: print)
  }

  mutating func put(prints: [[UInt8]]) throws(LinkError) {
    guard prints.count <= LinkLimits.prints else { throw .tooLarge("a list of prints") }
    put(UInt16(prints.count))
    for print in prints { try put(print: print) }
  }

  /// Bytes whose number the values before them tell.
  mutating func put(raw: [UInt8]) { bytes.append(contentsOf: raw) }

  consuming func frame(limit: Int) throws(LinkError) -> [UInt8] {
    let length = bytes.count - 4
    guard length <= limit else { throw .tooLarge("a message") }
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    return bytes
  }
}
