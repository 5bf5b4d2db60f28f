/// Text from outside (names, the daemon, a device), made safe to show on a terminal.
enum Escaping {
  /// The text on one line, without anything that a terminal obeys: control and format characters, line separators
  /// and code points without a meaning become `\n`, `\t`, `\r` or `\u{HEX}`, and a backslash is doubled so that
  /// the result has one reading.
  ///
  /// - Parameter limit: the most characters of the text to show; a longer one ends in `...`.
  static func shown(_ text: String, limit: Int = 1024) -> String {
    escape(text, limit: limit, doublingBackslashes: true)
  }

  /// As ``shown(_:limit:)``, for a sentence in which a backslash may stay as it is.
  static func line(_ text: String, limit: Int = 1024) -> String {
    escape(text, limit: limit, doublingBackslashes: false)
  }

  /// The text in double quotes, as messages show a name.
  static func quoted(_ text: String) -> String { "\"\(shown(text, limit: 256))\"" }

  private static func escape(_ text: String, limit: Int, doublingBackslashes: Bool) -> String {
    var result = ""
    var count = 0
    // By scalars: a combining mark after a control character must not hide it in one Character.
    for scalar in text.unicodeScalars {
      guard count < limit else { return result + "..." }
      count += 1
      switch scalar {
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case "\\": result += doublingBackslashes ? "\\\\" : "\\"
      default:
        if isHarmless(scalar) {
          result.unicodeScalars.append(scalar)
        } else {
          result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
      }
    }
    return result
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }
}
