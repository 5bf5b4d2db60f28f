import GLibLoop

/// A value as JSON (RFC 8259), on one line. Control characters and what else could move a terminal are escaped.
enum JSONText: Sendable, Equatable {
  case null
  case text(String)
  case number(Int64)
  case flag(Bool)
  case list([JSONText])
  /// In the order given.
  case object([Member])

  struct Member: Sendable, Equatable {
    let name: String
    let value: JSONText

    init(_ name: String, _ value: JSONText) {
      self.name = name
      self.value = value
    }
  }

  static func number(_ number: Int) -> JSONText { .number(Int64(number)) }
  static func texts(_ texts: [String]) -> JSONText { .list(texts.map(JSONText.text)) }

  var line: String {
    switch self {
    case .null: "null"
    case .text(let text): Self.quoted(text)
    case .number(let number): "\(number)"
    case .flag(let flag): flag ? "true" : "false"
    case .list(let values): "[" + values.map(\.line).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.name) + ":" + $0.value.line }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
          for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
          }
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}

/// An array of JSON that is printed while it comes: an element a line.
@GLibActor
struct JSONList {
  private let console: any Console
  private var last: String?

  init(_ console: any Console) { self.console = console }

  mutating func add(_ value: JSONText) async throws(CommandFailure) {
    if let last { try await console.print(last + ",") } else { try await console.print("[") }
    last = value.line
  }

  func end() async throws(CommandFailure) {
    guard let last else { return try await console.print("[]") }
    try await console.print(last)
    try await console.print("]")
  }
}
