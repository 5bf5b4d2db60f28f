/// Turns the words after the program's name into an ``Invocation``.
enum InvocationParser {
  /// The most bytes that a secret's name may have.
  static let nameLimit = 4096

  private static let help = ArgumentScanner.Option(name: "help", letter: "h", takesValue: false)
  private static let version = ArgumentScanner.Option(name: "version", letter: "V", takesValue: false)
  private static let user = ArgumentScanner.Option(name: "user", letter: "u", takesValue: true)
  private static let all = ArgumentScanner.Option(name: "all", letter: "a", takesValue: false)
  private static let uid = ArgumentScanner.Option(name: "uid", letter: nil, takesValue: true)
  private static let yes = ArgumentScanner.Option(name: "yes", letter: "y", takesValue: false)
  private static let accessible = ArgumentScanner.Option(name: "accessible", letter: "c", takesValue: true)
  private static let recovery = ArgumentScanner.Option(name: "recovery", letter: nil, takesValue: false)
  private static let replace = ArgumentScanner.Option(name: "replace", letter: nil, takesValue: false)
  private static let revoke = ArgumentScanner.Option(name: "revoke", letter: nil, takesValue: false)
  private static let require = ArgumentScanner.Option(name: "require", letter: "r", takesValue: true)

  private static let json = ArgumentScanner.Option(name: "json", letter: nil, takesValue: false)

  /// - Throws: `.usage`, naming the word that is wrong.
  static func parse(_ words: [String]) throws(CommandFailure) -> Invocation {
    let words = words.first == "--" ? Array(words.dropFirst()) : words
    // The verb is the first word that is not an option; what stands before it is --help or --version.
    guard let verbAt = words.firstIndex(where: { !$0.hasPrefix("-") || $0 == "-" }) else {
      return try parseVerbless(words)
    }
    if verbAt > 0 {
      let early = try ArgumentScanner(options: [help, version], help: "whorl --help").scan(Array(words[..<verbAt]))
      // Whoever gives more words than that means something else.
      let isVersion = early.options.first?.name == "version"
      if let extra = words[verbAt...].dropFirst(isVersion ? 0 : 1).first {
        throw CommandFailure(
          .usage,
          "--\(isVersion ? "version takes no argument" : "help takes one command"); leave out \(Escaping.quoted(extra))"
        )
      }
      return isVersion ? .version : .help(of: try topic(words[verbAt]))
    }
    let word = words[verbAt]
    if word == "help" {
      let rest = words.dropFirst()
      guard rest.count <= 1 else {
        throw CommandFailure(.usage, "help takes one command; leave out \(Escaping.quoted(rest[2]))")
      }
      return .help(of: try rest.first.flatMap { word throws(CommandFailure) in try topic(word) })
    }
    guard let verb = Verb(rawValue: word) else { throw unknown(word) }
    return try parse(verb, Array(words.dropFirst()))
  }

  /// The command of which help is wanted; nil for all of them.
  private static func topic(_ word: String) throws(CommandFailure) -> Verb? {
    if ["help", "--help", "-h"].contains(word) { return nil }
    guard let verb = Verb(rawValue: word) else { throw unknown(word) }
    return verb
  }

  private static func unknown(_ word: String) -> CommandFailure {
    let known = Verb.allCases.map(\.rawValue).joined(separator: ", ")
    let guess = Hints.nearest(to: word, among: Verb.allCases.map(\.rawValue) + ["help"])
    let meant = guess.map { "; did you mean whorl \($0)? whorl --help lists them all" } ?? "; the commands are \(known)"
    return CommandFailure(.usage, "unknown command \(Escaping.quoted(word))\(meant)")
  }

  private static func parseVerbless(_ words: [String]) throws(CommandFailure) -> Invocation {
    let scanned = try ArgumentScanner(options: [help, version], help: "whorl --help").scan(words)
    guard let first = scanned.options.first else {
      throw CommandFailure(.usage, "no command given; whorl --help lists them")
    }
    return first.name == "version" ? .version : .help(of: nil)
  }

  private static func options(of verb: Verb) -> [ArgumentScanner.Option] {
    switch verb {
    case .enroll, .verify: [user, help]
    case .fingers: [user, json, help]
    case .delete: [user, all, help]
    case .reader: [all, json, help]
    case .set: [require, accessible, help]
    case .unlock, .recover: [recovery, help]
    case .recoveryKey: [replace, revoke, help]
    case .forget: [uid, yes, help]
    case .export: BackupOrders.exportOptions + [help]
    case .importFile: BackupOrders.importOptions + [require, accessible, help]
    case .agent: AgentOrder.options + [help]
    case .log: [json, help]
    case .status, .list, .keychain, .keyring: [json, help]
    case .renameUser, .adopt, .get, .rm, .lock, .key, .pam: [help]
    }
  }

  private static func parse(_ verb: Verb, _ words: [String]) throws(CommandFailure) -> Invocation {
    if verb == .pam { return try PAMInvocationParser.parse(words) }
    if verb == .key {
      // Its parts have options of their own; this one is of "list" alone.
      guard words.first == "list", words.contains("--json") else { return try KeyInvocationParser.parse(words) }
      return .json(try KeyInvocationParser.parse(words.filter { $0 != "--json" }))
    }
    let scanned = try ArgumentScanner(
      options: options(of: verb), help: "whorl help \(verb.rawValue)",
      takesNames: [.set, .get, .rm, .export, .importFile, .forget, .renameUser].contains(verb)
    ).scan(words)
    func value(_ name: String) -> String? { scanned.options.last { $0.name == name }?.value }
    func given(_ name: String) -> Bool { scanned.options.contains { $0.name == name } }
    if given("help") { return .help(of: verb) }

    // Which of two was meant is not to be guessed: the secret would be kept under the wrong one.
    for name in ["require", "accessible"]
    where Set(scanned.options.filter { $0.name == name }.map(\.value)).count > 1 {
      throw CommandFailure(.usage, "--\(name) is given twice with different values; give it once")
    }
    let operands = scanned.operands
    let invocation = try parse(verb, operands, scanned, value: value, given: given)
    guard given("json") else { return invocation }
    switch invocation {
    case .status, .fingers, .list, .readerList, .keychain(.check), .keyring(.status), .log: return .json(invocation)
    default: throw CommandFailure(.usage, "--json is for what prints data; leave it out here")
    }
  }

  private static func parse(
    _ verb: Verb, _ operands: [String], _ scanned: ArgumentScanner.Result, value: (String) -> String?,
    given: (String) -> Bool
  ) throws(CommandFailure) -> Invocation {
    switch verb {
    case .status:
      try none(operands, verb)
      return .status
    case .list:
      try none(operands, verb)
      return .list
    case .fingers:
      try none(operands, verb)
      return .fingers(user: try userName(value("user")))
    case .enroll:
      return .enroll(try finger(operands, verb) ?? .standard, user: try userName(value("user")))
    case .verify:
      return .verify(try finger(operands, verb), user: try userName(value("user")))
    case .delete:
      let finger = try finger(operands, verb)
      if finger != nil, given("all") {
        throw CommandFailure(.usage, "delete takes a finger or --all, not both")
      }
      return .delete(finger, user: try userName(value("user")), confirmed: given("all"))
    case .adopt:
      return .adopt(
        try operands.map { word throws(CommandFailure) in try finger([word], verb) ?? .standard })
    case .reader:
      return try reader(operands, all: given("all"))
    case .set:
      return .set(
        name: try itemName(operands, verb), requirement: try requirement(value("require")),
        accessible: try accessibility(value("accessible")))
    case .get: return .get(name: try itemName(operands, verb))
    case .rm: return .remove(name: try itemName(operands, verb))
    // Parsed before.
    case .key, .pam: return .help(of: verb)
    case .export: return .export(try BackupOrders.export(operands, scanned.options))
    case .importFile:
      return .importFile(
        try BackupOrders.import(
          operands, scanned.options, try requirement(value("require")), try accessibility(value("accessible"))))
    case .log:
      try none(operands, verb)
      return .log
    case .agent:
      try none(operands, verb)
      return .agent(try AgentOrder(scanned.options))
    case .unlock:
      try none(operands, verb)
      return .unlock(recovery: given("recovery"))
    case .recover:
      try none(operands, verb)
      return .recover(recovery: given("recovery"))
    case .lock:
      try none(operands, verb)
      return .lock
    case .keychain:
      guard operands.count == 1, let deed = KeychainDeed(rawValue: operands[0]) else {
        throw CommandFailure(.usage, "keychain takes check or rekey: whorl keychain check")
      }
      return .keychain(deed)
    case .keyring:
      guard operands.count == 1, let deed = KeyringDeed(rawValue: operands[0]) else {
        let known = KeyringDeed.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(.usage, "keyring takes one of \(known): whorl keyring status")
      }
      return .keyring(deed)
    case .recoveryKey:
      try none(operands, verb)
      guard !given("replace") || !given("revoke") else {
        throw CommandFailure(.usage, "recovery-key takes --replace or --revoke, not both")
      }
      return .recoveryKey(given("replace") ? .replace : given("revoke") ? .revoke : .make)
    case .forget:
      return .forget(try forgetTarget(operands, value("uid")), confirmed: given("yes"))
    case .renameUser:
      guard operands.count == 2, operands.allSatisfy({ !$0.isEmpty }) else {
        throw CommandFailure(.usage, "rename-user takes two names: whorl rename-user OLD NEW")
      }
      return .renameUser(old: operands[0], new: operands[1])
    }
  }

  private static func none(_ operands: [String], _ verb: Verb) throws(CommandFailure) {
    guard let extra = operands.first else { return }
    throw CommandFailure(.usage, "\(verb.rawValue) takes no argument; leave out \(Escaping.quoted(extra))")
  }

  private static func reader(_ operands: [String], all: Bool) throws(CommandFailure) -> Invocation {
    let known = "list, trust or distrust"
    guard let deed = operands.first else {
      throw CommandFailure(.usage, "reader needs to know what to do: \(known)")
    }
    guard operands.count <= 2 else {
      throw CommandFailure(.usage, "reader \(deed) takes one reader; leave out \(Escaping.quoted(operands[2]))")
    }
    let id = operands.count == 2 ? operands[1] : nil
    if let id, id.isEmpty { throw CommandFailure(.usage, "the reader's id is empty; whorl reader list shows it") }
    if all, deed != "distrust" || id != nil {
      throw CommandFailure(.usage, "--all goes with reader distrust, and with no reader; leave it out")
    }
    switch deed {
    case "list":
      guard id == nil else {
        throw CommandFailure(.usage, "reader list takes no argument; leave out \(Escaping.quoted(operands[1]))")
      }
      return .readerList
    case "trust": return .readerTrust(id: id)
    case "distrust": return .readerDistrust(all ? .all : id.map { .id($0) } ?? .unnamed)
    default:
      throw CommandFailure(.usage, "reader does not know \(Escaping.quoted(deed)); it takes \(known)")
    }
  }

  private static func finger(_ operands: [String], _ verb: Verb) throws(CommandFailure) -> FingerName? {
    guard operands.count <= 1 else {
      throw CommandFailure(.usage, "\(verb.rawValue) takes one finger; leave out \(Escaping.quoted(operands[1]))")
    }
    guard let word = operands.first else { return nil }
    guard let finger = FingerName(word) else {
      let known = FingerName.all.map(\.name).joined(separator: ", ")
      throw CommandFailure(.usage, "no finger is called \(Escaping.quoted(word)); the fingers are \(known)")
    }
    return finger
  }

  private static func itemName(_ operands: [String], _ verb: Verb) throws(CommandFailure) -> String {
    guard let name = operands.first else {
      throw CommandFailure(.usage, "\(verb.rawValue) needs the secret's name: whorl \(verb.rawValue) NAME")
    }
    guard operands.count == 1 else {
      // The word may be the secret itself, typed by mistake: it is not repeated.
      let hint = verb == .set ? "; the secret comes from standard input or the prompt, never from an argument" : ""
      throw CommandFailure(.usage, "\(verb.rawValue) takes one name, \(operands.count) words were given\(hint)")
    }
    guard !name.isEmpty else { throw CommandFailure(.usage, "the secret's name is empty; give it one") }
    guard name.utf8.count <= nameLimit else {
      throw CommandFailure(.usage, "the secret's name has \(name.utf8.count) bytes; use \(nameLimit) at most")
    }
    return name
  }

  /// One name, or `--uid`: digits are a name, since some directories have such names.
  private static func forgetTarget(_ operands: [String], _ uid: String?) throws(CommandFailure) -> ForgetTarget {
    guard uid == nil || operands.isEmpty else {
      throw CommandFailure(
        .usage,
        "forget takes a user's name or --uid NUMBER, not both; leave out \(Escaping.quoted(operands[0])) or --uid")
    }
    guard uid != nil || operands.count == 1 else {
      throw CommandFailure(.usage, "forget takes one user's name, or --uid NUMBER: whorl forget NAME")
    }
    if let uid {
      guard let number = UInt32(uid), uid.allSatisfy(\.isASCII), number != .max else {
        throw CommandFailure(.usage, "--uid takes a number of 0 to \(UInt32.max - 1), not \(Escaping.quoted(uid))")
      }
      return .uid(number)
    }
    guard !operands[0].isEmpty else { throw CommandFailure(.usage, "the user's name is empty; give one") }
    return .name(operands[0])
  }

  private static func userName(_ value: String?) throws(CommandFailure) -> String? {
    guard let value else { return nil }
    guard !value.isEmpty else { throw CommandFailure(.usage, "--user is empty; give a user's name") }
    return value
  }

  private static func accessibility(_ value: String?) throws(CommandFailure) -> Accessibility? {
    guard let value else { return nil }
    guard let accessibility = Accessibility(rawValue: value) else {
      let known = Accessibility.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandFailure(.usage, "--accessible does not know \(Escaping.quoted(value)); it takes one of \(known)")
    }
    return accessibility
  }

  private static func requirement(_ value: String?) throws(CommandFailure) -> Requirement? {
    guard let value else { return nil }
    guard let requirement = Requirement(rawValue: value) else {
      let known = Requirement.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandFailure(.usage, "--require does not know \(Escaping.quoted(value)); it takes one of \(known)")
    }
    return requirement
  }
}
