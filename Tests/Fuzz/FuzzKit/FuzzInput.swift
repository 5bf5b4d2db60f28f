/// The bytes of one run, taken from the front as numbers and fields. Past the end there are zeros and empty fields, so
/// that every input means something and a shorter one means nearly the same.
public struct FuzzInput {
  private var rest: ArraySlice<UInt8>

  /// An input of those bytes.
  public init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Whether all was taken.
  public var isEmpty: Bool { rest.isEmpty }

  /// The next byte.
  public mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A number below `limit`, from one byte.
  public mutating func choice(_ limit: Int) -> Int { Int(byte()) % max(limit, 1) }

  /// Yes or no, from one byte.
  public mutating func flag() -> Bool { byte() & 1 == 1 }

  /// A number, the least significant byte first.
  public mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number {
    var result: Number = 0
    for place in 0..<MemoryLayout<Number>.size { result |= Number(truncatingIfNeeded: byte()) << (8 * place) }
    return result
  }

  /// So many bytes, fewer at the end.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Bytes behind their number in two bytes.
  public mutating func field() -> [UInt8] { bytes(Int(number(UInt16.self))) }

  /// A text behind its number of bytes in one byte; what is no UTF-8 is replaced.
  public mutating func text() -> String {
    let count = choice(256)
    return String(decoding: bytes(count), as: UTF8.self)
  }

  /// All that is left.
  public mutating func all() -> [UInt8] { bytes(rest.count) }
}

/// Makes the inputs that `FuzzInput` takes apart again.
public struct FuzzOutput {
  /// The input so far.
  public private(set) var bytes: [UInt8] = []

  /// An input that begins with those bytes.
  public init(_ start: [UInt8] = []) { bytes = start }

  /// As `FuzzInput.number`.
  public mutating func write(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// As `FuzzInput.field`.
  public mutating func write(field: [UInt8]) {
    write(UInt16(field.count))
    bytes += field
  }

  /// As `FuzzInput.text`.
  public mutating func write(text: String) {
    write(UInt8(text.utf8.count))
    bytes += text.utf8
  }

  /// As `FuzzInput.all`.
  public mutating func write(all rest: [UInt8]) { bytes += rest }
}
