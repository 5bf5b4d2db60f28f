import Testing

@testable import WhorlCommand

@Suite struct ParserTests {
  private func parse(_ words: String...) throws -> Invocation { try InvocationParser.parse(words) }

  private func failure(_ words: String...) -> CommandFailure? {
    do throws(CommandFailure) {
      _ = try InvocationParser.parse(words)
      return nil
    } catch { return error }
  }

  @Test func `each command is understood`() throws {
    let left = try #require(FingerName("left-thumb"))
    #expect(try parse("status") == .status)
    #expect(try parse("enroll") == .enroll(.standard, user: nil))
    #expect(try parse("enroll", "left-thumb") == .enroll(left, user: nil))
    #expect(try parse("verify") == .verify(nil, user: nil))
    #expect(try parse("fingers") == .fingers(user: nil))
    #expect(try parse("delete") == .delete(nil, user: nil, confirmed: false))
    #expect(try parse("delete", "--all") == .delete(nil, user: nil, confirmed: true))
    #expect(try parse("delete", "left-thumb") == .delete(left, user: nil, confirmed: false))
    #expect(try parse("set", "mail") == .set(name: "mail", requirement: nil, accessible: nil))
    #expect(try parse("get", "mail") == .get(name: "mail"))
    #expect(try parse("list") == .list)
    #expect(try parse("rm", "mail") == .remove(name: "mail"))
  }

  @Test func `the finger without a name is the right index finger`() throws {
    #expect(try parse("enroll") == .enroll(try #require(FingerName("right-index-finger")), user: nil))
  }

  @Test func `options stand before or after the name, with the value in the same word or the next`() throws {
    let expected = Invocation.set(name: "mail", requirement: .current, accessible: nil)
    #expect(try parse("set", "mail", "--require", "current") == expected)
    #expect(try parse("set", "--require=current", "mail") == expected)
    #expect(try parse("set", "-r", "current", "mail") == expected)
    #expect(try parse("set", "-rcurrent", "mail") == expected)
    #expect(try parse("enroll", "-u", "paul") == .enroll(.standard, user: "paul"))
    #expect(try parse("adopt") == .adopt([]))
    #expect(
      try parse("adopt", "left-thumb", "right-thumb")
        == .adopt([try #require(FingerName("left-thumb")), try #require(FingerName("right-thumb"))]))
    #expect(try parse("reader", "list") == .readerList)
    #expect(try parse("reader", "trust") == .readerTrust(id: nil))
    #expect(try parse("reader", "trust", "0a") == .readerTrust(id: "0a"))
    #expect(try parse("reader", "distrust") == .readerDistrust(.unnamed))
    #expect(try parse("reader", "distrust", "0a") == .readerDistrust(.id("0a")))
    #expect(try parse("reader", "-a", "distrust") == .readerDistrust(.all))
    #expect(try parse("delete", "-au", "paul") == .delete(nil, user: "paul", confirmed: true))
  }

  @Test func `an agent is one of the desktop, or of a terminal with what its starter wants of it`() throws {
    #expect(try parse("agent") == .agent(AgentOrder()))
    #expect(try parse("agent", "--pinentry", "/x") == .agent(AgentOrder(pinentry: "/x")))
    #expect(try parse("agent", "--terminal") == .agent(AgentOrder(isOnTerminal: true)))
    #expect(
      try parse("agent", "--terminal", "--process", "7", "--ready-fd=3", "--parent-fd", "0")
        == .agent(AgentOrder(isOnTerminal: true, process: 7, readyDescriptor: 3, parentDescriptor: 0)))
    for words in [
      ["--pinentry", "x"], ["--terminal", "--pinentry", "/x"], ["--process", "7"], ["--ready-fd", "3"],
      ["--parent-fd", "0"], ["--terminal", "--process", "0"], ["--terminal", "--process", "-1"],
      ["--terminal", "--ready-fd", "x"], ["--terminal", "--parent-fd", "-1"], ["--terminal", "x"],
    ] {
      #expect(throws: CommandFailure.self) { try InvocationParser.parse(["agent"] + words) }
    }
  }

  @Test func `two dashes end the options, and one dash is a name`() throws {
    #expect(try parse("get", "--", "--mail") == .get(name: "--mail"))
    #expect(try parse("rm", "--", "--") == .remove(name: "--"))
    #expect(try parse("get", "-") == .get(name: "-"))
    #expect(try parse("--", "list") == .list)
  }

  @Test func `help and version are found anywhere that an option may stand`() throws {
    #expect(try parse("--help") == .help(of: nil))
    #expect(try parse("-h") == .help(of: nil))
    #expect(try parse("help") == .help(of: nil))
    #expect(try parse("help", "get") == .help(of: .get))
    #expect(try parse("--help", "get") == .help(of: .get))
    #expect(try parse("get", "--help") == .help(of: .get))
    #expect(try parse("--version") == .version)
    #expect(try parse("-V") == .version)
  }

  @Test(arguments: [
    ["frob"], ["get", "--frob", "x"], ["get", "-z", "x"], ["enroll", "toe"], ["set", "x", "--require", "blood"],
    ["adopt", "toe"], ["reader", "frob"], ["reader", "list", "extra"], ["reader", "trust", "0a", "extra"],
    ["reader", "trust", "--all"], ["reader", "distrust", "0a", "--all"],
    ["list", "extra"], ["status", "extra"], ["fingers", "left-thumb"], ["enroll", "left-thumb", "right-thumb"],
    ["set", "x", "--require"], ["enroll", "--user"], ["delete", "--all=yes"], ["--frob"], ["list", "--all"],
    ["help", "frob"], ["--help", "frob"], ["help", "get", "extra"], ["--version", "extra"], ["-V", "status"],
    ["--help", "get", "extra"], ["forget", "paul", "--uid", "1"],
    ["set", "x", "--require", "any", "--require", "none"],
  ])
  func `a wrong word is a usage error that names it`(words: [String]) throws {
    let failure = try #require(
      throws: CommandFailure.self, performing: { () throws -> Void in _ = try InvocationParser.parse(words) })
    #expect(failure.code == .usage)
    #expect(!failure.message.contains("\n"))
    let named = [
      "status", "paul", "frob", "--frob", "-z", "toe", "blood", "extra", "left-thumb", "right-thumb", "--require",
      "--user", "--all",
    ]
    #expect(named.contains { failure.message.contains($0) }, "\(failure.message)")
  }

  @Test(arguments: [
    ("stauts", "status"), ("enrol", "enroll"), ("verfy", "verify"), ("Get", "get"), ("lst", "list"),
    ("rename_user", "rename-user"), ("hlep", "help"),
  ])
  func `a mistyped command names the one that was meant`(typed: String, meant: String) {
    #expect(failure(typed)?.message.contains("did you mean whorl \(meant)?") == true)
  }

  @Test(arguments: ["x", "frobnicate", "\u{1B}[2J", ""])
  func `a command like none lists them all`(typed: String) {
    #expect(failure(typed)?.message.contains("the commands are status, enroll") == true)
  }

  @Test func `two ways to say whose data is forgotten are one too many, and the line says which to leave out`() {
    #expect(failure("forget", "paul", "--uid", "1")?.message.hasSuffix("leave out \"paul\" or --uid") == true)
  }

  @Test func `what is wrong with an option points to the command's help, and for names to two dashes`() throws {
    #expect(failure("get", "-mail")?.message.contains("whorl help get") == true)
    #expect(failure("get", "-mail")?.message.contains("write --") == true)
    #expect(failure("enroll", "-x")?.message.contains("write --") == false)
    #expect(failure("set", "x", "--require")?.message.contains("whorl help set") == true)
    #expect(try parse("set", "x", "-rany", "--require=any") == .set(name: "x", requirement: .any, accessible: nil))
  }

  @Test(arguments: [
    [], ["set"], ["get"], ["rm"], ["get", ""], ["enroll", "--user="], ["delete", "left-thumb", "--all"], ["reader"],
    ["reader", "trust", ""],
  ])
  func `a missing, empty or contradicting word is a usage error`(words: [String]) throws {
    let failure = try #require(
      throws: CommandFailure.self, performing: { () throws -> Void in _ = try InvocationParser.parse(words) })
    #expect(failure.code == .usage)
  }

  @Test func `a secret that was typed as an argument is not repeated`() {
    let failure = failure("set", "mail", "hunter2")
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains("hunter2") == false)
    #expect(failure?.message.contains("never from an argument") == true)
    #expect(self.failure("set", "mail", "--password=hunter2")?.message.contains("hunter2") == false)
  }

  @Test func `a name of more than the store's limit is refused with both numbers`() {
    let failure = failure("get", String(repeating: "n", count: 4097))
    #expect(failure?.message.contains("4097") == true)
    #expect(failure?.message.contains("4096") == true)
    #expect(self.failure("get", String(repeating: "n", count: 4096)) == nil)
  }

  @Test func `every requirement has its constraints, and back`() {
    for requirement in Requirement.allCases {
      #expect(Requirement(constraints: requirement.constraints) == requirement)
    }
    #expect(Requirement(constraints: ["user-presence", "biometry-any"]) == nil)
  }
}

@Suite struct EscapingTests {
  @Test(arguments: [
    ("plain text", "plain text"), ("Zoë 日本 🙂", "Zoë 日本 🙂"), ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
    ("\u{1B}[2Jgone", "\\u{1B}[2Jgone"), ("\u{7}", "\\u{7}"), ("\u{7F}\u{9B}31m", "\\u{7F}\\u{9B}31m"),
    ("\u{202E}gnp.exe", "\\u{202E}gnp.exe"), ("a\u{2028}b", "a\\u{2028}b"), ("back\\slash", "back\\\\slash"),
    ("\u{0}", "\\u{0}"), ("\u{1B}\u{301}", "\\u{1B}\u{301}"), ("\r\n", "\\r\\n"),
  ])
  func `what a terminal would obey is shown and not sent`(raw: String, shown: String) {
    #expect(Escaping.shown(raw) == shown)
  }

  @Test(arguments: [
    ("Plug one in.", "Plug one in"), ("Plug one in., or not", "Plug one in, or not"), ("A.; b.", "a; b"),
    ("The reader is hot.", "the reader is hot"), ("Goodix MOC is hot", "Goodix MOC is hot"), ("TPM", "TPM"),
    ("cut...", "cut..."), ("", ""), (".", ""), ("v1.2 is old. ", "v1.2 is old"),
  ])
  func `a daemon's sentence loses its full stop inside another`(raw: String, clause: String) {
    #expect(Escaping.clause(raw) == clause)
  }

  @Test(arguments: [
    ("mail", "mail"), ("my mail", "'my mail'"), ("it's", "'it'\\''s'"), ("-x", "-- -x"),
    ("a\n'\\", "$'a\\U0000000A\\'\\\\'"),
    ("$(rm)", "'$(rm)'"), ("", "''"), ("~", "'~'"),
  ])
  func `a name is quoted for the shell where it has to be`(raw: String, word: String) {
    #expect(Escaping.operand(raw) == word)
  }

  @Test func `long text is cut`() {
    #expect(Escaping.shown(String(repeating: "x", count: 100), limit: 10) == "xxxxxxxxxx...")
  }
}
