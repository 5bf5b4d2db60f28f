import Bus
import GLibLoop
import Glibc
import KeyPairs
import SecretMemory
import TestKit
import Testing

/// Keys as a user and a program meet them: they sign after the right finger, and their private half comes out for nothing.
@Suite(.timeLimit(.minutes(3))) struct KeyTests {
  private static let message = "what is signed\u{0}"

  @Test func `A key signs after the right finger, and not after another or none`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    let generated = try await world.whorl(["key", "generate", "login", "--type", "p256", "--require", "any"])
    #expect(generated.status == 0, "\(generated.errorText)")
    #expect(generated.text.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
    let again = try await world.whorl(["key", "public", "login"])
    #expect(again.text == generated.text, "the public half asks for nothing: \(again.errorText)")
    let raw = try await world.whorl(["key", "public", "login", "--raw"])
    let publicKey = try PublicKey(.p256, bytes: raw.output)

    let wrong = try await world.whorl(
      ["key", "sign", "login"], pressing: (1...3).map { SyntheticFinger.whorl.press($0) }, input: Self.message)
    #expect(wrong.status == 4, "\(wrong.errorText)")
    #expect(wrong.output.isEmpty)

    let waiting = try world.start(["key", "sign", "login"], input: Self.message)
    _ = try await world.nextPrompt(waiting, after: 0)
    waiting.signal(SIGINT)
    let none = try await waiting.wait()
    #expect(none.status == 5 && none.output.isEmpty, "\(none.errorText)")

    let right = try await world.whorl(
      ["key", "sign", "login"], pressing: [SyntheticFinger.leftLoop.press(8)], input: Self.message)
    #expect(right.status == 0, "\(right.errorText)")
    #expect(right.errorText.contains("to sign with the key \"login\""))
    #expect(try publicKey.verify(right.output, of: Array(Self.message.utf8), by: .ecdsaSHA256))

    let list = try await world.whorl(["key", "list"])
    #expect(list.text == "login\tp256\tany\n")
    #expect(try await world.whorl(["list"]).text.isEmpty, "a key is no secret of the command's")
    #expect(try await world.whorl(["key", "delete", "login"]).status == 0)
    #expect(try await world.whorl(["key", "sign", "login"], to: "x").status == 3)
  }

  @Test @GLibActor func `Neither a touch nor the passcode brings the private half out`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    for requirement in ["any", "none"] {
      let made = try await world.whorl(["key", "generate", requirement, "--require", requirement])
      #expect(made.status == 0, "\(made.errorText)")
    }
    let client = try await Client(world)
    let context = try await client.newContext(["reuse-duration": .uint32(300)])
    let file = try Client.sealed(World.passcode)
    defer { close(file) }
    _ = try await client.call("Authentication1", "ProvidePasscode", [context, .handle(0)], descriptors: [file])
    for name in ["any", "none"] {
      let query = BusValue.options(["class": .string("key"), "application-tag": .bytes(Array("whorl:\(name)".utf8))])
      let none = BusValue.options([:])
      #expect(try await client.error("Keychain1", "CopySecret", [context, query, none]) == "org.whorl.Error.Denied")
      let secret = try Client.sealed(String(repeating: "x", count: 32))
      defer { close(secret) }
      let update: [BusValue] = [context, query, none, .array(element: "h", [.handle(0)]), none]
      #expect(
        try await client.error("Keychain1", "Update", update, descriptors: [secret]) == "org.whorl.Error.Denied")
      let role = BusValue.options(["key-class": .string("symmetric")])
      let change: [BusValue] = [context, query, role, .array(element: "h", []), none]
      #expect(try await client.error("Keychain1", "Update", change) == "org.whorl.Error.Denied")
    }
    // Nothing of it was changed by all that.
    let signed = try await world.whorl(["key", "sign", "none"], to: Self.message)
    let publicKey = try PublicKey(.ed25519, bytes: try await world.whorl(["key", "public", "none", "--raw"]).output)
    #expect(try publicKey.verify(signed.output, of: Array(Self.message.utf8), by: .ed25519))
  }

  @Test @GLibActor func `Two sides agree on a secret, which comes as a sealed file`() async throws {
    let world = try await World()
    try await world.startDaemon()
    let client = try await Client(world)
    let attributes = BusValue.options([
      "key-type": .string("ec-p256"), "application-tag": .bytes([1, 2, 3]), "label": .string("agreement"),
    ])
    let made = try await client.call("Keychain1", "GenerateKey", [attributes, .options([:])])
    let theirs = try PublicKey(.p256, bytes: try #require(made.arguments[0].asBytes))
    let mine = try PrivateKey.generate(.p256)
    let context = try await client.newContext()
    let query = BusValue.options(["class": .string("key"), "application-tag": .bytes([1, 2, 3])])
    let reply = try await client.call(
      "Keychain1", "Agree", [context, query, .string("ecdh"), .bytes(mine.publicKey.bytes), .options([:])])
    let got = try reply.descriptor(reply.arguments[0]).withDescriptor { file in
      try SecretFile.take(file, limit: 64).withUnsafeBytes { Array($0) }
    }
    let expected = try mine.sharedSecret(with: theirs).withUnsafeBytes { Array($0) }
    #expect(got == expected)

    func error(_ method: String, _ algorithm: String, _ data: [UInt8]) async throws -> String? {
      try await client.error(
        "Keychain1", method, [context, query, .string(algorithm), .bytes(data), .options([:])])
    }
    #expect(try await error("Agree", "ecdh", [4] + [UInt8](repeating: 9, count: 64)) == "org.whorl.Error.Param")
    #expect(try await error("Agree", "x25519", mine.publicKey.bytes) == "org.whorl.Error.Unsupported")
    #expect(try await error("Sign", "ed25519", [1]) == "org.whorl.Error.Param")
    #expect(try await error("Sign", "rsa", [1]) == "org.whorl.Error.Unsupported")
    #expect(try await error("Sign", "ecdsa-digest-sha256", [1]) == "org.whorl.Error.Param")
    let large = [UInt8](repeating: 0, count: (1 << 20) + 1)
    #expect(try await error("Sign", "ecdsa-sha256", large) == "org.whorl.Error.TooLarge")
    #expect(try await error("Sign", "ecdsa-sha256", Array(large.dropLast())) == nil)
    for wrong: [String: BusValue] in [
      [:], ["key-type": .string("rsa")], ["key-type": .string("ed25519"), "generic": .bytes([1])],
      ["key-type": .string("ed25519"), "class": .string("generic-password")],
      ["key-type": .string("ed25519"), "key-class": .string("public")],
    ] {
      let name = try await client.error("Keychain1", "GenerateKey", [.options(wrong), .options([:])])
      #expect(name == "org.whorl.Error.Param" || name == "org.whorl.Error.Unsupported", "\(wrong)")
    }
  }

  @Test func `A key of today's fingers is gone once another is enrolled, also after a restart`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["key", "generate", "bound", "--require", "current"]).status == 0)
    #expect(try await world.whorl(["key", "generate", "loose", "--require", "any"]).status == 0)
    let publicKey = try PublicKey(.ed25519, bytes: try await world.whorl(["key", "public", "loose", "--raw"]).output)
    try await world.enroll(.rightLoop, as: "left-index-finger")
    #expect(try await world.whorl(["key", "sign", "bound"], to: "x").status == 13)
    #expect(try await world.whorl(["key", "list"]).text == "bound\ted25519\tcurrent gone\nloose\ted25519\tany\n")
    daemon.signal(SIGTERM)
    #expect(try await daemon.wait().status == 0)
    try await world.startDaemon()
    #expect(try await world.whorl(["key", "sign", "bound"], to: "x").status == 13)
    let signed = try await world.whorl(
      ["key", "sign", "loose"], pressing: [SyntheticFinger.rightLoop.press(3)], input: Self.message)
    #expect(try publicKey.verify(signed.output, of: Array(Self.message.utf8), by: .ed25519))
  }

  @Test func `The signatures and public halves are what openssl takes`() async throws {
    let world = try await World()
    try await world.startDaemon()
    for type in ["p256", "ed25519"] {
      let made = try await world.whorl(["key", "generate", type, "--type", type, "--require", "none"])
      let signed = try await world.whorl(["key", "sign", type], to: Self.message)
      try world.folder.write(made.text, to: "\(type).pem")
      try world.folder.write(Self.message, to: "message")
      try Bytes.write(signed.output, to: world.folder("\(type).sig"))
      let arguments =
        type == "p256"
        ? ["dgst", "-sha256", "-verify", world.folder("p256.pem"), "-signature", world.folder("p256.sig")]
          + [world.folder("message")]
        : ["pkeyutl", "-verify", "-pubin", "-inkey", world.folder("ed25519.pem"), "-rawin", "-in"]
          + [world.folder("message"), "-sigfile", world.folder("ed25519.sig")]
      let checked = try await RunningProgram.run("/usr/bin/openssl", arguments)
      #expect(checked.status == 0, "\(type): \(checked.text)\(checked.errorText)")
    }
  }
}
