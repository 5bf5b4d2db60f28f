/// What libpam does about a module's answer.
public enum PAMAction: Sendable, Hashable {
  case ignore, ok, done, bad, die, reset
  /// Passes over that many modules, one at least.
  case jump(Int)
}

/// The control of a line: an action for every answer.
public struct PAMControl: Sendable, Hashable {
  private var actions: [PAMAction]

  /// The action for an answer.
  public subscript(code: PAMCode) -> PAMAction { actions[Int(code.rawValue)] }

  /// Every answer counts as a failure: what libpam makes of a control that it cannot read.
  public static let bad = PAMControl(actions: Array(repeating: .bad, count: PAMCode.allCases.count))

  private init(actions: [PAMAction]) { self.actions = actions }

  private init(success: PAMAction, ignore: PAMAction, other: PAMAction) {
    actions = PAMCode.allCases.map { code in
      switch code {
      case .success, .newAuthtokReqd: success
      case .ignore: ignore
      default: other
      }
    }
  }

  /// The control that a word of the second column means: `required`, `requisite`, `sufficient`, `optional`, or what
  /// stands between brackets. One that libpam cannot read is ``bad``, as in libpam.
  public init(word: String) {
    switch word.lowercased() {
    case "required": self.init(success: .ok, ignore: .ignore, other: .bad)
    case "requisite": self.init(success: .ok, ignore: .ignore, other: .die)
    case "optional": self.init(success: .ok, ignore: .ignore, other: .ignore)
    case "sufficient": self.init(success: .done, ignore: .ignore, other: .ignore)
    default: self = Self.parse(word) ?? .bad
    }
  }

  /// Whether success counts, without ending or leaping over anything, and failure is held against the user: a
  /// condition that everybody has to meet.
  var isGate: Bool {
    guard self[.success] == .ok else { return false }
    return self[.authErr] == .bad || self[.authErr] == .die
  }

  /// Whether success is what the stack goes on with as usual, and anything else makes a difference.
  var isExpected: Bool { self[.success] == .ok && self[.authErr] != .ignore }

  /// Whether success decides: it ends the stack or leaps over a part of it.
  var decides: Bool {
    switch self[.success] {
    case .done, .jump: true
    default: false
    }
  }

  /// `answer=action` pairs; nil where it is not that.
  private static func parse(_ word: String) -> PAMControl? {
    var rest = Array(word.utf8)[...]
    var actions: [PAMAction?] = Array(repeating: nil, count: PAMCode.allCases.count)
    while true {
      skipBlanks(&rest)
      if rest.isEmpty { break }
      guard let answer = takeAnswer(&rest) else { return nil }
      skipBlanks(&rest)
      guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
      skipBlanks(&rest)
      guard let action = takeAction(&rest) else { return nil }
      if let code = answer {
        actions[Int(code.rawValue)] = action
      } else {
        // "default": for whatever has none yet.
        actions = actions.map { $0 ?? action }
      }
    }
    return PAMControl(actions: actions.map { $0 ?? .bad })
  }

  /// An answer's name at the beginning, nil inside for "default"; nil where there is neither.
  private static func takeAnswer(_ rest: inout ArraySlice<UInt8>) -> PAMCode?? {
    for code in PAMCode.allCases where take(code.name, &rest) { return .some(code) }
    return take("default", &rest) ? .some(nil) : nil
  }

  private static func takeAction(_ rest: inout ArraySlice<UInt8>) -> PAMAction? {
    let words: [(String, PAMAction)] = [
      ("ignore", .ignore), ("ok", .ok), ("done", .done), ("bad", .bad), ("die", .die), ("reset", .reset),
    ]
    for (word, action) in words where take(word, &rest) { return action }
    var number = 0
    var hasDigit = false
    while let digit = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
      rest.removeFirst()
      hasDigit = true
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
      guard number <= Int(Int32.max) else { return nil }
    }
    return hasDigit && number > 0 ? .jump(number) : nil
  }

  private static func take(_ word: String, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }

  /// C's isspace.
  private static func skipBlanks(_ rest: inout ArraySlice<UInt8>) {
    rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
  }
}
