/// Why a list of names and secrets was refused: the line, and what is wrong with it, without anything that stands there.
public struct PlainListError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// A line of a CSV file has so many fields (3 for more).
    case fields(Int)
    /// A pair has no equals sign.
    case noEqualsSign
    /// The name is empty.
    case noName
    /// The name is no UTF-8, or has a NUL in it.
    case badName
    /// The name has more bytes than that.
    case longName(limit: Int)
    /// The name stands in that line already.
    case sameName(line: Int)
    /// The secret is empty.
    case noSecret
    /// The secret has more bytes than that.
    case longSecret(limit: Int)
    /// A double quote inside of a field that does not begin with one.
    case strayQuote
    /// Something between a closing quote and the next comma.
    case afterQuote
    /// A quoted field that does not end.
    case openQuote
    /// A carriage return without a line feed after it.
    case strayReturn
    /// No memory for the secret.
    case memory
  }

  /// The line, from 1; for a CSV record the first of its lines.
  public let line: Int
  /// What is wrong with it.
  public let problem: Problem

  /// One line for people.
  public var description: String { "line \(line): \(text)" }

  private var text: String {
    switch problem {
    case .fields(let count):
      count < 2
        ? "there is one field; write a name, a comma and a secret"
        : "there are more than two fields; put a secret that has commas in double quotes"
    case .noEqualsSign: "there is no equals sign; write NAME=SECRET"
    case .noName: "the name is empty; give it one"
    case .badName: "the name is not UTF-8 text; save the file as UTF-8"
    case .longName(let limit): "the name has more than \(limit) bytes; shorten it"
    case .sameName(let other): "the name stands in line \(other) already; give each once"
    case .noSecret: "the secret is empty; leave the line out"
    case .longSecret(let limit): "the secret has more than \(limit) bytes; leave it out"
    case .strayQuote: "a double quote stands in a field that does not begin with one; quote the field and double it"
    case .afterQuote: "something follows a closing double quote; double the quotes that belong to the field"
    case .openQuote: "a double quote is never closed; close it"
    case .strayReturn: "a carriage return stands alone; end lines with a line feed"
    case .memory: "no protected memory for the secret; raise the limit on locked memory (ulimit -l)"
    }
  }
}
