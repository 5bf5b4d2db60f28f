internal import Keychain

/// Text that a program chose, on its way to a person: on one line, bounded, and without anything that moves a terminal,
/// turns the direction of writing or hides in a font.
enum PromptText {
  /// The most characters (scalars) of a program's reason.
  static let reasonLimit = 200
  /// The most characters of an item's name.
  static let itemLimit = 120

  /// The text fit to show; nil where nothing of it is left.
  static func clean(_ text: String, limit: Int) -> String? {
    var result = String.UnicodeScalarView()
    var lastIsSpace = true
    for scalar in text.unicodeScalars {
      let shown: Unicode.Scalar =
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
          .unassigned:
          " "
        // Blank, whatever their category is: a row of them would bring what follows to the start of a line.
        case _ where scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}": " "
        default: scalar
        }
      if shown == " ", lastIsSpace { continue }
      lastIsSpace = shown == " "
      guard result.count < limit else {
        result.append("\u{2026}")
        break
      }
      result.append(shown)
    }
    while result.last == " " { result.removeLast() }
    return result.isEmpty ? nil : String(result)
  }

  /// What a person knows an item by: its label, else its account and what that is for.
  static func name(of attributes: ItemAttributes) -> String? {
    if let label = attributes.label.flatMap({ clean($0, limit: itemLimit) }) { return label }
    let places: [ItemAttribute] = [.account, .service, .server]
    let parts = places.compactMap { place -> String? in
      guard case .text(let text)? = attributes.values[place] else { return nil }
      return clean(text, limit: itemLimit / 3)
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
