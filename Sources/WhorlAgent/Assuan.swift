internal import SecretMemory

/// The lines of pinentry's protocol (Assuan): one command and one answer at a time, in lines of at most 1000 bytes, in
/// which a percent sign and two digits stand for a byte.
enum Assuan {
  /// The most bytes of a line of ours, its end included.
  static let lineLimit = 1000

  /// The command with this text, its line's end included. What would end the line or change its meaning is escaped; what
  /// does not fit is cut off at a whole character.
  static func command(_ name: String, _ text: String = "") -> String {
    var line = name
    guard !text.isEmpty else { return line + "\n" }
    line += " "
    let ellipsis = "\u{2026}"
    var length = line.utf8.count
    for scalar in text.unicodeScalars {
      let piece = escaped(scalar)
      guard length + piece.utf8.count + ellipsis.utf8.count < lineLimit else {
        line += ellipsis
        break
      }
      line += piece
      length += piece.utf8.count
    }
    return line + "\n"
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    guard scalar == "%" || scalar.value < 0x20 || scalar.value == 0x7f else { return String(scalar) }
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "%" + (digits.count == 1 ? "0" : "") + digits
  }

  /// One line of pinentry's.
  enum Answer: Equatable {
    case ok
    /// With libgpg-error's code, without the number of the program that it came from.
    case error(code: Int)
    /// Data begins at this place of the line.
    case data(at: Int)
    /// A status or a comment, which nobody waits for.
    case aside
    /// Nothing that pinentry says.
    case nonsense
  }

  /// What a line is, without its end. Looks at nothing but its beginning, for the rest may be a passcode.
  static func answer(_ line: UnsafeRawBufferPointer) -> Answer {
    if line.starts(with: "D ".utf8) { return .data(at: 2) }
    if isWord("OK", line) { return .ok }
    if isWord("S", line) || line.first == UInt8(ascii: "#") { return .aside }
    guard isWord("ERR", line) else { return .nonsense }
    var code = 0
    var count = 0
    for byte in line.dropFirst(4) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), count < 10 else { break }
      code = code * 10 + Int(byte - UInt8(ascii: "0"))
      count += 1
    }
    return count == 0 ? .nonsense : .error(code: code & 0xffff)
  }

  private static func isWord(_ word: String, _ line: UnsafeRawBufferPointer) -> Bool {
    line.starts(with: word.utf8) && (line.count == word.utf8.count || line[word.utf8.count] == UInt8(ascii: " "))
  }

  /// Adds what escaped data stands for to `target` from `filled` on; false where it does not fit or an escape is wrong.
  static func decode(_ data: UnsafeRawBufferPointer, into target: inout SecretBytes, at filled: inout Int) -> Bool {
    var index = 0
    return target.withUnsafeMutableBytes { bytes in
      while index < data.count {
        guard filled < bytes.count else { return false }
        var byte = data[index]
        index += 1
        if byte == UInt8(ascii: "%") {
          guard index + 1 < data.count, let high = digit(data[index]), let low = digit(data[index + 1]) else {
            return false
          }
          byte = high << 4 | low
          index += 2
        }
        bytes[filled] = byte
        filled += 1
      }
      return true
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
