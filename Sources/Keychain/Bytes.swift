/// Builds the byte forms that are stored, hashed and bound to ciphertexts: little-endian numbers, and bytes behind
/// their length, so that two different contents never give the same form.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(_ field: some Collection<UInt8>) {
    write(UInt32(field.count))
    bytes.append(contentsOf: field)
  }
}

/// Reads what `ByteWriter` wrote; nil where the bytes end early.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
    let size = MemoryLayout<Number>.size
    guard bytes.count - offset >= size else { return nil }
    defer { offset += size }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  mutating func field() -> [UInt8]? {
    guard let count = number(UInt32.self), bytes.count - offset >= Int(count) else { return nil }
    defer { offset += Int(count) }
    return Array(bytes[offset..<offset + Int(count)])
  }
}
