import SecretMemory
import Testing

@testable import KeychainArchive

@Suite struct PlainListTests {
  private struct Entry: Equatable, CustomStringConvertible {
    var name: String
    var secret: String
    var line: Int
    init(_ name: String, _ secret: String, _ line: Int) { (self.name, self.secret, self.line) = (name, secret, line) }
    var description: String { "\(name) in line \(line)" }
  }

  private func entries(_ text: String, _ format: PlainListReader.Format) throws -> [Entry] {
    try entries(Array(text.utf8), format)
  }

  private func entries(_ bytes: [UInt8], _ format: PlainListReader.Format) throws -> [Entry] {
    let reader = PlainListReader(try secret(bytes), format: format)
    var found: [Entry] = []
    while let entry = try reader.next() {
      found.append(Entry(entry.name, String(decoding: array(entry.secret), as: UTF8.self), entry.line))
    }
    return found
  }

  private func problem(_ text: String, _ format: PlainListReader.Format = .csv) throws -> PlainListError? {
    do {
      _ = try entries(text, format)
      return nil
    } catch let error as PlainListError {
      return error
    }
  }

  @Test(arguments: [
    "mail,hunter2\nbank,1234", "mail,hunter2\r\nbank,1234\r\n", "name,secret\nmail,hunter2\nbank,1234\n",
    "\u{FEFF}Name,SECRET\r\nmail,hunter2\r\nbank,1234", "\"mail\",\"hunter2\"\n\"bank\",1234\n",
    "\nmail,hunter2\n\n\r\nbank,1234\n\n", "\"name\",\"secret\"\nmail,hunter2\nbank,1234",
  ])
  func `a CSV file gives its pairs`(text: String) throws {
    #expect(try entries(text, .csv).map { [$0.name, $0.secret] } == [["mail", "hunter2"], ["bank", "1234"]])
  }

  @Test func `quoted fields hold commas, quotes and line ends`() throws {
    let text = "\"a,b\",\"say \"\"hi\"\"\"\n\"c\r\nd\",\"line 1\nline 2\n\"\ne,\"\"\"\"\nf, blanks stay \n"
    #expect(
      try entries(text, .csv) == [
        Entry("a,b", "say \"hi\"", 1), Entry("c\r\nd", "line 1\nline 2\n", 2), Entry("e", "\"", 6),
        Entry("f", " blanks stay ", 7),
      ])
  }

  @Test func `only the first record can be the header`() throws {
    #expect(try entries("mail,x\nname,secret\n", .csv) == [Entry("mail", "x", 1), Entry("name", "secret", 2)])
    #expect(try entries("names,secret\n", .csv) == [Entry("names", "secret", 1)])
    #expect(try entries("name,secret\nname,secret\n", .csv) == [Entry("name", "secret", 2)])
  }

  @Test func `pairs are taken as they stand`() throws {
    let text = "\u{FEFF}mail=hunter2\n\n a b =\"x\" # no comment\r\nkey=a=b==\n#c=\\n\nlast=end\r"
    #expect(
      try entries(text, .pairs) == [
        Entry("mail", "hunter2", 1), Entry(" a b ", "\"x\" # no comment", 3), Entry("key", "a=b==", 4),
        Entry("#c", "\\n", 5), Entry("last", "end\r", 6),
      ])
  }

  @Test func `a secret is any bytes`() throws {
    let reader = PlainListReader(try secret(Array("a,".utf8) + [0, 255, 128]), format: .csv)
    guard let entry = try reader.next() else {
      Issue.record("no entry")
      return
    }
    #expect(array(entry.secret) == [0, 255, 128])
  }

  @Test func `names that only look the same are two`() throws {
    #expect(try entries("\u{E9}=1\ne\u{301}=2", .pairs).count == 2)
  }

  @Test func `nothing at all gives nothing`() throws {
    for text in ["", "\n", "\r\n\r\n", "name,secret", "\u{FEFF}"] { #expect(try entries(text, .csv).isEmpty) }
    for text in ["", "\n", "\r\n"] { #expect(try entries(text, .pairs).isEmpty) }
  }

  @Test(
    arguments: [
      ("a,b\nsesame\n", 2, .fields(1)), ("a,sesame,c\n", 1, .fields(3)), ("\"\"\n", 1, .fields(1)),
      (",sesame", 1, .noName), ("a,\n", 1, .noSecret), ("a,\"\"\n", 1, .noSecret), ("a\0,sesame", 1, .badName),
      ("a,ses\"ame\n", 1, .strayQuote), ("a,\"ses\"ame\n", 1, .afterQuote), ("a,\"ses\" \n", 1, .afterQuote),
      ("x,y\na,\"sesame\n\n", 2, .openQuote), ("a,ses\rame", 1, .strayReturn), ("a,\"sesame\"\r", 1, .strayReturn),
      ("a,sesame\n\n\"b\nc\",d\na,e\n", 5, .sameName(line: 1)),
    ] as [(String, Int, PlainListError.Problem)])
  func `what is wrong with a CSV file is told by its line`(
    text: String, line: Int, problem: PlainListError.Problem
  ) throws {
    let found = try #require(try self.problem(text))
    #expect(found == PlainListError(line: line, problem: problem))
    #expect(found.description.hasPrefix("line \(line): "))
    #expect(!found.description.contains("sesame"))
  }

  @Test(
    arguments: [
      ("a=b\nsesame\n", 2, .noEqualsSign), ("=sesame", 1, .noName), ("a=\n", 1, .noSecret), ("a=\r\n", 1, .noSecret),
      ("a=sesame\nb=c\na=d", 3, .sameName(line: 1)), ("a\0=sesame", 1, .badName),
    ] as [(String, Int, PlainListError.Problem)])
  func `what is wrong with pairs is told by its line`(
    text: String, line: Int, problem: PlainListError.Problem
  ) throws {
    let found = try #require(try self.problem(text, .pairs))
    #expect(found == PlainListError(line: line, problem: problem))
    #expect(!found.description.contains("sesame"))
  }

  @Test func `a name that is not UTF-8 is refused`() throws {
    #expect(throws: PlainListError(line: 1, problem: .badName)) { try entries([0xFF, 0xFE, 0x2C, 0x61], .csv) }
  }

  @Test func `names and secrets are bounded`() throws {
    let name = String(repeating: "n", count: 4096)
    #expect(try entries("\(name)=s", .pairs).count == 1)
    #expect(try problem("\(name)n=s", .pairs) == PlainListError(line: 1, problem: .longName(limit: 4096)))
    let long = String(repeating: "s", count: 1 << 20)
    #expect(try entries("n,\(long)", .csv).count == 1)
    #expect(try problem("n,\(long)s") == PlainListError(line: 1, problem: .longSecret(limit: 1 << 20)))
    // Doubled quotes count once.
    let quotes = String(repeating: "\"\"", count: 1 << 20)
    #expect(try entries("n,\"\(quotes)\"", .csv).first?.secret.utf8.count == 1 << 20)
  }

  @Test func `any text is read or refused`() throws {
    var random = SystemRandomNumberGenerator()
    let pieces = ["\"", ",", "\n", "\r\n", "\r", "=", "a", "\u{E9}", "\0", "name,secret", "\"\""]
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      for format in [PlainListReader.Format.csv, .pairs] { _ = try? entries(text, format) }
    }
  }

  @Test func `attributes of a named secret have the documented form`() {
    #expect(
      PlainAttributes.bytes(service: "w", name: "ab") == [UInt8](repeating: 0, count: 24) + [1]
        + [1, 1, 0, 0, 0] + Array("w".utf8) + [2, 2, 0, 0, 0] + Array("ab".utf8) + [4, 2, 0, 0, 0] + Array("ab".utf8))
  }
}
