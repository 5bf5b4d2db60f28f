import Bus
import Foundation
import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

/// What a program asks for of all secrets at once, of fingers and readers, and after the password was changed: shown and
/// asked for by the agent as well, each under its own name.
@Suite(.timeLimit(.minutes(4))) struct AgentDeedTests {
  private static let passcode = "pin \(World.passcode)"

  private func world(_ requirements: KeyValuePairs<String, String> = [:]) async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    for (name, requirement) in requirements {
      #expect(try await world.whorl(["set", name, "--require", requirement], to: "secret of \(name)").status == 0)
    }
    return world
  }

  private func descriptions(_ agent: DesktopAgent) -> [String] {
    agent.pinentry.log.filter { $0.hasPrefix("SETDESC ") }
  }

  // MARK: - Everything at once

  @Test func `An export is named as what it is, takes the password by the agent, and shows its touch there`()
    async throws
  {
    let world = try await world()
    try await world.enroll(.leftLoop)
    for (name, requirement) in [("mail", "any"), ("note", "passcode")] {
      #expect(try await world.whorl(["set", name, "--require", requirement], to: "secret of \(name)").status == 0)
    }
    let agent = try await DesktopAgent(world, answers: ["pin wrong", Self.passcode], notifications: "plain")
    let file = world.folder("all.whorl")
    let program = try world.start(["export", file, "--passphrase-fd", "0"], input: "six words of some length\n")
    try await world.answer(program, with: [SyntheticFinger.leftLoop.press(2)])
    let exported = try await program.wait()
    #expect(exported.status == 0, "\(exported.errorText)")
    #expect(exported.errorText.contains("Exported 2 secrets"), "\(exported.errorText)")
    #expect(agent.pinentry.timesAsked == 2)
    #expect(descriptions(agent).allSatisfy { $0.contains("wants to export everything that you store") })
    let touch = try await #require(agent.notifications).shows(2)
    #expect(touch.summary == "Touch the fingerprint reader")
    #expect(touch.body.contains("wants to export everything that you store"))
    try await agent.notifications?.closes(touch.id)

    // Whole: it comes back, in the place of what takes the password, which is asked for once more.
    try agent.pinentry.answer([Self.passcode])
    let importing = try world.start(
      ["import", file, "--replace", "--passphrase-fd", "0"], input: "six words of some length\n")
    try await world.answer(importing, with: [SyntheticFinger.leftLoop.press(3)])
    let imported = try await importing.wait()
    #expect(imported.status == 0, "\(imported.errorText)")
    #expect(imported.errorText.contains("2 of them in place"), "\(imported.errorText)")
    #expect(agent.pinentry.timesAsked == 3)
    #expect(descriptions(agent).last?.contains("wants to import secrets, which may take the place of yours") == true)

    try agent.pinentry.answer(["cancel"])
    let declined = try await world.whorl(
      ["import", file, "--replace", "--passphrase-fd", "0"], to: "six words of some length\n")
    #expect(declined.status == 5, "\(declined.errorText)")
  }

  @Test func `A password that was given for something else exports nothing, and that of an export opens nothing`()
    async throws
  {
    let world = try await world(["mail": "passcode"])
    let agent = try await DesktopAgent(
      world, answers: [Self.passcode, "cancel", Self.passcode, "cancel", Self.passcode, "cancel"])
    let client = try await Client(world)
    func export(_ context: BusValue) async throws -> String? {
      let passphrase = try Client.sealed("six words")
      defer { close(passphrase) }
      return try await client.error(
        "Keychain1", "Export", [context, .handle(0), .options([:])], descriptors: [passphrase])
    }
    let lasting = try await client.newContext(["reuse-duration": .uint32(200)])
    #expect(try await client.secret("mail", in: lasting) == "secret of mail")
    #expect(try await export(lasting) == "org.whorl.Error.UserCancel")
    let context = try await client.newContext()
    #expect(try await export(context) == nil)
    #expect(try await client.refusal("mail", in: context) == "UserCancel")
    // Nor where what is given is to last.
    let other = try await client.newContext(["reuse-duration": .uint32(200)])
    #expect(try await export(other) == nil)
    #expect(try await client.refusal("mail", in: other) == "UserCancel")
    #expect(agent.pinentry.timesAsked == 6)
    // A program that asks by itself is told so, as ever.
    let terminal = try await client.newContext(["prompts-itself": .boolean(true)])
    #expect(try await export(terminal) == "org.whorl.Error.PasscodeNeeded")
  }

  // MARK: - Fingers and readers

  @Test func `Fingers are named before they may open secrets, and others are not let in their place`() async throws {
    let world = try await world()
    try await world.enroll(.leftLoop, adopting: false)
    let agent = try await DesktopAgent(world, notifications: "plain")
    let client = try await Client(world)
    let context = try await client.newContext()
    let adopting = Task { try await client.error("Authentication1", "AdoptFingers", [context, .options([:])]) }
    try await agent.pinentry.logs("open")
    #expect(
      descriptions(agent).last?.contains("wants to let these fingers open your secrets: right index finger.") == true,
      "\(descriptions(agent))")
    // Another one is put beside it meanwhile.
    try await world.enroll(.whorl, as: "left-thumb", adopting: false)
    try agent.pinentry.answer([Self.passcode])
    try agent.pinentry.goOn()
    #expect(try await adopting.value == "org.whorl.Error.Denied")
    #expect(
      try await client.call("Authentication1", "GetStatus").arguments[0].asOptions?["unregistered"]?.unwrapped
        == .strings(["left-thumb", "right-index-finger"]))

    try agent.pinentry.answer([Self.passcode])
    let options = BusValue.options(["fingers": .strings(["left-thumb"])])
    let adopted = try await client.call("Authentication1", "AdoptFingers", [context, options])
    #expect(adopted.arguments[0].asOptions?["fingers"]?.unwrapped == .strings(["left-thumb"]))
    #expect(descriptions(agent).last?.contains("secrets: left thumb.") == true)
  }

  @Test func `A reader is named before it is trusted, with the password of that request`() async throws {
    let world = try await world()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["reader", "distrust", "--all"]).status == 0)
    let agent = try await DesktopAgent(world, answers: ["cancel", Self.passcode])
    let client = try await Client(world)
    let context = try await client.newContext()
    let readers = try await client.call("Authentication1", "ListReaders").arguments[0].asArray ?? []
    let id = try #require(readers.first?.asOptions?["id"]?.unwrapped.asString)
    func trust() async throws -> String? {
      try await client.error("Authentication1", "TrustReader", [context, .string(id)])
    }
    #expect(try await trust() == "org.whorl.Error.UserCancel")
    #expect(try await world.whorl(["reader", "list"]).text.contains("untrusted"))
    #expect(try await trust() == nil)
    #expect(try await !world.whorl(["reader", "list"]).text.contains("untrusted"))
    #expect(agent.pinentry.timesAsked == 2)
    #expect(
      descriptions(agent).allSatisfy {
        $0.contains("wants to trust the reader \"") && $0.contains("(virtual, \(id))\"")
      },
      "\(descriptions(agent))")
  }

  // MARK: - A password that was changed

  @Test(arguments: [false, true])
  func `After a change of the password the agent asks for the former one, or the recovery key, once`(
    byKey: Bool
  ) async throws {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    let first = try await DesktopAgent(world, answers: [Self.passcode])
    let maker = try await Client(world)
    let reply = try await maker.call("Authentication1", "MakeRecoveryKey", [try await maker.newContext()])
    let key = try reply.descriptor(reply.arguments[0]).withDescriptor { file in
      try SecretFile.take(file, limit: 100).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    for (name, requirement) in [("mail", "none"), ("note", "passcode")] {
      let set = ["set", name, "--require", requirement, "--accessible", "after-first-unlock"]
      #expect(try await world.whorl(set, to: "kept").status == 0)
    }
    first.program.signal(SIGTERM)
    _ = try await first.program.wait()
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    try world.folder.write("root:the new one:whorl-passcode\n", to: "state/.whorl/passdb", mode: 0o600)
    try await world.startDaemon()

    let right = byKey ? key : World.passcode
    let agent = try await DesktopAgent(world, answers: ["pin the new one", "pin neither", "pin \(right)"])
    let client = try await Client(world)
    #expect(try await client.secret("note") == "kept")
    #expect(agent.pinentry.timesAsked == 3)
    #expect(descriptions(agent).first?.contains("Whorl asks for your login password.") == true)
    for description in descriptions(agent).dropFirst() {
      #expect(description.contains("Whorl asks for your former login password or recovery key."), "\(description)")
      #expect(description.contains("read \"note\"") && description.contains("was changed since"), "\(description)")
    }
    #expect(agent.pinentry.log.filter { $0 == "SETPROMPT Former password:" }.count == 2)
    #expect(agent.pinentry.log.contains { $0.hasPrefix("SETERROR That is not the password that last opened") })
    // Once.
    #expect(try await client.secret("mail") == "kept")
    #expect(agent.pinentry.timesAsked == 3)
  }

  @Test func `Where a program wants no prompts there is none, whatever is wanted`() async throws {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop, adopting: false)
    try await Client(world).givePasscode(World.passcode)
    let set = ["set", "mail", "--require", "none", "--accessible", "after-first-unlock"]
    #expect(try await world.whorl(set, to: "kept").status == 0)
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    try world.folder.write("root:the new one:whorl-passcode\n", to: "state/.whorl/passdb", mode: 0o600)
    try await world.startDaemon()
    let agent = try await DesktopAgent(world, notifications: "plain")
    let client = try await Client(world)
    let quiet = try await client.newContext(["interaction-not-allowed": .boolean(true)])
    let readers = try await client.call("Authentication1", "ListReaders").arguments[0].asArray ?? []
    let id = try #require(readers.first?.asOptions?["id"])
    let refused = "org.whorl.Error.NotInteractive"
    #expect(try await client.error("Authentication1", "AdoptFingers", [quiet, .options([:])]) == refused)
    #expect(try await client.error("Authentication1", "TrustReader", [quiet, id.unwrapped]) == refused)
    #expect(try await client.error("Authentication1", "MakeRecoveryKey", [quiet]) == refused)
    #expect(try await client.refusal("mail", in: quiet) == "NotInteractive")
    try await client.givePasscode("the new one")
    // Now it is the former one that is wanted.
    #expect(try await client.refusal("mail", in: quiet) == "NotInteractive")
    #expect(agent.pinentry.timesAsked == 0 && agent.notifications?.notices.isEmpty == true)
  }

  @Test func `Three former passwords are as many as one request may use up, and they count`() async throws {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    try await Client(world).givePasscode(World.passcode)
    let set = ["set", "mail", "--require", "none", "--accessible", "after-first-unlock"]
    #expect(try await world.whorl(set, to: "kept").status == 0)
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    try world.folder.write("root:the new one:whorl-passcode\n", to: "state/.whorl/passdb", mode: 0o600)
    try await world.startDaemon()
    let agent = try await DesktopAgent(world, answers: ["pin the new one", "pin a", "pin b", "pin c", "pin d"])
    let client = try await Client(world)
    #expect(try await client.refusal("mail") == "AuthenticationFailed")
    #expect(agent.pinentry.timesAsked == 4)
    let status = try await client.call("Authentication1", "GetStatus").arguments[0].asOptions
    #expect(status?["passcode-delay"]?.unwrapped.asUInt32 ?? 0 > 0)
  }

  // MARK: - What is shown is what is given

  @Test func `An item of the same name that took the place of the one shown is not given, for finger or password`()
    async throws
  {
    let world = try await world(["mail": "passcode"])
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "touch", "--require", "any"], to: "harmless").status == 0)
    let agent = try await DesktopAgent(world, notifications: "plain")
    let client = try await Client(world)
    let asking = Task { try await client.refusal("mail") }
    try await agent.pinentry.logs("open")
    #expect(try await world.whorl(["rm", "mail"]).status == 0)
    #expect(try await world.whorl(["set", "mail", "--require", "passcode"], to: "other").status == 0)
    try agent.pinentry.answer([Self.passcode])
    try agent.pinentry.goOn()
    #expect(try await asking.value == "Denied")
    #expect(agent.pinentry.timesAsked == 1)

    let notifications = try #require(agent.notifications)
    let count = notifications.notices.count
    let touching = Task { try await client.refusal("touch") }
    let notice = try await notifications.shows(count + 1)
    #expect(notice.body.contains("read \"touch\""))
    #expect(try await world.whorl(["rm", "touch"]).status == 0)
    #expect(try await world.whorl(["set", "touch", "--require", "any"], to: "other").status == 0)
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    #expect(try await touching.value == "Denied")
  }

  @Test func `What there is none of is refused before anybody is shown or asked anything`() async throws {
    let world = try await world(["mail": "passcode"])
    let agent = try await DesktopAgent(world, notifications: "plain")
    let client = try await Client(world)
    #expect(try await client.refusal("nothing") == "ItemNotFound")
    let context = try await client.newContext()
    let error = try await client.error(
      "Keychain1", "Update",
      [
        context, .options(["account": .string("nothing")]), .options(["label": .string("x")]),
        .array(element: "h", []), .options([:]),
      ])
    #expect(error == "org.whorl.Error.ItemNotFound")
    #expect(agent.notifications?.notices.isEmpty == true && agent.pinentry.timesAsked == 0)
  }

  // MARK: - Who would ask

  @Test func `whorl status says which agent there is, and what to do without one`() async throws {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await logind.addSession("front", user: 0, active: true)
    try await logind.knowPrograms()
    try await world.startDaemon()
    let without = try await world.whorl(["status"]).text
    #expect(without.contains("agent        none"), "\(without)")
    #expect(without.contains("systemctl --user start whorl-agent"), "\(without)")
    let json = try await world.whorl(["status", "--json"]).text
    #expect(json.contains("\"agent\":\"none\""), "\(json)")

    let inSession = try await DesktopAgent(world) { try logind.place($0, in: "front") }
    let words = try await world.whorl(["status"]).text
    #expect(
      words.contains("agent        one in a session of yours (whorl, process \(inSession.program.pid))"), "\(words)")
    inSession.program.signal(SIGTERM)
    _ = try await inSession.program.wait()
    let service = try await DesktopAgent(world)
    let other = try await world.whorl(["status"]).text
    #expect(other.contains("agent        a service of yours (whorl, process \(service.program.pid))"), "\(other)")
    let object = try await world.whorl(["status", "--json"]).text
    #expect(object.contains("\"agent\":\"service\"") && object.contains("\"agentProcess\":\(service.program.pid)"))
  }
}
