/// What `whorl pam` is asked for.
struct PAMInvocation: Sendable, Equatable {
  enum Deed: Sendable, Equatable {
    /// `isDry`: only shows what would change.
    case enable(service: String, isDry: Bool)
    /// `restores`: puts the file back as it was before Whorl's last edit.
    case disable(service: String, isDry: Bool, restores: Bool)
    case status
    /// No services: all.
    case check(services: [String])
  }

  let deed: Deed
  /// Below what PAM's files are; nil for the machine's own.
  var root: String?
}

/// The words after `whorl pam`.
enum PAMVerb: String, Sendable, CaseIterable {
  case enable, disable, status, check
}

/// Turns the words after `whorl pam` into a ``PAMInvocation``.
enum PAMInvocationParser {
  private static let help = ArgumentScanner.Option(name: "help", letter: "h", takesValue: false)
  private static let dryRun = ArgumentScanner.Option(name: "dry-run", letter: "n", takesValue: false)
  private static let restore = ArgumentScanner.Option(name: "restore", letter: nil, takesValue: false)
  private static let json = ArgumentScanner.Option(name: "json", letter: nil, takesValue: false)
  private static let root = ArgumentScanner.Option(name: "root", letter: nil, takesValue: true)

  /// - Throws: `.usage`, naming the word that is wrong.
  static func parse(_ words: [String]) throws(CommandFailure) -> Invocation {
    guard let word = words.first else {
      throw CommandFailure(.usage, "pam needs a word more, one of \(known); whorl help pam says what they do")
    }
    if ["--help", "-h"].contains(word) { return .help(of: .pam) }
    guard let verb = PAMVerb(rawValue: word) else {
      let guess = Hints.nearest(to: word, among: PAMVerb.allCases.map(\.rawValue))
      let meant = guess.map { "; did you mean whorl pam \($0)?" } ?? "; it has \(known)"
      throw CommandFailure(.usage, "pam has no command \(Escaping.quoted(word))\(meant)")
    }
    let scanned = try ArgumentScanner(options: options(of: verb), help: "whorl help pam").scan(Array(words.dropFirst()))
    func given(_ name: String) -> Bool { scanned.options.contains { $0.name == name } }
    if given("help") { return .help(of: .pam) }
    let deed: PAMInvocation.Deed
    switch verb {
    case .enable: deed = .enable(service: try service(scanned.operands, verb), isDry: given("dry-run"))
    case .disable:
      deed = .disable(
        service: try service(scanned.operands, verb), isDry: given("dry-run"), restores: given("restore"))
    case .status:
      if let extra = scanned.operands.first {
        throw CommandFailure(.usage, "pam status takes no argument; leave out \(Escaping.quoted(extra))")
      }
      deed = .status
    case .check:
      for name in scanned.operands { try check(name) }
      deed = .check(services: scanned.operands)
    }
    let folder = scanned.options.last { $0.name == "root" }?.value
    if let folder, !folder.hasPrefix("/") {
      throw CommandFailure(.usage, "--root takes a folder's whole path, not \(Escaping.quoted(folder))")
    }
    let invocation = Invocation.pam(PAMInvocation(deed: deed, root: folder))
    return given("json") ? .json(invocation) : invocation
  }

  private static var known: String { PAMVerb.allCases.map(\.rawValue).joined(separator: ", ") }

  private static func options(of verb: PAMVerb) -> [ArgumentScanner.Option] {
    switch verb {
    case .enable: [dryRun, root, help]
    case .disable: [dryRun, restore, root, help]
    case .status, .check: [json, root, help]
    }
  }

  private static func service(_ operands: [String], _ verb: PAMVerb) throws(CommandFailure) -> String {
    guard let name = operands.first else {
      throw CommandFailure(
        .usage, "pam \(verb.rawValue) needs a PAM service, such as sudo: whorl pam \(verb.rawValue) SERVICE")
    }
    guard operands.count == 1 else {
      throw CommandFailure(
        .usage, "pam \(verb.rawValue) takes one service; leave out \(Escaping.quoted(operands[1]))")
    }
    try check(name)
    return name
  }

  private static func check(_ name: String) throws(CommandFailure) {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
      throw CommandFailure(
        .usage, "no PAM service is called \(Escaping.quoted(name)); give the name of a file in /etc/pam.d, such as sudo"
      )
    }
  }
}
