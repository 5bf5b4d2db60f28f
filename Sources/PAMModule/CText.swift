// Text as C has it. The module works on borrowed C strings and fixed texts, so that Swift's part of it never
// allocates: memory that runs out inside a login program ends in a return code, not in a trap.

import CSystemd

/// A text that belongs to the host program, to libpam or to a bus message; valid while its owner is.
typealias CText = UnsafePointer<CChar>

/// Whether `text` is exactly `expected`.
func equals(_ text: CText, _ expected: StaticString) -> Bool {
  strlen(text) == expected.utf8CodeUnitCount && hasPrefix(text, expected)
}

/// Whether `text` begins with `prefix`.
func hasPrefix(_ text: CText, _ prefix: StaticString) -> Bool {
  prefix.withUTF8Buffer { bytes in
    // strncmp stops at the end of `text`, so this never reads beyond it; an empty prefix has no base address.
    guard let base = bytes.baseAddress, !bytes.isEmpty else { return true }
    return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { strncmp(text, $0, bytes.count) == 0 }
  }
}

/// Whether D-Bus can carry `text` and a log can show it: UTF-8 of 1 to `limit` bytes without control characters.
func isPlainText(_ text: CText, limit: Int) -> Bool {
  let length = strnlen(text, limit + 1)
  guard length > 0, length <= limit else { return false }
  var index = 0
  while index < length {
    guard let size = scalarSize(at: text + index, available: length - index) else { return false }
    index += size
  }
  return true
}

/// How many bytes the one character at `text` has; nil where it is a control character or no UTF-8.
private func scalarSize(at text: CText, available: Int) -> Int? {
  let first = UInt8(bitPattern: text[0])
  let size: Int
  var scalar: UInt32
  // What a shorter form could have said is no UTF-8: the least scalar of each size.
  let least: UInt32
  switch first {
  case 0x20...0x7e: return 1
  case 0xc2...0xdf: (size, scalar, least) = (2, UInt32(first & 0x1f), 0x80)
  case 0xe0...0xef: (size, scalar, least) = (3, UInt32(first & 0x0f), 0x800)
  case 0xf0...0xf4: (size, scalar, least) = (4, UInt32(first & 0x07), 0x10000)
  default: return nil
  }
  guard available >= size else { return nil }
  for offset in 1..<size {
    let byte = UInt8(bitPattern: text[offset])
    guard byte & 0xc0 == 0x80 else { return nil }
    scalar = scalar << 6 | UInt32(byte & 0x3f)
  }
  let isControl = scalar < 0xa0
  let isSurrogate = (0xd800...0xdfff).contains(scalar)
  return scalar < least || isControl || isSurrogate || scalar > 0x10ffff ? nil : size
}

/// One line of text in memory of the caller's, always ended by a NUL; what does not fit is left out.
struct TextLine: ~Copyable {
  private let memory: UnsafeMutableBufferPointer<CChar>
  private var length = 0
  /// Whether something was left out: what follows would not belong to what is there.
  private var isFull = false

  /// How many bytes `withTextLine` lends, the NUL among them: what PAM lets a message have.
  static let capacity = 512

  fileprivate init(_ memory: UnsafeMutableBufferPointer<CChar>) {
    self.memory = memory
    memory.initialize(repeating: 0)
  }

  /// The text so far; empty where there is no memory at all.
  func withText<R>(_ body: (CText) -> R) -> R? {
    guard let start = memory.baseAddress else { return nil }
    return body(CText(start))
  }

  mutating func append(_ byte: UInt8) {
    guard reserve(1) else { return }
    memory[length] = CChar(bitPattern: byte)
    length += 1
  }

  /// Appends the first character of a plain text, whole or not at all.
  ///
  /// - Returns: how many bytes it has.
  mutating func append(characterAt text: CText) -> Int {
    let size = scalarSize(at: text, available: 4) ?? 1
    if reserve(size) {
      for index in 0..<size { memory[length + index] = text[index] }
      length += size
    }
    return size
  }

  private mutating func reserve(_ size: Int) -> Bool {
    if length + size >= memory.count { isFull = true }
    return !isFull
  }

  mutating func append(_ text: StaticString) {
    for index in 0..<text.utf8CodeUnitCount { append(text.utf8Start[index]) }
  }

  /// Appends `text` with everything but printable ASCII as a question mark: it may come from anywhere.
  mutating func append(printable text: CText) {
    var next = text
    while next[0] != 0, !isFull {
      let byte = UInt8(bitPattern: next[0])
      append((0x20...0x7e).contains(byte) ? byte : 0x3f)
      next += 1
    }
  }

  mutating func append(_ number: UInt32) {
    if number >= 10 { append(number / 10) }
    append(UInt8(number % 10) + 0x30)
  }
}

/// Lends an empty line of `TextLine.capacity` bytes on the stack.
func withTextLine<R>(_ body: (inout TextLine) -> R) -> R {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: TextLine.capacity) { memory in
    var line = TextLine(memory)
    return body(&line)
  }
}
