/// A PAM file as libpam reads it: lines joined at a backslash, comments left out, words apart.
public struct StackText: Sendable, Equatable {
  /// One entry, which may stand on several lines of the file.
  public struct Line: Sendable, Equatable {
    /// Where it begins, the first line being 0.
    public let first: Int
    /// Where it ends.
    public let last: Int
    /// What brackets hold together is one word, without the brackets.
    public let words: [String]
  }

  /// The file's lines as they are, without the newlines.
  public let raw: [[UInt8]]
  /// The entries, in their order.
  public let lines: [Line]
  /// The file ends in the middle of an entry, at which libpam gives up.
  public let isCutShort: Bool
  /// What versions of libpam read in different ways, in words; nil where they agree.
  public let doubt: String?

  private let endsInNewline: Bool

  /// The longest line that old versions of libpam read in one piece, in bytes.
  private static let lineLimit = 1022

  /// Reads a file's bytes, whatever they are.
  public init(_ bytes: [UInt8]) {
    var raw = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    endsInNewline = raw.last?.isEmpty == true
    if endsInNewline { raw.removeLast() }
    self.raw = raw
    var lines: [Line] = []
    var doubt: String?
    var joined: [UInt8] = []
    var first: Int?
    for (index, line) in raw.enumerated() {
      if line.count > Self.lineLimit { doubt = doubt ?? "line \(index + 1) is longer than \(Self.lineLimit) bytes" }
      if line.contains(0) { doubt = doubt ?? "line \(index + 1) has a zero byte" }
      var part = line.drop(while: Self.isBlank)
      let comment = part.firstIndex(of: UInt8(ascii: "#"))
      if part.isEmpty || comment == part.startIndex {
        if first != nil { doubt = doubt ?? "line \(index + 1) stands empty where an entry goes on" }
        continue
      }
      if let comment {
        part = part[..<comment]
      } else {
        while let last = part.last, Self.isBlank(last) { part.removeLast() }
        if part.last == UInt8(ascii: "\\") {
          first = first ?? index
          joined += part.dropLast() + [UInt8(ascii: " ")]
          continue
        }
      }
      joined += part
      if joined.count > Self.lineLimit { doubt = doubt ?? "the entry in line \(index + 1) is very long" }
      let words = Self.words(joined)
      if !words.isEmpty { lines.append(Line(first: first ?? index, last: index, words: words)) }
      (joined, first) = ([], nil)
    }
    self.lines = lines
    isCutShort = first != nil
    self.doubt = doubt
  }

  /// The file with a line more.
  func bytes(inserting text: String, at place: Int) -> [UInt8] {
    var raw = raw
    raw.insert(Array(text.utf8), at: place)
    return bytes(raw)
  }

  /// The file with a line less.
  func bytes(removing place: Int) -> [UInt8] {
    var raw = raw
    raw.remove(at: place)
    return bytes(raw)
  }

  private func bytes(_ raw: [[UInt8]]) -> [UInt8] {
    let newline = UInt8(ascii: "\n")
    return Array(raw.joined(separator: [newline])) + (endsInNewline && !raw.isEmpty ? [newline] : [])
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Only blanks and tabs part words; `[...]` at the beginning of a word is one, to the first `]` that has no backslash.
  private static func words(_ text: [UInt8]) -> [String] {
    var words: [String] = []
    var rest = text[...]
    while true {
      rest = rest.drop(while: isBlank)
      guard let first = rest.first else { return words }
      var word: [UInt8] = []
      if first == UInt8(ascii: "[") {
        rest.removeFirst()
        while let byte = rest.first, byte != UInt8(ascii: "]") {
          rest.removeFirst()
          if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "]") {
            rest.removeFirst()
            word.append(UInt8(ascii: "]"))
          } else {
            word.append(byte)
          }
        }
        rest = rest.dropFirst()
      } else {
        word = Array(rest.prefix { !isBlank($0) })
        // The blank after a word belongs to it.
        rest = rest.dropFirst(word.count + 1)
      }
      words.append(String(decoding: word, as: UTF8.self))
    }
  }
}
