/// One record of a CSV file (RFC 4180).
enum CSVRecord {
  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  /// Reads the record that begins at `offset`, which is before the end.
  static func next(
    in bytes: UnsafeRawBufferPointer, from offset: Int, line: Int
  ) throws(PlainListError) -> FoundPair {
    var place = offset
    var lineCount = 0
    var fields: [TextField] = []
    var count = 0
    while true {
      let field = try Self.field(in: bytes, &place, &lineCount, line)
      count += 1
      if count <= 2 { fields.append(field) }
      guard place < bytes.count, bytes[place] == comma else { break }
      place += 1
    }
    if place < bytes.count {
      // A field ends at a comma or at a line's end.
      place += bytes[place] == carriageReturn ? 2 : 1
      lineCount += 1
    }
    // A line without anything in it; one with two quotes is a field.
    if count == 1, fields[0].range.isEmpty, bytes[offset] != quote {
      return FoundPair(next: place, lineCount: lineCount)
    }
    guard count == 2 else { throw PlainListError(line: line, problem: .fields(min(count, 3))) }
    return FoundPair(name: fields[0], secret: fields[1], next: place, lineCount: lineCount)
  }

  /// Reads a field; `place` is at the comma, the line's end or the text's end then.
  private static func field(
    in bytes: UnsafeRawBufferPointer, _ place: inout Int, _ lineCount: inout Int, _ line: Int
  ) throws(PlainListError) -> TextField {
    if place < bytes.count, bytes[place] == quote { return try quoted(in: bytes, &place, &lineCount, line) }
    let start = place
    while place < bytes.count {
      switch bytes[place] {
      case comma, lineFeed: return TextField(range: start..<place)
      case carriageReturn:
        try requireLineFeed(in: bytes, after: place, line)
        return TextField(range: start..<place)
      case quote: throw PlainListError(line: line, problem: .strayQuote)
      default: place += 1
      }
    }
    return TextField(range: start..<place)
  }

  private static func quoted(
    in bytes: UnsafeRawBufferPointer, _ place: inout Int, _ lineCount: inout Int, _ line: Int
  ) throws(PlainListError) -> TextField {
    place += 1
    var field = TextField(range: place..<place)
    while place < bytes.count {
      if bytes[place] == lineFeed { lineCount += 1 }
      guard bytes[place] == quote else {
        place += 1
        continue
      }
      if place + 1 < bytes.count, bytes[place + 1] == quote {
        field.doubledQuotes += 1
        place += 2
        continue
      }
      field.range = field.range.lowerBound..<place
      place += 1
      try requireEnd(in: bytes, at: place, line)
      return field
    }
    throw PlainListError(line: line, problem: .openQuote)
  }

  private static func requireEnd(
    in bytes: UnsafeRawBufferPointer, at place: Int, _ line: Int
  ) throws(PlainListError) {
    guard place < bytes.count else { return }
    switch bytes[place] {
    case comma, lineFeed: return
    case carriageReturn: try requireLineFeed(in: bytes, after: place, line)
    default: throw PlainListError(line: line, problem: .afterQuote)
    }
  }

  private static func requireLineFeed(
    in bytes: UnsafeRawBufferPointer, after place: Int, _ line: Int
  ) throws(PlainListError) {
    guard place + 1 < bytes.count, bytes[place + 1] == lineFeed else {
      throw PlainListError(line: line, problem: .strayReturn)
    }
  }
}

/// One line `NAME=SECRET`.
enum PairLine {
  /// Reads the line that begins at `offset`, which is before the end.
  static func next(
    in bytes: UnsafeRawBufferPointer, from offset: Int, line: Int
  ) throws(PlainListError) -> FoundPair {
    let lineFeed = bytes[offset...].firstIndex(of: UInt8(ascii: "\n"))
    var end = lineFeed ?? bytes.count
    let next = lineFeed.map { $0 + 1 } ?? bytes.count
    if lineFeed != nil, end > offset, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    guard end > offset else { return FoundPair(next: next, lineCount: 1) }
    guard let sign = bytes[offset..<end].firstIndex(of: UInt8(ascii: "=")) else {
      throw PlainListError(line: line, problem: .noEqualsSign)
    }
    return FoundPair(
      name: TextField(range: offset..<sign), secret: TextField(range: sign + 1..<end), next: next, lineCount: 1)
  }
}
