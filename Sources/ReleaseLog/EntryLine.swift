/// An entry as one line of JSON, with the keys that `ReleaseEntry` has, and back.
enum EntryLine {
  /// The most bytes of a text in a line; what is longer is cut.
  static let textLimit = 1024

  static func text(of entry: ReleaseEntry) -> String {
    let constraints = entry.constraints.map(quoted).joined(separator: ",")
    return "{\"time\":\(entry.time),\"user\":\(entry.user),\"deed\":\(quoted(entry.deed)),"
      + "\"outcome\":\(quoted(entry.outcome)),\"item\":\(quoted(Hex.text(entry.item))),"
      + "\"constraints\":[\(constraints)],\"executable\":\(quoted(entry.executable)),"
      + "\"program\":\(quoted(entry.program)),\"pid\":\(entry.pid)}"
  }

  /// Nil for a line that is not whole, or of another kind.
  static func entry(_ line: some Sequence<UInt8>) -> ReleaseEntry? {
    var parser = Parser(bytes: Array(line))
    guard let values = parser.object(), parser.isAtEnd, let time = values["time"]?.number,
      let user = values["user"]?.number.flatMap({ UInt32(exactly: $0) }), let deed = values["deed"]?.text,
      let outcome = values["outcome"]?.text, let item = values["item"]?.text.flatMap(Hex.bytes)
    else { return nil }
    return ReleaseEntry(
      time: time, user: user, deed: deed, outcome: outcome, item: item, constraints: values["constraints"]?.texts ?? [],
      executable: values["executable"]?.text ?? "", program: values["program"]?.text ?? "",
      pid: values["pid"]?.number.flatMap { UInt32(exactly: $0) } ?? 0)
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    var length = 0
    for scalar in text.unicodeScalars {
      length += scalar.utf8.count
      guard length <= textLimit else { break }
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private enum Value {
    case number(Int64), text(String), texts([String])

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var texts: [String]? { if case .texts(let texts) = self { texts } else { nil } }
  }

  /// Reads as much of JSON as is written here: an object of numbers, texts and lists of texts.
  private struct Parser {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func object() -> [String: Value]? {
      guard take("{") else { return nil }
      var values: [String: Value] = [:]
      repeat {
        guard let key = text(), take(":"), let value = value() else { return nil }
        values[key] = value
      } while take(",")
      return take("}") ? values : nil
    }

    private mutating func value() -> Value? {
      switch next {
      case UInt8(ascii: "\""): return text().map { .text($0) }
      case UInt8(ascii: "["):
        place += 1
        var texts: [String] = []
        if take("]") { return .texts(texts) }
        repeat {
          guard let text = text() else { return nil }
          texts.append(text)
        } while take(",")
        return take("]") ? .texts(texts) : nil
      default:
        let digits = bytes[place...].prefix { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
        place += digits.count
        return Int64(String(decoding: digits, as: UTF8.self)).map { .number($0) }
      }
    }

    private mutating func text() -> String? {
      guard take("\"") else { return nil }
      var result: [UInt8] = []
      while let byte = next {
        place += 1
        switch byte {
        case UInt8(ascii: "\""): return String(validating: result, as: UTF8.self)
        case UInt8(ascii: "\\"):
          guard let escaped = next else { return nil }
          place += 1
          guard escaped == UInt8(ascii: "u") else {
            result.append(escaped)
            continue
          }
          let digits = String(decoding: bytes[place...].prefix(4), as: UTF8.self)
          guard digits.utf8.count == 4, let code = UInt8(digits, radix: 16) else { return nil }
          place += 4
          result.append(code)
        default: result.append(byte)
        }
      }
      return nil
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard next == UInt8(ascii: character) else { return false }
      place += 1
      return true
    }
  }
}
