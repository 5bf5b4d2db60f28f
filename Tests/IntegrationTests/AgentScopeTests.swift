import Bus
import GLibLoop
import Glibc
import TestKit
import Testing

/// A passcode that an agent collected serves what the person was told of, and nothing else.
@Suite(.timeLimit(.minutes(3))) struct AgentScopeTests {
  private static let passcode = "pin \(World.passcode)"

  private func world(_ names: String...) async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    for name in names {
      #expect(try await world.whorl(["set", name, "--require", "passcode"], to: "secret of \(name)").status == 0)
    }
    return world
  }

  @Test func `An item cannot be put in the place of the one that was shown`() async throws {
    let world = try await world("harmless", "precious")
    let agent = try await DesktopAgent(world)
    let client = try await Client(world)
    let query = BusValue.options(["service": .string("whorl")])
    let context = try await client.newContext()
    let asking = Task {
      try await client.error("Keychain1", "CopySecret", [context, query, .options([:])])
    }
    try await agent.pinentry.logs("open")
    #expect(agent.pinentry.log.contains { $0.contains("read \"harmless\"") })
    // The dialog of a request that is shown stays; the next one that matches is another.
    #expect(try await world.whorl(["rm", "harmless"]).status == 0)
    try agent.pinentry.answer([Self.passcode])
    try agent.pinentry.goOn()
    #expect(try await asking.value == "org.whorl.Error.Denied")
    #expect(agent.pinentry.timesAsked == 1)
    // Nor does what was given lie there for the next request.
    try agent.pinentry.answer(["cancel"])
    #expect(try await client.refusal("precious", in: context) == "UserCancel")
  }

  @Test func `What was given for one request serves no other of the same context`() async throws {
    let world = try await world("one", "other")
    let agent = try await DesktopAgent(world, answers: [Self.passcode, "cancel", Self.passcode])
    let client = try await Client(world)
    let context = try await client.newContext()
    #expect(try await client.secret("one", in: context) == "secret of one")
    #expect(try await client.refusal("other", in: context) == "UserCancel")
    #expect(try await client.secret("other", in: context) == "secret of other")
    #expect(agent.pinentry.timesAsked == 3)
    // Numbers of contexts that were made for requests are nobody's.
    for number in 1...12 where BusValue.uint32(UInt32(number)) != context {
      let refusal = try await client.refusal("one", in: .uint32(UInt32(number)))
      #expect(refusal == "InvalidContext")
    }
  }

  @Test func `Another request that waits in the same context is not let through by it`() async throws {
    let world = try await world("mail")
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "open", "--require", "presence"], to: "secret of open").status == 0)
    let agent = try await DesktopAgent(world, answers: [Self.passcode], notifications: "plain")
    let client = try await Client(world)
    let context = try await client.newContext()
    let waiting = Task { try await client.refusal("open", in: context) }
    _ = try await agent.notifications?.shows()
    #expect(try await client.secret("mail", in: context) == "secret of mail")
    _ = try await client.call("Authentication1", "Cancel", [context, .string("user")])
    #expect(try await waiting.value == "UserCancel")
  }

  @Test func `A context that lasts is asked for once, and the person is told for how long`() async throws {
    let world = try await world("one", "other")
    let agent = try await DesktopAgent(world, answers: [Self.passcode])
    let client = try await Client(world)
    let context = try await client.newContext(["reuse-duration": .uint32(200)])
    #expect(try await client.secret("one", in: context) == "secret of one")
    #expect(try await client.secret("other", in: context) == "secret of other")
    #expect(agent.pinentry.timesAsked == 1)
    #expect(agent.pinentry.log.contains { $0.contains("in the next 200 seconds") })
  }

  @Test func `An authentication is good for one item, as it says`() async throws {
    let world = try await world("one", "other")
    let agent = try await DesktopAgent(world, answers: [Self.passcode, "cancel"])
    let client = try await Client(world)
    let context = try await client.newContext()
    _ = try await client.call(
      "Authentication1", "EvaluatePolicy", [context, .string("owner"), .string("to begin"), .options([:])])
    #expect(agent.pinentry.log.contains { $0.contains("know that it is you, and may then read a secret") })
    #expect(try await client.secret("one", in: context) == "secret of one")
    #expect(try await client.refusal("other", in: context) == "UserCancel")
  }

  @Test func `A recovery key is named as what it is, and takes the passcode`() async throws {
    let world = try await world("one")
    let agent = try await DesktopAgent(world, answers: ["cancel", Self.passcode, Self.passcode])
    let client = try await Client(world)
    let context = try await client.newContext()
    #expect(try await client.error("Authentication1", "MakeRecoveryKey", [context]) == "org.whorl.Error.UserCancel")
    #expect(agent.pinentry.log.contains { $0.contains("make a recovery key, which opens everything") })
    let reply = try await client.call("Authentication1", "MakeRecoveryKey", [context])
    #expect(reply.descriptors.count == 1)
    let revoked = try await client.call("Authentication1", "RevokeRecoveryKey", [context])
    #expect(revoked.arguments == [.boolean(true)])
    #expect(agent.pinentry.timesAsked == 3)
  }
}
