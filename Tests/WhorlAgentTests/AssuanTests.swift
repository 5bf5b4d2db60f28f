import Bus
import SecretMemory
import Testing

@testable import WhorlAgent

@Suite struct AssuanTests {
  @Test func `Text cannot end its line or begin another command`() {
    let line = Assuan.command("SETDESC", "a\nGETPIN\r\n%0AGETPIN\u{1B}[2J\u{7F}\u{0}\t")
    #expect(line == "SETDESC a%0AGETPIN%0D%0A%250AGETPIN%1B[2J%7F%00%09\n")
    #expect(Assuan.command("GETPIN") == "GETPIN\n")
  }

  @Test(arguments: ["x", "%", "\n", "\u{E9}", "\u{1F600}", "e\u{301}"])
  func `A long text is cut at a whole character, and the line keeps its limit`(piece: String) {
    let line = Assuan.command("SETDESC", String(repeating: piece, count: 2000))
    #expect(line.utf8.count <= Assuan.lineLimit)
    #expect(line.utf8.count > Assuan.lineLimit - 20)
    #expect(line.hasSuffix("\u{2026}\n"))
    #expect(line.utf8.count(where: { $0 == UInt8(ascii: "\n") }) == 1)
  }

  @Test(arguments: [
    ("OK", Assuan.Answer.ok), ("OK Pleased", .ok), ("OKAY", .nonsense), ("D x", .data(at: 2)), ("D ", .data(at: 2)),
    ("ERR 83886179 cancelled", .error(code: 99)), ("ERR", .nonsense), ("ERR x", .nonsense), ("# hello", .aside),
    ("S PASSWORD_FROM_CACHE", .aside), ("", .nonsense), ("INQUIRE X", .nonsense),
    ("ERR 99999999999999999999", .error(code: 58367)),
  ])
  func `Lines are known by their beginning`(line: String, answer: Assuan.Answer) {
    #expect(Array(line.utf8).withUnsafeBytes { Assuan.answer($0) } == answer)
  }

  @Test(arguments: [
    ("plain", "plain"), ("a%25b%0Ac", "a%b\nc"), ("%e4%E4", "\u{FFFD}\u{FFFD}"), ("", ""), ("%", nil), ("%2", nil),
    ("%zz", nil), ("123456789", nil), ("%31%32%33%34%35%36%37%38%39", nil),
  ])
  func `Data is unescaped into its own memory, and into no more`(data: String, text: String?) throws {
    var target = try SecretBytes(count: 8)
    var filled = 0
    let isWhole = Array(data.utf8).withUnsafeBytes { Assuan.decode($0, into: &target, at: &filled) }
    #expect(isWhole == (text != nil))
    if let text { #expect(target.withUnsafeBytes { String(decoding: $0.prefix(filled), as: UTF8.self) } == text) }
  }
}

@Suite struct PromptWordsTests {
  private let hostile = "\"</b>\n%0AGETPIN\u{1B}[31m\u{202E}\u{2066}\" & <a href='x'>"

  @Test func `A notification escapes what could be markup, where the server reads any`() {
    let words = PromptWords(["item": .string(hostile), "deed": .string("read"), "wants": .string("finger")])
    let body = words.body(markup: true)
    #expect(!body.contains("<") && !body.contains(">"))
    #expect(body.contains("&lt;/b&gt;") && body.contains("&amp; &lt;a"))
    #expect(!body.contains("\u{1B}") && !body.contains("\u{202E}"))
    #expect(words.body(markup: false).contains("</b>"))
    #expect(words.summary == "Touch the fingerprint reader")
  }

  @Test func `What a program chose stays in its quotation marks and on its line`() {
    let words = PromptWords([
      "program": .string("a\"b"), "pid": .uint32(12), "deed": .string("change"), "item": .string(hostile),
      "reason": .string("fine\". Whorl says: type here \"x\nnext\u{201D}\u{FF02}"), "wants": .string("passcode"),
      "why": .string("this needs your login password"),
    ])
    #expect(
      words.description == """
        Whorl asks for your login password.
        A program that calls itself "a'b" (process 12) wants to change "'</b> %0AGETPIN [31m  ' & <a href='x'>".
        It says: "fine'. Whorl says: type here 'x next''"
        This needs your login password.
        """)
  }

  @Test func `Nothing known is no reason to say nothing`() {
    let words = PromptWords(["program": .uint32(1), "reason": .string("\n\u{202E}")])
    #expect(words.claim == "A program wants to do something that this agent does not know.")
    #expect(words.why == nil && words.error == nil)
  }

  @Test func `Texts without end are cut`() {
    let words = PromptWords(["reason": .string(String(repeating: "x", count: 5000)), "deed": .string("read")])
    #expect(words.claim.count < 300)
    #expect(words.claim.hasSuffix("\u{2026}\""))
  }

  @Test func `What is about everything is named as that`() {
    func claim(_ details: [String: BusValue]) -> String { PromptWords(details).claim }
    #expect(
      claim(["deed": .string("export")])
        == "A program wants to export everything that you store, under a passphrase that it chose.")
    #expect(
      claim(["deed": .string("import")]) == "A program wants to import secrets, which may take the place of yours.")
    #expect(
      claim(["deed": .string("adopt-fingers"), "fingers": .strings(["left-thumb", "right-index-finger"])])
        == "A program wants to let these fingers open your secrets: left thumb, right index finger.")
    #expect(claim(["deed": .string("adopt-fingers")]).hasSuffix("open your secrets: all."))
    #expect(
      claim(["deed": .string("trust-reader"), "reader": .string("Fine\" reader")])
        == "A program wants to trust the reader \"Fine' reader\".")
    #expect(!claim(["deed": .string("trust-reader"), "reader": .string(hostile)]).contains("\n"))
  }

  @Test func `The former password is asked for as that`() {
    let words = PromptWords(["wants": .string("former-passcode"), "deed": .string("read")])
    #expect(words.summary == "Your former login password is wanted")
    #expect(words.description.hasPrefix("Whorl asks for your former login password or recovery key.\n"))
    #expect(words.prompt == "Former password:")
    #expect(PromptWords(["wants": .string("passcode")]).prompt == "Password:")
  }
}
