/// One release of a secret, or one refusal, as the log keeps it: never the secret, never the plain name of the item.
public struct ReleaseEntry: Sendable, Hashable {
  /// When, in seconds since 1970.
  public var time: Int64
  /// Whose secret it is.
  public var user: UInt32
  /// What was to be done with it, such as `read` or `change`.
  public var deed: String
  /// `released`, or the name of the error that it ended with, such as `UserCancel`.
  public var outcome: String
  /// The keyed hash of the item's name; empty where no item was found.
  public var item: [UInt8]
  /// What the item asks for.
  public var constraints: [String]
  /// The program's file, as the kernel names it; empty where it does not.
  public var executable: String
  /// What the program calls itself; empty where that is not known.
  public var program: String
  /// Its process; 0 where the bus did not say.
  public var pid: UInt32

  /// Whether the secret was given out, or used.
  public var isRelease: Bool { outcome == Self.released }
  /// The outcome of a release.
  public static let released = "released"

  /// An entry with these values.
  public init(
    time: Int64, user: UInt32, deed: String, outcome: String, item: [UInt8] = [], constraints: [String] = [],
    executable: String = "", program: String = "", pid: UInt32 = 0
  ) {
    self.time = time
    self.user = user
    self.deed = deed
    self.outcome = outcome
    self.item = item
    self.constraints = constraints
    self.executable = executable
    self.program = program
    self.pid = pid
  }
}

/// Bytes as hexadecimal digits.
enum Hex {
  static func text(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// Nil where it is no such text.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var result: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      result.append(UInt8(high << 4 | low))
    }
    return result
  }
}
