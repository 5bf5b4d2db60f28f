public import SecretMemory

/// A name and its secret from a list.
public struct PlainEntry: ~Copyable, Sendable {
  /// The name.
  public let name: String
  /// The secret, byte for byte.
  public let secret: SecretBytes
  /// The line where it begins, from 1.
  public let line: Int
}

/// Reads names and secrets from a list that is in guarded memory, and puts each secret into memory of its own.
///
/// A byte order mark at the beginning and empty lines are passed over. Nothing of the list appears in an error.
public final class PlainListReader {
  /// How a list is written.
  public enum Format: Sendable {
    /// RFC 4180 with two fields, a name and a secret; lines may end with LF too. A first line `name,secret`, in any
    /// case of letters, is passed over.
    case csv
    /// `NAME=SECRET`, one a line: the name goes to the first equals sign, the secret from there to the end of the line;
    /// neither quotes, blanks, backslashes nor `#` mean anything. A carriage return before the line feed is not a part.
    case pairs
  }

  /// The most bytes of a name.
  public static let nameBytes = 4096

  private let text: SecretBytes
  private let format: Format
  private var offset = 0
  private var line = 1
  /// The lines of the names so far; by bytes, for Swift takes differently composed letters for the same.
  private var lines: [[UInt8]: Int] = [:]
  private var isAtFirstRecord = true

  /// A reader of that text.
  public init(_ text: consuming SecretBytes, format: Format) {
    self.text = text
    self.format = format
    offset = self.text.withUnsafeBytes { $0.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
  }

  /// The next entry; nil at the end.
  public func next() throws(PlainListError) -> PlainEntry? {
    while true {
      guard offset < text.count else { return nil }
      let first = line
      let found = try text.withUnsafeBytes { bytes throws(PlainListError) in
        switch format {
        case .csv: try CSVRecord.next(in: bytes, from: offset, line: line)
        case .pairs: try PairLine.next(in: bytes, from: offset, line: line)
        }
      }
      offset = found.next
      line += found.lineCount
      guard let name = found.name, let secret = found.secret else { continue }
      defer { isAtFirstRecord = false }
      if format == .csv, isAtFirstRecord, isHeader(name, secret) { continue }
      return try entry(name, secret, first)
    }
  }

  private func isHeader(_ name: TextField, _ secret: TextField) -> Bool {
    text.withUnsafeBytes { bytes in
      func spells(_ field: TextField, _ word: String) -> Bool {
        field.count == word.utf8.count && field.content(of: bytes).elementsEqual(word.utf8) { $0 | 0x20 == $1 }
      }
      return spells(name, "name") && spells(secret, "secret")
    }
  }

  private func entry(_ name: TextField, _ secret: TextField, _ line: Int) throws(PlainListError) -> PlainEntry {
    guard name.count > 0 else { throw PlainListError(line: line, problem: .noName) }
    guard name.count <= Self.nameBytes else {
      throw PlainListError(line: line, problem: .longName(limit: Self.nameBytes))
    }
    let bytes = text.withUnsafeBytes { Array(name.content(of: $0)) }
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
      throw PlainListError(line: line, problem: .badName)
    }
    guard secret.count > 0 else { throw PlainListError(line: line, problem: .noSecret) }
    guard secret.count <= ArchiveLimits.secretBytes else {
      throw PlainListError(line: line, problem: .longSecret(limit: ArchiveLimits.secretBytes))
    }
    if let other = lines.updateValue(line, forKey: bytes) {
      throw PlainListError(line: line, problem: .sameName(line: other))
    }
    return PlainEntry(name: text, secret: try copy(secret, line), line: line)
  }

  private func copy(_ field: TextField, _ line: Int) throws(PlainListError) -> SecretBytes {
    do throws(SecretMemoryError) {
      var copy = try SecretBytes(count: field.count)
      text.withUnsafeBytes { source in
        copy.withUnsafeMutableBytes { target in
          var place = 0
          for byte in field.content(of: source) {
            target[place] = byte
            place += 1
          }
        }
      }
      return copy
    } catch {
      throw PlainListError(line: line, problem: .memory)
    }
  }
}

/// What one step through a list found; an empty line has neither name nor secret.
struct FoundPair {
  var name: TextField?
  var secret: TextField?
  /// Where the next step begins.
  var next: Int
  /// How many line ends it went over.
  var lineCount: Int
}

/// Where a field stands in the text.
struct TextField {
  var range: Range<Int>
  /// How many quotes in it are doubled.
  var doubledQuotes = 0

  /// How many bytes it means.
  var count: Int { range.count - doubledQuotes }

  /// The bytes that it means.
  func content(of bytes: UnsafeRawBufferPointer) -> some Sequence<UInt8> {
    var index = range.lowerBound
    let end = range.upperBound
    let isQuoted = doubledQuotes > 0
    return AnyIterator {
      guard index < end else { return nil }
      let byte = bytes[index]
      index += isQuoted && byte == UInt8(ascii: "\"") ? 2 : 1
      return byte
    }
  }
}
