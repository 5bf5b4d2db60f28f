internal import Bus

/// What whorld says of a request (org.whorl.Agent1's details), in words for the person. What others chose stands in
/// quotation marks, which it cannot close.
struct PromptWords: Equatable {
  /// What a person may choose in the place of a finger.
  enum Fallback: String {
    /// The password, which whorld has asked for then.
    case passcode
    /// Something of the program's own.
    case program
  }

  /// What it is about: never a program's words.
  let summary: String
  /// Who asks for what, and what it says for itself.
  let claim: String
  /// Why a finger does not do; nil where one is wanted.
  let why: String?
  /// Why it is asked again.
  let error: String?
  /// Whether it is the password from before a change, or the recovery key, that is wanted.
  let wantsFormer: Bool
  /// Whether a finger is waited for.
  let wantsFinger: Bool
  /// What would do in the place of the finger that is waited for; nil for nothing.
  let fallback: Fallback?
  /// How many more may be given after the one that is asked for; nil where that is not known.
  let triesLeft: UInt32?

  init(_ details: [String: BusValue]) {
    let wants = details["wants"]?.asString
    wantsFormer = wants == "former-passcode"
    wantsFinger = wants != "passcode" && wants != "former-passcode"
    fallback = wants == "finger" ? details["fallback"]?.asString.flatMap(Fallback.init) : nil
    triesLeft = details["tries-left"]?.asUInt32
    summary =
      switch wants {
      case "passcode": "Your login password is wanted"
      case "former-passcode": "Your former login password is wanted"
      default: "Touch the fingerprint reader"
      }
    let item = Self.quoted(details["item"], limit: 120) ?? "a secret"
    let deed =
      switch details["deed"]?.asString {
      case "read": "read \(item)"
      case "change": "change \(item)"
      case "use-key": "use the private key \(Self.quoted(details["item"], limit: 120) ?? "of an item without a name")"
      case "make-recovery-key": "make a recovery key, which opens everything that you store"
      case "revoke-recovery-key": "take your recovery key back"
      case "export": "export everything that you store, under a passphrase that it chose"
      case "import": "import secrets, which may take the place of yours"
      case "adopt-fingers": "let these fingers open your secrets: \(Self.fingers(details["fingers"]))"
      case "trust-reader": "trust the reader \(Self.quoted(details["reader"], limit: 120) ?? "without a name")"
      case "authenticate": "know that it is you, and may then read a secret"
      default: "do something that this agent does not know"
      }
    let process = details["pid"]?.asUInt32.map { "process \($0)" }
    let program: String
    if let name = Self.quoted(details["program"], limit: 15) {
      program = "A program that calls itself \(name)" + (process.map { " (\($0))" } ?? "")
    } else {
      program = "A program" + (process.map { " (\($0))" } ?? "")
    }
    var claim = "\(program) wants to \(deed)."
    if let seconds = details["reuse"]?.asUInt32, seconds > 0 {
      claim += "\nWhat you give counts for all that it asks for in the next \(seconds) seconds."
    }
    if let reason = Self.quoted(details["reason"], limit: 200) { claim += "\nIt says: \(reason)" }
    self.claim = claim
    why = details["why"]?.asString.flatMap { Self.clean($0, limit: 300) }.map(Self.sentence)
    error = details["error"]?.asString.flatMap { Self.clean($0, limit: 200) }.map(Self.sentence)
  }

  /// For pinentry. Its first line is ours and plain, so that no pinentry takes the text for markup.
  var description: String {
    (["Whorl asks for your \(wantsFormer ? "former login password or recovery key" : "login password").", claim]
      + (why.map { [$0] } ?? [])).joined(separator: "\n")
  }

  /// For a notification's body.
  /// - Parameter markup: whether the server reads a subset of HTML.
  func body(markup: Bool) -> String {
    guard markup else { return claim }
    return claim.unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&apos;"
      default: String(scalar)
      }
    }.joined()
  }

  /// What stands before the line to type in.
  var prompt: String { wantsFormer ? "Former password:" : "Password:" }

  private static func fingers(_ value: BusValue?) -> String {
    let names = (value?.asStrings ?? []).prefix(10).compactMap { clean($0, limit: 40) }
    return names.isEmpty ? "all" : names.map { $0.replacing("-", with: " ") }.joined(separator: ", ")
  }

  private static func quoted(_ value: BusValue?, limit: Int) -> String? {
    value?.asString.flatMap { clean($0, limit: limit) }.map { text in
      "\""
        + text.unicodeScalars.map {
          "\"\u{201C}\u{201D}\u{201E}\u{201F}\u{2033}\u{02BA}\u{FF02}".unicodeScalars.contains($0) ? "'" : String($0)
        }.joined()
        + "\""
    }
  }

  /// On one line, without what moves a terminal or turns the direction of writing; nil where nothing is left. whorld has
  /// done that already, and bounded it.
  static func clean(_ text: String, limit: Int) -> String? {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard result.count < limit else {
        result.append("\u{2026}")
        break
      }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
        result.append(" ")
      default: result.append(scalar)
      }
    }
    return result.allSatisfy { $0 == " " } ? nil : String(result)
  }

  private static func sentence(_ text: String) -> String {
    let end = text.hasSuffix(".") || text.hasSuffix("\u{2026}") ? "" : "."
    return text.prefix(1).uppercased() + text.dropFirst() + end
  }
}
