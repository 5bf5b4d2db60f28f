import GLibLoop
import Glibc
import KeychainArchive
import SecretMemory
import TestKit
import Testing
import WhorlClient

@testable import WhorlCommand

@Suite struct BackupCommandTests {
  private let folder: TemporaryFolder
  private var file: String { folder("backup") }
  /// The beginning of an export file, and something behind it.
  private static let sealed =
    "WHORL\r\n\u{1A}\u{1}\0\u{1}\u{1}\u{3}\0\0\0\0\0\u{1}\0" + String(repeating: "x", count: 100)

  init() throws {
    GLibLoop.startThread()
    folder = try TemporaryFolder()
  }

  /// The names in the folder.
  private var names: [String] {
    guard let open = opendir(folder.path) else { return [] }
    defer { closedir(open) }
    var names: [String] = []
    while let entry = readdir(open) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private func bytes(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    bytes.removeLast(bytes.count - max(0, read(descriptor, &bytes, bytes.count)))
    return bytes
  }

  private func mode(of path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  /// What an export file in memory, under that passphrase, holds: names, secrets and access control.
  private func content(_ imported: (bytes: [UInt8], passphrase: [UInt8], plan: WhorlImportPlan)?) throws -> [String] {
    let imported = try #require(imported)
    let file = try MemoryFile.make(name: "test")
    defer { close(file) }
    write(file, imported.bytes, imported.bytes.count)
    let key = try ArchiveKey.open(file, passphrase: try SecretBytes(copying: imported.passphrase.span.bytes))
    let reader = try ArchiveReader(file, key: key)
    var found: [String] = []
    while let record = try reader.next() {
      #expect(record.accessControl.isEmpty)
      let secret = record.secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      for name in ["mail", "bank"] where record.attributes == PlainAttributes.bytes(service: "whorl", name: name) {
        found.append("\(name)=\(secret)")
      }
    }
    return found
  }

  // MARK: - Export

  @Test @GLibActor func `an export is written to a new file of the owner's alone, after password and finger`()
    async throws
  {
    let fixture = Fixture()
    fixture.console.answers = ["a long passphrase", "a long passphrase", "open sesame"]
    fixture.service.passcode = "open sesame"
    fixture.service.export = (
      Array(Self.sealed.utf8),
      { result in
        (result.exported, result.thisDeviceOnly, result.privateKeys, result.gone) = (12, 2, 1, 3)
      }
    )
    #expect(await fixture.run("export", file) == .ok)
    #expect(bytes(of: file) == Array(Self.sealed.utf8))
    #expect(mode(of: file) == 0o600)
    #expect(names == ["backup"])
    #expect(
      fixture.console.asked == [
        "Passphrase for the export: ", "The same again: ", "Your password, to export all your secrets: ",
      ])
    #expect(fixture.service.calls.last == "close")
    let told = fixture.console.told.joined(separator: "\n")
    #expect(told.contains("Touch the reader (Fake Reader) to export all your secrets."))
    #expect(told.contains("Exported 12 secrets to \"\(file)\""))
    #expect(
      told.contains(
        "Left out: 2 (on this device only), 1 (private keys, which never leave Whorl), 3 (gone, since the fingers changed)."
      ))
    #expect(fixture.console.printed.isEmpty)
  }

  @Test @GLibActor func `an existing file is refused before anything is asked, and replaced with force`() async throws {
    try folder.write("old", to: "backup")
    let fixture = Fixture()
    fixture.console.answers = ["phrase", "phrase", "open sesame"]
    fixture.service.passcode = "open sesame"
    fixture.service.export.bytes = [1]
    #expect(await fixture.run("export", file) == .failed)
    #expect(fixture.complaint.contains("\"\(file)\" exists"))
    #expect(fixture.complaint.contains("--force"))
    #expect(fixture.console.asked.isEmpty && fixture.service.calls.isEmpty)
    #expect(bytes(of: file) == Array("old".utf8))
    #expect(await fixture.run("export", "--force", file) == .ok)
    #expect(bytes(of: file) == [1])
    #expect(mode(of: file) == 0o600)
    #expect(names == ["backup"])
  }

  @Test @GLibActor func `a file that appears meanwhile is not replaced`() async throws {
    let fixture = Fixture()
    fixture.console.answers = ["phrase", "phrase", "open sesame"]
    fixture.service.passcode = "open sesame"
    let folder = folder
    fixture.service.export = ([1], { _ in _ = try? folder.write("other", to: "backup") })
    #expect(await fixture.run("export", file) == .failed)
    #expect(fixture.complaint.contains("exists"))
    #expect(bytes(of: file) == Array("other".utf8))
    #expect(names == ["backup"])
  }

  @Test(arguments: [WhorlError(.biometryLockout, ""), WhorlError(.tooLarge, "The export file is too large; x.")])
  @GLibActor func `where the daemon refuses, no file is left`(problem: WhorlError) async throws {
    let fixture = Fixture()
    fixture.console.answers = ["phrase", "phrase"]
    fixture.service.problems["export"] = [problem]
    #expect(await fixture.run("export", file) != .ok)
    #expect(names.isEmpty)
    #expect(fixture.service.calls.last == "close" || fixture.service.calls.last == "status")
  }

  @Test @GLibActor func `places where no file can be are named`() async throws {
    let fixture = Fixture()
    try folder.makeFolder("folder")
    #expect(await fixture.run("export", folder("folder")) == .failed)
    #expect(await fixture.run("export", "--force", folder("folder")) == .failed)
    #expect(fixture.complaint.contains("no regular file"))
    #expect(await fixture.run("export", folder("missing/backup")) == .failed)
    #expect(fixture.complaint.contains("No such file or directory"))
    symlink(folder("elsewhere"), folder("link"))
    #expect(await fixture.run("export", folder("link")) == .failed)
    #expect(names == ["folder", "link"])
    #expect(fixture.service.calls.isEmpty && fixture.console.asked.isEmpty)
  }

  @Test @GLibActor func `passphrases that differ or are empty are refused`() async throws {
    for answers in [["one", "two"], [""]] {
      let fixture = Fixture()
      fixture.console.answers = answers
      #expect(await fixture.run("export", file) == .failed)
      #expect(fixture.service.calls.isEmpty)
      #expect(names.isEmpty)
    }
  }

  @Test @GLibActor func `to standard output it goes only where that is no terminal`() async throws {
    let fixture = Fixture()
    fixture.console.answers = ["phrase", "phrase", "open sesame"]
    fixture.service.passcode = "open sesame"
    fixture.service.export.bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
    fixture.console.outputIsTerminal = true
    #expect(await fixture.run("export", "-") == .usage)
    #expect(fixture.console.asked.isEmpty)
    fixture.console.outputIsTerminal = false
    let output = try MemoryFile.make(name: "test")
    defer { close(output) }
    fixture.console.outputDescriptor = output
    #expect(await fixture.run("export", "-") == .ok)
    var written = [UInt8](repeating: 0, count: 300_001)
    #expect(pread(output, &written, written.count, 0) == 300_000)
    #expect(written.dropLast().elementsEqual(fixture.service.export.bytes))
    #expect(fixture.console.printed.isEmpty && fixture.console.emitted == nil)
  }

  @Test @GLibActor func `the passphrase can come from a descriptor`() async throws {
    for (text, meant) in [("a phrase\n", "a phrase"), ("a phrase", "a phrase"), ("a phrase\n\n", "a phrase\n")] {
      let fixture = Fixture()
      fixture.console.answers = ["open sesame"]
      fixture.service.passcode = "open sesame"
      let phrase = open(try folder.write(text, to: "phrase"), O_RDONLY)
      defer { close(phrase) }
      #expect(
        await fixture.run("export", folder("x\(meant.count)\(text.count)"), "--passphrase-fd", "\(phrase)") == .ok)
      #expect(fixture.service.calls.contains("export \(meant)"))
    }
    let fixture = Fixture()
    #expect(await fixture.run("export", file, "--passphrase-fd=999999") == .usage)
    #expect(fixture.complaint.contains("999"))
    #expect(!names.contains("backup"))
  }

  @Test @GLibActor func `without a terminal the passphrase is needed from elsewhere`() async throws {
    let fixture = Fixture()
    fixture.console.hasTerminal = false
    #expect(await fixture.run("export", file) == .noTerminal)
    #expect(fixture.complaint.contains("--passphrase-fd"))
    #expect(names.isEmpty)
  }

  @Test @GLibActor func `secrets that could not be read are told and counted as a failure`() async throws {
    let fixture = Fixture()
    fixture.console.answers = ["phrase", "phrase", "open sesame"]
    fixture.service.passcode = "open sesame"
    fixture.service.export = ([1], { $0.unreadable = 2 })
    #expect(await fixture.run("export", file) == .failed)
    #expect(fixture.complaint.contains("2 secrets could not be read"))
    #expect(bytes(of: file) == [1])
  }

  // MARK: - Import

  @Test @GLibActor func `an export file goes to the daemon as it is`() async throws {
    let fixture = Fixture()
    fixture.console.answers = ["phrase"]
    fixture.service.archivePassphrase = "phrase"
    fixture.service.importAnswer.added = 3
    try folder.write(Self.sealed, to: "backup")
    #expect(await fixture.run("import", file) == .ok)
    #expect(fixture.service.imported?.bytes == Array(Self.sealed.utf8))
    #expect(fixture.service.imported?.plan == WhorlImportPlan(existing: .refuse))
    #expect(fixture.console.asked == ["Passphrase of \"\(file)\": "])
    #expect(fixture.console.told == ["Imported 3 secrets."])
  }

  @Test @GLibActor func `a wrong passphrase is asked for again, three times at most`() async throws {
    let fixture = Fixture()
    fixture.console.answers = ["wrong", "phrase", "wrong", "wrong", "wrong", "phrase"]
    fixture.service.archivePassphrase = "phrase"
    try folder.write(Self.sealed, to: "backup")
    #expect(await fixture.run("import", file) == .ok)
    #expect(fixture.console.told.first == "That is not the passphrase of \"\(file)\"; try again.")
    #expect(await fixture.run("import", file) == .authenticationFailed)
    #expect(fixture.console.answers == ["phrase"])
    #expect(fixture.complaint.contains("nothing was imported"))
  }

  @Test @GLibActor func `what exists is refused, skipped or replaced as the options say`() async throws {
    let fixture = Fixture()
    fixture.service.passcode = "open sesame"
    try folder.write(Self.sealed, to: "backup")
    fixture.service.problems["import"] = [
      WhorlError(.duplicateItem, "2 of the items exist, \"mail\" first; skip or replace them.")
    ]
    fixture.console.answers = ["p"]
    #expect(await fixture.run("import", file) == .failed)
    #expect(
      fixture.complaint == "\"\(file)\": 2 of the items exist, \"mail\" first; nothing was imported: leave what exists "
        + "with --skip-existing, or put the file's in its place with --replace")
    fixture.console.answers = ["p"]
    fixture.service.importAnswer.skipped = 1
    #expect(await fixture.run("import", file, "--skip-existing") == .ok)
    #expect(fixture.service.imported?.plan.existing == .skip)
    #expect(fixture.console.told.last == "Imported 0 secrets; skipped 1 that exists.")
    fixture.service.importAnswer = WhorlImported()
    fixture.service.importAnswer.replaced = 2
    fixture.console.answers = ["p", "open sesame"]
    #expect(await fixture.run("import", file, "--replace") == .ok)
    #expect(fixture.console.asked.last == "Your password, to replace secrets of yours: ")
    #expect(fixture.console.told.last == "Imported 2 secrets, 2 of them in place of others.")
  }

  @Test @GLibActor func `a list becomes an export file that only the daemon can read`() async throws {
    let lists = [
      ("--csv", "name,secret\nmail,\"a \"\"b\"\"\"\r\nbank,\"1,2\"\n", ["mail=a \"b\"", "bank=1,2"]),
      ("--pairs", "mail=a=b\n\nbank= 1\n", ["mail=a=b", "bank= 1"]),
    ]
    for (option, text, expected) in lists {
      let fixture = Fixture()
      fixture.console.hasTerminal = false
      try folder.write(text, to: "list")
      #expect(await fixture.run("import", option, folder("list")) == .ok)
      #expect(try content(fixture.service.imported) == expected)
      #expect(fixture.service.imported?.passphrase.count == 32)
      #expect(fixture.service.imported?.plan.constraints == [.userPresence])
      #expect(fixture.console.asked.isEmpty)
      #expect(fixture.console.told.last?.contains("delete it") == true)
      #expect(await fixture.run("import", option, folder("list"), "--require", "none", "--skip-existing") == .ok)
      #expect(fixture.service.imported?.plan == WhorlImportPlan(existing: .skip))
      #expect(await fixture.run("import", option, folder("list"), "--accessible", "when-unlocked") == .ok)
      #expect(fixture.service.imported?.plan.protection == .whenUnlocked)
    }
  }

  @Test @GLibActor func `a list is read from standard input too`() async throws {
    let fixture = Fixture()
    let input = open(try folder.write("mail=x", to: "list"), O_RDONLY)
    defer { close(input) }
    fixture.console.inputDescriptor = input
    #expect(await fixture.run("import", "--pairs", "-", "--require=any") == .ok)
    #expect(try content(fixture.service.imported) == ["mail=x"])
    #expect(fixture.service.imported?.plan.constraints == [.biometryAny])
    #expect(fixture.console.told == ["Imported 0 secrets."])
  }

  @Test(arguments: [
    ("--csv", "mail,one\nsesame", "line 2"), ("--csv", "mail,sesame,x\n", "line 1"),
    ("--pairs", "a=b\nsesame", "line 2"),
    ("--pairs", "\n\n", "no secret"), ("--csv", "name,secret\n", "no secret"),
  ])
  @GLibActor func `a list with a fault is refused whole, by its line`(
    option: String, text: String, named: String
  ) async throws {
    let fixture = Fixture()
    try folder.write(text, to: "list")
    #expect(await fixture.run("import", option, folder("list")) == .failed)
    #expect(fixture.complaint.contains(named), "\(fixture.complaint)")
    #expect(!fixture.complaint.contains("sesame"))
    #expect(fixture.service.calls.isEmpty)
  }

  @Test @GLibActor func `files that cannot be imported are told why`() async throws {
    let fixture = Fixture()
    #expect(await fixture.run("import", folder("missing")) == .notFound)
    #expect(fixture.complaint.contains("missing"))
    let other = Fixture()
    try folder.write("name,secret\n", to: "list")
    other.console.answers = ["p"]
    #expect(await other.run("import", folder("list")) == .failed)
    #expect(other.complaint.contains("--csv"))
    #expect(await other.run("import", folder.path) == .failed)
    for (text, named) in [
      ("", "no export file"), (String(Self.sealed.prefix(50)), "not whole"),
      (Self.sealed.replacing("\u{1}\0\u{1}", with: "\u{7}\0\u{1}"), "newer version"),
    ] {
      let third = Fixture()
      third.console.answers = ["p"]
      try folder.write(text, to: "list")
      #expect(await third.run("import", folder("list")) == .failed)
      #expect(third.complaint.contains(named), "\(third.complaint)")
      #expect(third.console.asked.isEmpty)
    }
    // Nobody types a passphrase for nothing.
    #expect(fixture.console.asked.isEmpty && other.console.asked.isEmpty && other.service.calls.isEmpty)
  }

  // MARK: - Words

  @Test(arguments: [
    ["export"], ["export", "a", "b"], ["export", ""], ["export", "-", "--force"], ["export", "a", "--passphrase-fd=x"],
    ["export", "a", "--passphrase-fd=-1"], ["import"], ["import", "a", "--csv", "--pairs"],
    ["import", "a", "--skip-existing", "--replace"], ["import", "a", "--require", "any"],
    ["import", "a", "--accessible", "always"],
    ["import", "a", "--csv", "--passphrase-fd=3"], ["import", "-", "--passphrase-fd=0"], ["import", "a", "--force"],
  ])
  @GLibActor func `words that do not fit are a usage error`(words: [String]) async throws {
    let failure = try #require(
      throws: CommandFailure.self, performing: { () throws -> Void in _ = try InvocationParser.parse(words) })
    #expect(failure.code == .usage)
  }

  @Test func `options stand anywhere`() throws {
    #expect(
      try InvocationParser.parse(["export", "-f", "--passphrase-fd", "3", "--", "-x"])
        == .export(ExportOrder(file: "-x", overwrites: true, passphrase: 3)))
    #expect(
      try InvocationParser.parse(["import", "--replace", "f", "--csv", "-r", "none"])
        == .importFile(ImportOrder(file: "f", format: .csv, existing: .replace, requirement: Requirement.none)))
  }
}
