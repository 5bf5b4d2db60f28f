/// Splits the words of a command line into options and operands, as getopt_long does: options may stand anywhere,
/// `--` ends them, `--option=value` and `-ovalue` carry their value along, short options can be joined, and a lone
/// `-` is an operand.
struct ArgumentScanner {
  /// One option: its long name without the dashes, its letter if it has one, and whether a value follows.
  struct Option: Sendable {
    let name: String
    let letter: Character?
    let takesValue: Bool
  }

  /// What was found.
  struct Result: Sendable, Equatable {
    var operands: [String] = []
    /// The options in their order; an option without a value has nil.
    var options: [(name: String, value: String?)] = []

    static func == (left: Self, right: Self) -> Bool {
      left.operands == right.operands && left.options.map(\.name) == right.options.map(\.name)
        && left.options.map(\.value) == right.options.map(\.value)
    }
  }

  let options: [Option]
  /// The command line that shows what there is.
  let help: String
  /// Whether an operand is a name that may begin with a dash.
  var takesNames = false

  /// - Throws: `.usage`, naming the option that is unknown, lacks its value or has one too many.
  func scan(_ words: [String]) throws(CommandFailure) -> Result {
    var result = Result()
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        result.operands += rest
        break
      } else if word.hasPrefix("--") {
        try scanLong(word, &rest, &result)
      } else if word.hasPrefix("-"), word != "-" {
        try scanShort(word, &rest, &result)
      } else {
        result.operands.append(word)
      }
    }
    return result
  }

  private func scanLong(
    _ word: String, _ rest: inout ArraySlice<String>, _ result: inout Result
  ) throws(CommandFailure) {
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    // In full only: an abbreviation that works today could mean something else tomorrow.
    guard let option = options.first(where: { $0.name == parts[0] }) else {
      throw unknown("--\(parts[0])")
    }
    if option.takesValue {
      guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
        throw lacksValue("--\(option.name)")
      }
      result.options.append((option.name, value))
    } else {
      guard parts.count == 1 else {
        throw CommandFailure(
          .usage, "option --\(option.name) takes no value; leave out =\(Escaping.shown(String(parts[1])))")
      }
      result.options.append((option.name, nil))
    }
  }

  private func scanShort(
    _ word: String, _ rest: inout ArraySlice<String>, _ result: inout Result
  ) throws(CommandFailure) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.letter == letter }) else { throw unknown("-\(letter)") }
      guard option.takesValue else {
        result.options.append((option.name, nil))
        continue
      }
      guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else { throw lacksValue("-\(letter)") }
      result.options.append((option.name, value))
      letters = ""
    }
  }

  private func unknown(_ option: String) -> CommandFailure {
    let hint = takesNames ? "; before a name that begins with a dash write --" : ""
    return CommandFailure(
      .usage, "unknown option \(Escaping.shown(option, limit: 64)); \(help) lists what there is\(hint)")
  }

  private func lacksValue(_ option: String) -> CommandFailure {
    CommandFailure(.usage, "option \(option) needs a value; \(help) shows which")
  }
}
