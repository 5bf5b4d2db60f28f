/// Turns the words after `whorl key` into a ``KeyInvocation``.
enum KeyInvocationParser {
  private static let help = ArgumentScanner.Option(name: "help", letter: "h", takesValue: false)
  private static let type = ArgumentScanner.Option(name: "type", letter: "t", takesValue: true)
  private static let require = ArgumentScanner.Option(name: "require", letter: "r", takesValue: true)
  private static let accessible = ArgumentScanner.Option(name: "accessible", letter: "c", takesValue: true)
  private static let raw = ArgumentScanner.Option(name: "raw", letter: nil, takesValue: false)
  private static let hash = ArgumentScanner.Option(name: "hash", letter: nil, takesValue: true)
  private static let digest = ArgumentScanner.Option(name: "digest", letter: nil, takesValue: false)

  /// - Throws: `.usage`, naming the word that is wrong.
  static func parse(_ words: [String]) throws(CommandFailure) -> Invocation {
    guard let word = words.first else {
      throw CommandFailure(.usage, "key needs a word more, one of \(known); whorl help key says what they do")
    }
    if ["--help", "-h"].contains(word) { return .help(of: .key) }
    guard let verb = KeyVerb(rawValue: word) else {
      let guess = Hints.nearest(to: word, among: KeyVerb.allCases.map(\.rawValue))
      let meant = guess.map { "; did you mean whorl key \($0)?" } ?? "; it has \(known)"
      throw CommandFailure(.usage, "key has no command \(Escaping.quoted(word))\(meant)")
    }
    let scanned = try ArgumentScanner(options: options(of: verb), help: "whorl help key", takesNames: verb != .list)
      .scan(Array(words.dropFirst()))
    for option in Set(scanned.options.map(\.name)) {
      // Which of two was meant is not to be guessed.
      guard Set(scanned.options.filter { $0.name == option }.map(\.value)).count == 1 else {
        throw CommandFailure(.usage, "--\(option) is given twice with different values; give it once")
      }
    }
    func value(_ name: String) -> String? { scanned.options.last { $0.name == name }?.value }
    func given(_ name: String) -> Bool { scanned.options.contains { $0.name == name } }
    if given("help") { return .help(of: .key) }
    switch verb {
    case .list:
      guard let extra = scanned.operands.first else { return .key(.list) }
      throw CommandFailure(.usage, "key list takes no argument; leave out \(Escaping.quoted(extra))")
    case .generate:
      return .key(
        .generate(
          name: try name(scanned.operands, verb), kind: try choice(value("type"), "type") ?? .ed25519,
          requirement: try choice(value("require"), "require") ?? .presence,
          accessible: try choice(value("accessible"), "accessible") ?? .always))
    case .publicKey: return .key(.publicKey(name: try name(scanned.operands, verb), raw: given("raw")))
    case .sign:
      return .key(
        .sign(
          name: try name(scanned.operands, verb), hash: try choice(value("hash"), "hash"), isDigest: given("digest")))
    case .delete: return .key(.delete(name: try name(scanned.operands, verb)))
    }
  }

  private static var known: String { KeyVerb.allCases.map(\.rawValue).joined(separator: ", ") }

  private static func options(of verb: KeyVerb) -> [ArgumentScanner.Option] {
    switch verb {
    case .generate: [type, require, accessible, help]
    case .publicKey: [raw, help]
    case .sign: [hash, digest, help]
    case .list, .delete: [help]
    }
  }

  private static func name(_ operands: [String], _ verb: KeyVerb) throws(CommandFailure) -> String {
    guard let name = operands.first else {
      throw CommandFailure(.usage, "key \(verb.rawValue) needs the key's name: whorl key \(verb.rawValue) NAME")
    }
    guard operands.count == 1 else {
      throw CommandFailure(
        .usage, "key \(verb.rawValue) takes one name; leave out \(Escaping.quoted(operands[1]))")
    }
    guard !name.isEmpty else { throw CommandFailure(.usage, "the key's name is empty; give it one") }
    guard name.utf8.count <= nameLimit else {
      throw CommandFailure(.usage, "the key's name has \(name.utf8.count) bytes; use \(nameLimit) at most")
    }
    return name
  }

  /// The most bytes of a key's name.
  static let nameLimit = 1024

  private static func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ value: String?, _ option: String
  ) throws(CommandFailure) -> Value? {
    guard let value else { return nil }
    guard let found = Value(rawValue: value) else {
      let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandFailure(.usage, "--\(option) does not know \(Escaping.quoted(value)); it takes one of \(known)")
    }
    return found
  }
}
