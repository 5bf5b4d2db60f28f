import Bus
import Foundation
import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

/// `whorl export` and `whorl import` against the real daemon.
@Suite(.timeLimit(.minutes(4))) struct BackupTests {
  /// A daemon with an enrolled finger and three secrets.
  private func filled() async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    for (name, options) in [
      ("finger", ["--require", "any"]), ("open", ["--require", "none"]),
      ("here", ["--require", "none", "--accessible", "always-this-device-only"]),
    ] {
      let stored = try await world.whorl(["set", name] + options, to: "secret of \(name)")
      #expect(stored.status == 0, "\(stored.errorText)")
    }
    return world
  }

  /// Exports everything to that file: passphrase, password, finger.
  private func export(_ world: World, to file: String) async throws {
    let program = try world.startOnTerminal(["export", file])
    try await program.waitFor("Passphrase for the export: ")
    try program.write("six words of some length\n")
    try await program.waitFor("The same again: ")
    try program.write("six words of some length\n")
    try await program.waitFor("Your password, to export all your secrets: ")
    try program.write(World.passcode + "\n")
    try await world.answer(program, with: [SyntheticFinger.leftLoop.press(2)], in: .output)
    let exported = try await program.wait()
    #expect(exported.status == 0, "\(exported.text)")
    #expect(exported.text.contains("Exported 2 secrets to \"\(file)\""), "\(exported.text)")
    #expect(exported.text.contains("Left out: 1 (on this device only)."), "\(exported.text)")
  }

  private func list(_ world: World) async throws -> [String] {
    try await world.whorl(["list"]).text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }.sorted()
  }

  private func imported(
    _ world: World, _ file: String, _ options: [String] = [], passphrase: String = "six words of some length"
  ) async throws -> RunningProgram.Result {
    try await world.whorl(["import", file, "--passphrase-fd", "0"] + options, to: passphrase + "\n")
  }

  @Test func `An export takes password and finger, and what it holds comes back whole or not at all`() async throws {
    let world = try await filled()
    let file = world.folder("backup.whorl")
    try await export(world, to: file)
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    #expect(try Bytes.read(file).firstRange(of: Array("secret of".utf8)) == nil)

    // All of it is there: nothing is imported, and what is there stays.
    let refused = try await imported(world, file)
    #expect(refused.status == 1)
    #expect(refused.errorText.contains("--skip-existing"), "\(refused.errorText)")
    let skipped = try await imported(world, file, ["--skip-existing"])
    #expect(skipped.status == 0 && skipped.errorText.contains("skipped 2"), "\(skipped.errorText)")

    #expect(try await world.whorl(["rm", "finger"]).status == 0)
    #expect(try await world.whorl(["set", "open"], to: "newer").status == 0)
    // One of two is there.
    let conflict = try await imported(world, file)
    #expect(conflict.status == 1 && conflict.errorText.contains("\"whorl / open\""), "\(conflict.errorText)")
    let wrong = try await imported(world, file, ["--replace"], passphrase: "wrong")
    #expect(wrong.status == 4, "\(wrong.errorText)")
    #expect(try await list(world) == ["here", "open"])
    #expect(try await world.whorl(["get", "open"]).text == "newer")

    let back = try await imported(world, file, ["--skip-existing"])
    #expect(back.status == 0 && back.errorText.contains("Imported 1 secret; skipped 1"), "\(back.errorText)")
    #expect(try await list(world) == ["finger", "here", "open"])
    #expect(try await world.whorl(["get", "open"]).text == "newer")
    let opened = try await world.whorl(["get", "finger"], pressing: [SyntheticFinger.leftLoop.press(3)])
    #expect(opened.text == "secret of finger", "\(opened.errorText)")

    // Replacing asks for the finger that the old one asks for.
    let replacing = try world.start(
      ["import", file, "--replace", "--passphrase-fd", "0"], input: "six words of some length\n")
    try await world.answer(replacing, with: [SyntheticFinger.leftLoop.press(4)])
    let replaced = try await replacing.wait()
    #expect(replaced.status == 0 && replaced.errorText.contains("2 of them in place"), "\(replaced.errorText)")
    #expect(try await world.whorl(["get", "open"]).text == "secret of open")
  }

  @Test func `An export without the password, or with a wrong finger, writes nothing`() async throws {
    let world = try await filled()
    let file = world.folder("backup.whorl")
    let silent = try await world.whorl(["export", file, "--passphrase-fd", "0"], to: "words\n")
    #expect(silent.status == 12, "\(silent.errorText)")
    let program = try world.startOnTerminal(["export", file])
    for (question, answer) in [
      ("Passphrase for the export: ", "words"), ("The same again: ", "words"), ("Your password", World.passcode),
    ] {
      try await program.waitFor(question)
      try program.write(answer + "\n")
    }
    try await world.answer(program, with: (1...3).map { SyntheticFinger.whorl.press($0) }, in: .output)
    #expect(try await program.wait().status == 4)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: world.folder.path).allSatisfy { !$0.contains("backup") })
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: world.folder.path).allSatisfy { !$0.contains("whorl-export") }
    )
  }

  @Test func `Files that were cut, altered or made by others change nothing`() async throws {
    let world = try await filled()
    let file = world.folder("backup.whorl")
    try await export(world, to: file)
    let bytes = try Bytes.read(file)
    #expect(try await world.whorl(["rm", "finger"]).status == 0)
    #expect(try await world.whorl(["rm", "open"]).status == 0)
    var flipped = bytes
    flipped[bytes.count - 20] ^= 4
    for (content, status) in [
      (Array(bytes.dropLast()), Int32(1)), (flipped, 1), (bytes + [0], 1), (Array("name,secret\n".utf8), 1), ([], 1),
    ] {
      try Bytes.write(content, to: file)
      let result = try await imported(world, file)
      #expect(result.status == status, "\(result.errorText)")
    }
    #expect(try await list(world) == ["here"])
  }

  @Test @GLibActor func `Descriptors and options that make no sense are refused by name, and never waited for`()
    async throws
  {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    let client = try await Client(world)
    let context = try await client.newContext(["prompts-itself": .boolean(true)])
    let phrase = try Client.sealed("phrase")
    var pipes: [Int32] = [0, 0]
    try #require(pipe(&pipes) == 0)
    let (unsealed, sparse) = (try MemoryFile.make(name: "test"), try MemoryFile.make(name: "test"))
    try #require(ftruncate(sparse, 256 << 20 + 1) == 0)
    try MemoryFile.seal(sparse)
    let empty = try MemoryFile.make(name: "test")
    try MemoryFile.seal(empty)
    defer { for file in [phrase, unsealed, sparse, empty] + pipes { close(file) } }
    /// Each call takes the passphrase, and wipes it.
    func problem(
      file: Int32, phrase text: String? = "phrase", in context: BusValue = context, _ options: [String: BusValue] = [:]
    ) async throws -> String? {
      let phrase = if let text { try Client.sealed(text) } else { dup(pipes[0]) }
      defer { close(phrase) }
      return try await client.error(
        "Keychain1", "Import", [context, .handle(0), .handle(1), .options(options)], descriptors: [phrase, file])
    }
    #expect(try await problem(file: pipes[0]) == "org.whorl.Error.Param")
    #expect(try await problem(file: unsealed) == "org.whorl.Error.Param")
    #expect(try await problem(file: sparse) == "org.whorl.Error.TooLarge")
    #expect(try await problem(file: empty, phrase: nil) == "org.whorl.Error.Param")
    #expect(try await problem(file: empty) == "org.whorl.Error.NotArchive")
    #expect(try await problem(file: empty, in: .uint32(99)) == "org.whorl.Error.InvalidContext")
    #expect(try await problem(file: empty, ["existing": .string("maybe")]) == "org.whorl.Error.Param")
    #expect(try await problem(file: empty, ["frob": .boolean(true)]) == "org.whorl.Error.Param")
    #expect(try await problem(file: empty, phrase: String(repeating: "x", count: 1025)) == "org.whorl.Error.TooLarge")

    func exported(_ text: String, _ context: BusValue = context) async throws -> String? {
      let phrase = try Client.sealed(text)
      defer { close(phrase) }
      return try await client.error(
        "Keychain1", "Export", [context, .handle(0), .options([:])], descriptors: [phrase])
    }
    #expect(try await exported("phrase") == "org.whorl.Error.PasscodeNeeded")
    #expect(try await exported("phrase", .uint32(99)) == "org.whorl.Error.InvalidContext")
    // The passcode is one context's, and for one export.
    _ = try await client.call(
      "Authentication1", "ProvidePasscode", [context, .handle(0)], descriptors: [try Client.sealed(World.passcode)])
    let other = try await client.newContext(["prompts-itself": .boolean(true)])
    #expect(try await exported("phrase", other) == "org.whorl.Error.PasscodeNeeded")
    #expect(try await exported("") == "org.whorl.Error.Param")
    #expect(try await exported("phrase") == nil)
    #expect(try await exported("phrase") == "org.whorl.Error.PasscodeNeeded")
  }

  @Test func `Lists are taken over, and a fault in one line refuses all of it`() async throws {
    let world = try await World()
    try await world.startDaemon()
    let faulty = try await world.whorl(["import", "--csv", "-", "-r", "none"], to: "mail,a\nbank,\"sesame\n")
    #expect(faulty.status == 1 && faulty.errorText.contains("line 2"), "\(faulty.errorText)")
    #expect(!faulty.errorText.contains("sesame"))
    #expect(try await list(world) == [])
    let csv = try await world.whorl(
      ["import", "--csv", "-", "-r", "none"], to: "name,secret\r\nmail,\"say \"\"hi\"\",\nyou\"\r\nbank,1234\r\n")
    #expect(csv.status == 0 && csv.errorText.contains("Imported 2 secrets."), "\(csv.errorText)")
    #expect(try await world.whorl(["get", "mail"]).text == "say \"hi\",\nyou")
    let conflict = try await world.whorl(["import", "--pairs", "-", "-r", "none"], to: "new=1\nmail=2\n")
    #expect(conflict.status == 1, "\(conflict.errorText)")
    #expect(try await list(world) == ["bank", "mail"])
    let pairs = try await world.whorl(
      ["import", "--pairs", "-", "-r", "none", "--replace"], to: "new=a=b\nmail= 2 \n")
    #expect(pairs.status == 0, "\(pairs.errorText)")
    #expect(try await world.whorl(["get", "mail"]).text == " 2 ")
    #expect(try await world.whorl(["get", "new"]).text == "a=b")
    let many = (0..<3000).map { "name \($0),secret \($0)\n" }.joined()
    let large = try await world.whorl(["import", "--csv", "-", "-r", "none"], to: many)
    #expect(large.status == 0 && large.errorText.contains("Imported 3000 secrets"), "\(large.errorText)")
    #expect(try await world.whorl(["get", "name 2999"]).text == "secret 2999")
  }
}
