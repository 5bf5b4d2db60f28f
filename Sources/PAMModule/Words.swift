import CPAM

/// The words of the person's language.
struct Words {
  /// A catalogue's look-up and the catalogue, as in whorl_pam_host; nil for English.
  private let translate: (@convention(c) (UnsafeMutableRawPointer, CText?, CText) -> CText?)?
  private let catalogue: UnsafeMutableRawPointer?
  /// Whether they appear on one of the kernel's text consoles.
  private let onTextConsole: Bool

  /// The texts as they are.
  static var english: Words { Words(translate: nil, catalogue: nil) }

  /// The catalogue that fits the program's surroundings, which is looked for when a text is wanted.
  init(_ host: whorl_pam_host, onTextConsole: Bool = false) {
    self.init(translate: host.translate, catalogue: host.catalogue, onTextConsole: onTextConsole)
  }

  init(
    translate: (@convention(c) (UnsafeMutableRawPointer, CText?, CText) -> CText?)?,
    catalogue: UnsafeMutableRawPointer?,
    onTextConsole: Bool = false
  ) {
    self.translate = translate
    self.catalogue = catalogue
    self.onTextConsole = onTextConsole
  }

  /// The text to show for `english`. What cannot stand in its place as it is counts as no translation.
  fileprivate func find(_ english: CText, context: CText?) -> CText {
    guard let translate, let catalogue, let found = translate(catalogue, context, english),
      isPlainText(found, limit: Words.longest), !onTextConsole || Words.fitsTextConsole(found),
      Blank.all(in: found) == Blank.all(in: english)
    else { return english }
    return found
  }

  /// Whether it has no East Asian characters, for which the kernel's consoles show boxes: English says more.
  private static func fitsTextConsole(_ text: CText) -> Bool {
    var next = text
    // From U+3000 on, in UTF-8.
    while next[0] != 0, UInt8(bitPattern: next[0]) < 0xe3 { next += 1 }
    return next[0] == 0
  }

  /// Leaves room for a service's name. pam/po/texts.py knows it too.
  private static let longest = 300
}

/// What stands in braces in a text.
private enum Blank: UInt8 {
  case finger, service, count

  /// The name with the brace that ends it.
  private var name: StaticString {
    switch self {
    case .finger: "finger}"
    case .service: "service}"
    case .count: "count}"
    }
  }

  /// How many bytes it has, the braces among them.
  var size: Int { name.utf8CodeUnitCount + 1 }

  /// The one that begins with the brace at `text`.
  init?(at text: CText) {
    var raw: UInt8 = 0
    while let blank = Blank(rawValue: raw) {
      if hasPrefix(text + 1, blank.name) {
        self = blank
        return
      }
      raw += 1
    }
    return nil
  }

  /// Which ones a text has, a bit for each; nil where one comes twice, or a brace belongs to none.
  static func all(in text: CText) -> UInt8? {
    var found: UInt8 = 0
    var next = text
    while next[0] != 0 {
      if next[0] == openingBrace {
        guard let blank = Blank(at: next), found & (1 << blank.rawValue) == 0 else { return nil }
        found |= 1 << blank.rawValue
        next += blank.size
      } else {
        guard next[0] != closingBrace else { return nil }
        next += 1
      }
    }
    return found
  }

  static var openingBrace: CChar { 0x7b }
  private static var closingBrace: CChar { 0x7d }
}

extension Text {
  /// Writes the text with what it holds in braces filled in.
  func write(
    to line: inout TextLine, in words: Words = .english, service: CText? = nil, finger: Text? = nil, count: UInt32 = 0
  ) {
    withTranslation(words, context: nil) { text in
      var next = text
      while next[0] != 0 {
        if next[0] == Blank.openingBrace, let blank = Blank(at: next) {
          switch blank {
          case .finger: if let finger { write(finger, to: &line, in: words) }
          case .service: if let service { line.append(printable: service) }
          case .count: line.append(count)
          }
          next += blank.size
        } else {
          next += line.append(characterAt: next)
        }
      }
    }
  }

  /// Writes a finger in the form that it has in this text: many languages decline it.
  private func write(_ finger: Text, to line: inout TextLine, in words: Words) {
    let context: StaticString =
      switch self {
      case .swipeWith, .swipeWithOrType: "swipe"
      default: "with"
      }
    withCString(context) { context in
      finger.withTranslation(words, context: context) { text in
        var next = text
        while next[0] != 0 { next += line.append(characterAt: next) }
      }
    }
  }

  private func withTranslation(_ words: Words, context: CText?, _ body: (CText) -> Void) {
    withCString(english) { body(words.find($0, context: context)) }
  }
}
