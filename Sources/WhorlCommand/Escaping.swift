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

  /// A sentence of the daemon's as a part of one of ours: on one line, and without the full stop at its end or before
  /// a comma that was put after it. It begins with a small letter, for it follows a colon, unless with a name.
  static func clause(_ text: String, limit: Int = 400) -> String {
    var result = Substring(line(text, limit: limit))
    for mark in [",", ";"] {
      while let place = firstRange(of: ".\(mark) ", in: result) {
        result = result[..<place.lowerBound] + "\(mark) " + result[place.upperBound...]
      }
    }
    while result.last == " " { result.removeLast() }
    // Three of them say that the text was cut.
    if result.hasSuffix("."), !result.hasSuffix("..") { result.removeLast() }
    return decapitalised(String(result))
  }

  /// Words that are no names, with which sentences of whorld's begin.
  private static let openings: Set<String> = [
    "A", "An", "Another", "Both", "Deleting", "Device", "Fingers", "It", "No", "Nobody", "None", "Nothing", "Not",
    "Only",
    "Open", "Operation", "Others", "Permission", "Prints", "Release", "Somebody", "That", "The", "There", "These",
    "This", "Too", "Verify", "What", "Whose", "You", "Your",
  ]

  private static func decapitalised(_ text: String) -> String {
    guard openings.contains(String(text.prefix { $0.isLetter })) else { return text }
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  /// What a clause says happened, and what it says to do about it; nil where it names no remedy.
  static func parts(_ clause: String) -> (what: String, remedy: String?) {
    guard let place = firstRange(of: "; ", in: Substring(clause)) else { return (clause, nil) }
    return (String(clause[..<place.lowerBound]), String(clause[place.upperBound...]))
  }

  private static func firstRange(of part: String, in text: Substring) -> Range<Substring.Index>? {
    var start = text.startIndex
    while start < text.endIndex {
      if text[start...].hasPrefix(part), let end = text.index(start, offsetBy: part.count, limitedBy: text.endIndex) {
        return start..<end
      }
      start = text.index(after: start)
    }
    return nil
  }

  /// The name as a word that a shell gives back as it is, with `--` before it where it begins with a dash.
  static func operand(_ name: String) -> String {
    let plain = name.unicodeScalars.allSatisfy {
      ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
        || "-_./@%+,:".unicodeScalars.contains($0)
    }
    var word = name
    if name.isEmpty || !plain {
      word =
        name.unicodeScalars.allSatisfy(isHarmless)
        ? "'" + name.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'" : ansiQuoted(name)
    }
    return name.hasPrefix("-") ? "-- \(word)" : word
  }

  /// Between `$'` and `'`, as bash and zsh read it.
  private static func ansiQuoted(_ name: String) -> String {
    let scalars = name.unicodeScalars.map { scalar in
      if scalar == "'" || scalar == "\\" { return "\\\(scalar)" }
      if isHarmless(scalar) { return String(scalar) }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    }
    return "$'" + scalars.joined() + "'"
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
