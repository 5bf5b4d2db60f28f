import Foundation
import GLibLoop
import TestKit
import Testing
import WhorlClient

@testable import WhorlCommand

@Suite(.timeLimit(.minutes(2))) struct KeyCommandTests {
  init() { GLibLoop.startThread() }

  @GLibActor private func fixture(_ kind: KeyKind = .ed25519, _ requirement: Requirement = .any, isGone: Bool = false)
    -> Fixture
  {
    let fixture = Fixture()
    fixture.service.storedKeys = [
      KeyListing(
        name: "login", type: kind.busName, constraints: requirement.constraints, isGone: isGone,
        publicKey: [UInt8](repeating: 4, count: kind == .p256 ? 65 : 32))
    ]
    return fixture
  }

  @Test(arguments: [
    (
      ["generate", "k"], KeyInvocation.generate(name: "k", kind: .ed25519, requirement: .presence, accessible: .always)
    ),
    (
      ["generate", "k", "--type", "p256", "-r", "current"],
      .generate(name: "k", kind: .p256, requirement: .current, accessible: .always)
    ),
    (
      ["generate", "-tp256", "--require=none", "--", "-k"],
      .generate(name: "-k", kind: .p256, requirement: .none, accessible: .always)
    ),
    (
      ["generate", "k", "-c", "when-unlocked"],
      .generate(name: "k", kind: .ed25519, requirement: .presence, accessible: .whenUnlocked)
    ),
    (["list"], .list), (["public", "k"], .publicKey(name: "k", raw: false)),
    (["public", "--raw", "k"], .publicKey(name: "k", raw: true)),
    (["sign", "k"], .sign(name: "k", hash: nil, isDigest: false)),
    (["sign", "k", "--hash", "sha512", "--digest"], .sign(name: "k", hash: .sha512, isDigest: true)),
    (["delete", "k"], .delete(name: "k")),
  ])
  func `each word is understood`(words: [String], expected: KeyInvocation) throws {
    #expect(try InvocationParser.parse(["key"] + words) == .key(expected))
  }

  @Test(arguments: [
    ([], "generate, list"), (["genrate", "k"], "whorl key generate"), (["frob"], "frob"), (["list", "k"], "\"k\""),
    (["generate"], "key generate NAME"), (["sign"], "key sign NAME"), (["sign", "a", "b"], "\"b\""),
    (["generate", "k", "--type", "rsa"], "ed25519, p256"), (["generate", "k", "--raw"], "--raw"),
    (["generate", "k", "-c", "never"], "after-first-unlock"),
    (["sign", "k", "--hash", "md5"], "sha256, sha384, sha512"), (["delete", ""], "empty"),
    (["generate", "k", "-t", "p256", "-t", "ed25519"], "--type"), (["sign", "k", "--digest=1"], "--digest"),
    (["generate", String(repeating: "n", count: 1025)], "1025 bytes"),
  ])
  func `a wrong word is a usage error that names it`(words: [String], named: String) throws {
    let failure = try #require(
      throws: CommandFailure.self,
      performing: { () throws -> Void in _ = try InvocationParser.parse(["key"] + words) })
    #expect(failure.code == .usage)
    #expect(failure.message.contains(named), "\(failure.message)")
    #expect(!failure.message.contains("\n"))
  }

  @Test(arguments: [["key", "--help"], ["key", "-h"], ["help", "key"], ["key", "sign", "k", "--help"]])
  func `help is about keys wherever it is asked for`(words: [String]) throws {
    #expect(try InvocationParser.parse(words) == .help(of: .key))
  }

  @Test @GLibActor func `a new key writes its public half, and a name is taken once`() async {
    let fixture = Fixture()
    #expect(await fixture.run("key", "generate", "login", "--require", "any") == .ok)
    #expect(fixture.service.calls.contains("generate login ed25519 any"))
    #expect(fixture.console.printed.first?.hasPrefix("-----BEGIN PUBLIC KEY-----\n") == true)
    #expect(await fixture.run("key", "generate", "login") == .failed)
    #expect(fixture.complaint.contains("\"login\"") && fixture.complaint.contains("whorl key delete login"))
  }

  @Test @GLibActor func `a key that only fingers use warns where there is none, and for today's fingers is refused`()
    async
  {
    let fixture = Fixture()
    fixture.service.statusAnswer.biometry = "not-enrolled"
    #expect(await fixture.run("key", "generate", "login", "--require", "any") == .ok)
    #expect(fixture.console.told.contains { $0.contains("\"login\"") && $0.contains("whorl enroll") })
    #expect(await fixture.run("key", "generate", "other", "--require", "current") == .noFingers)
    #expect(fixture.complaint.contains("then generate it"))
    #expect(fixture.service.storedKeys.count == 1)
  }

  @Test @GLibActor func `a signature comes out byte for byte, after a touch that names the key`() async {
    let fixture = fixture()
    fixture.console.input = [0, 1, 255]
    #expect(await fixture.run("key", "sign", "login") == .ok)
    #expect(fixture.console.emitted == Array("ed25519 by login of ".utf8) + [0, 1, 255])
    #expect(fixture.service.calls.contains("sign sign with the key \"login\""))
    #expect(fixture.console.told.contains { $0.contains("to sign with the key \"login\"") })
    #expect(fixture.service.calls.last == "close")
  }

  @Test @GLibActor func `on a terminal a signature is base64`() async {
    let fixture = fixture()
    fixture.console.outputIsTerminal = true
    fixture.console.input = [0, 1, 255]
    #expect(await fixture.run("key", "sign", "login") == .ok)
    #expect(fixture.console.emitted == nil)
    let expected = Data(Array("ed25519 by login of ".utf8) + [0, 1, 255]).base64EncodedString()
    #expect(fixture.console.printed == [expected])
  }

  @Test(arguments: [
    ([], 5, "ecdsa-sha256"), (["--hash", "sha384"], 5, "ecdsa-sha384"), (["--hash", "sha512"], 0, "ecdsa-sha512"),
    (["--digest"], 32, "ecdsa-digest-sha256"), (["--digest", "--hash", "sha384"], 48, "ecdsa-digest-sha384"),
    (["--digest", "--hash", "sha512"], 64, "ecdsa-digest-sha512"),
  ])
  @GLibActor func `a key of P-256 signs by the hash that is asked for`(options: [String], count: Int, name: String)
    async
  {
    let fixture = fixture(.p256, .none)
    fixture.console.input = [UInt8](repeating: 7, count: count)
    let commands = Commands(
      console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
    #expect(await commands.run(["key", "sign", "login"] + options) == .ok)
    #expect(fixture.console.emitted?.starts(with: Array("\(name) by".utf8)) == true)
  }

  @Test @GLibActor func `a digest of another length, or options for another kind of key, are refused before any touch`()
    async
  {
    let digest = fixture(.p256)
    digest.console.input = Array("0123".utf8)
    #expect(await digest.run("key", "sign", "login", "--digest") == .failed)
    #expect(digest.complaint.contains("4 bytes") && digest.complaint.contains("32"))
    let edwards = fixture(.ed25519)
    #expect(await edwards.run("key", "sign", "login", "--hash", "sha256") == .usage)
    #expect(await edwards.run("key", "sign", "login", "--digest") == .usage)
    for service in [digest.service, edwards.service] { #expect(!service.calls.contains { $0.hasPrefix("sign") }) }
  }

  @Test @GLibActor func `a key that takes the passcode alone asks for it`() async {
    let fixture = fixture(.ed25519, .passcode)
    fixture.service.passcode = "right"
    fixture.console.answers = ["right"]
    #expect(await fixture.run("key", "sign", "login") == .ok)
    #expect(fixture.console.asked.count == 1)
  }

  @Test @GLibActor func `the public half is written without a touch, as PEM or raw`() async {
    let fixture = fixture(.p256)
    #expect(await fixture.run("key", "public", "login") == .ok)
    #expect(fixture.console.printed.first?.contains("BEGIN PUBLIC KEY") == true)
    #expect(await fixture.run("key", "public", "login", "--raw") == .ok)
    #expect(fixture.console.emitted == [UInt8](repeating: 4, count: 65))
    #expect(fixture.console.told.isEmpty)
  }

  @Test @GLibActor func `the list has name, type and requirement, and what is gone`() async {
    let fixture = fixture(.p256, .current, isGone: true)
    fixture.service.storedKeys.append(
      KeyListing(
        name: "a\tb", type: "rsa", constraints: ["x", "y"], isGone: false, protection: "when-unlocked", publicKey: []))
    #expect(await fixture.run("key", "list") == .ok)
    #expect(fixture.console.printed == ["login\tp256\tcurrent gone", "a\\tb\trsa\tx+y when-unlocked"])
  }

  @Test(arguments: [["sign"], ["public"]])
  @GLibActor func `a key that is gone says so, and one that is not there too`(word: [String]) async {
    let gone = fixture(.ed25519, .current, isGone: true)
    let commands = Commands(console: gone.console, surroundings: gone.surroundings, service: gone.service)
    #expect(await commands.run(["key"] + word + ["login"]) == .gone)
    #expect(gone.complaint.contains("whorl key delete login"))
    let none = Fixture()
    let others = Commands(console: none.console, surroundings: none.surroundings, service: none.service)
    #expect(await others.run(["key"] + word + ["login"]) == .notFound)
    #expect(none.complaint.contains("whorl key list"))
  }

  @Test @GLibActor func `keys that end with the set of fingers are named before a finger is enrolled or deleted`() async
  {
    let fixture = fixture(.p256, .current)
    fixture.service.fingers = ["left-thumb"]
    #expect(await fixture.run("delete", "left-thumb") == .ok)
    let warning = "This destroys the keys that require the current fingers: \"login\"."
    #expect(fixture.console.told.contains(warning))
    fixture.service.fingers = ["right-thumb"]
    fixture.service.stored = [.init(name: "mail", constraints: Requirement.current.constraints, secret: [])]
    #expect(await fixture.run("delete", "--all") == .ok)
    #expect(
      fixture.console.told.contains(
        "This destroys the secrets that require the current fingers: \"mail\"; and the keys that require the current "
          + "fingers: \"login\"."))
  }

  @Test @GLibActor func `a key is deleted without asking`() async {
    let fixture = fixture()
    #expect(await fixture.run("key", "delete", "login") == .ok)
    #expect(fixture.service.storedKeys.isEmpty)
    #expect(await fixture.run("key", "delete", "login") == .notFound)
  }

  @Test @GLibActor func `base64 and PEM are as others write them`() async throws {
    for count in 0..<100 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
      #expect(Base64.text(bytes) == Data(bytes).base64EncodedString())
    }
    // The key of RFC 8410, 10.1.
    let key: [UInt8] = [
      0x19, 0xbf, 0x44, 0x09, 0x69, 0x84, 0xcd, 0xfe, 0x85, 0x41, 0xba, 0xc1, 0x67, 0xdc, 0x3b, 0x96, 0xc8, 0x50, 0x86,
      0xaa, 0x30, 0xb6, 0xb6, 0xcb, 0x0c, 0x5c, 0x38, 0xad, 0x70, 0x31, 0x66, 0xe1,
    ]
    #expect(
      Base64.pem(.ed25519, key) == """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
        -----END PUBLIC KEY-----
        """)
  }
}
