import Bus
import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

/// Who asks for the passcode: the user's agent, never the program that wants the secret.
@Suite(.timeLimit(.minutes(3))) struct AgentTests {
  /// A world whose root has a passcode and a secret "mail" behind it.
  private func world(_ requirement: String = "passcode") async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    #expect(try await world.whorl(["set", "mail", "--require", requirement], to: "s3cret").status == 0)
    return world
  }

  @Test func `A program gets its secret once the person gave the passcode to the agent, after a wrong one too`()
    async throws
  {
    let world = try await world()
    let agent = try await DesktopAgent(world, answers: ["pin wrong", "pin ", "pin \(World.passcode)"])
    let program = try world.start(["get", "mail"])
    let result = try await program.wait()
    #expect(result.text == "s3cret", "\(result.errorText)")
    #expect(result.errorText.isEmpty)
    let log = agent.pinentry.log
    #expect(agent.pinentry.timesAsked == 3)
    let descriptions = log.filter { $0.hasPrefix("SETDESC ") }
    #expect(descriptions.count == 3)
    for words in [
      "Whorl asks for your login password.%0A", "calls itself \"whorl\" (process \(program.pid))", "read \"mail\"",
    ] {
      #expect(descriptions.allSatisfy { $0.contains(words) }, "\(descriptions)")
    }
    #expect(log.filter { $0.hasPrefix("SETERROR") }.count == 2)
    #expect(!log.joined().contains("wrong passcode") && !log.joined().contains(World.passcode))
    // It has ended, and nothing is kept for the next one.
    #expect(try await world.whorl(["list"]).text == "mail\tpasscode\n")
    let status = try await Client(world).call("Authentication1", "GetStatus").arguments[0].asOptions
    #expect(status?["misses"]?.unwrapped == .uint32(0) && status?["passcode-delay"]?.unwrapped == .uint32(0))
  }

  @Test func `Three wrong ones are as many as one request may use up, and they count`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world, answers: ["pin a", "pin b", "pin c", "pin \(World.passcode)"])
    let client = try await Client(world)
    #expect(try await client.refusal("mail") == "AuthenticationFailed")
    #expect(agent.pinentry.timesAsked == 3)
    // Now none is looked at, so nobody is asked.
    #expect(try await client.refusal("mail") == "PasscodeDelayed")
    #expect(agent.pinentry.timesAsked == 3)
  }

  @Test func `Without an agent a program is told at once that nobody can be asked, and what to start`() async throws {
    let world = try await world()
    let result = try await world.whorl(["get", "mail"])
    #expect(result.status == 12)
    #expect(result.errorText.contains("start whorl agent"), "\(result.errorText)")
    #expect(result.output.isEmpty)
  }

  @Test func `Cancelling the dialog ends the request as the person's wish`() async throws {
    let world = try await world()
    _ = try await DesktopAgent(world, answers: ["cancel"])
    #expect(try await Client(world).refusal("mail") == "UserCancel")
  }

  @Test func `A request is shown while it waits for a finger, and its button cancels it`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "s3cret").status == 0)
    let agent = try await DesktopAgent(world, notifications: "markup")
    let notifications = try #require(agent.notifications)
    let program = try world.start(["get", "mail"])
    let notice = try await notifications.shows()
    #expect(notice.summary == "Touch the fingerprint reader")
    #expect(
      notice.body.contains("calls itself &quot;whorl&quot; (process \(program.pid)) wants to read &quot;mail&quot;"))
    #expect(notice.body.contains("It says: &quot;read the secret &apos;mail&apos;&quot;"), "\(notice.body)")
    #expect(notice.actions == "cancel,Cancel")
    try notifications.invoke(notice.id)
    #expect(try await program.wait().status == 5)
    try await notifications.closes(notice.id)

    // Another's number, and another button, end nothing.
    let other = try world.start(["get", "mail"])
    let second = try await notifications.shows(2)
    try notifications.invoke(second.id + 7)
    try notifications.invoke(second.id, "default")
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    #expect(try await other.wait().text == "s3cret")
    try await notifications.closes(second.id)
    // What was put away is not asked for again; the finger still counts.
    let third = try world.start(["get", "mail"])
    try notifications.dismiss(try await notifications.shows(3).id)
    try await world.reader.press(SyntheticFinger.leftLoop.press(4))
    #expect(try await third.wait().text == "s3cret")
    #expect(notifications.notices.count == 3)
    #expect(agent.pinentry.timesAsked == 0)
  }

  @Test func `The notification's other button goes on to the password, where that will do`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "presence"], to: "s3cret").status == 0)
    let agent = try await DesktopAgent(world, answers: ["pin \(World.passcode)"], notifications: "plain")
    let notifications = try #require(agent.notifications)
    let program = try world.start(["get", "mail"])
    let notice = try await notifications.shows()
    #expect(notice.actions == "cancel,Cancel,fallback,Use password")
    try notifications.invoke(notice.id, "fallback")
    #expect(try await program.wait().text == "s3cret")
    #expect(agent.pinentry.log.contains { $0.contains("You chose to give your login password instead of a finger.") })
  }

  @Test func `The notification's button closes the dialog, too`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world, notifications: "plain")
    let notifications = try #require(agent.notifications)
    let program = try world.start(["get", "mail"])
    let notice = try await notifications.shows()
    #expect(notice.summary == "Your login password is wanted")
    try await agent.pinentry.logs("open")
    try notifications.invoke(notice.id)
    #expect(try await program.wait().status == 5)
    try await agent.pinentry.logs("ended")
    try await notifications.closes(notice.id)
  }

  @Test func `The dialog closes with the program that asked, and when that changes its mind`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world)
    let program = try world.start(["get", "mail"])
    try await agent.pinentry.logs("open")
    program.signal(SIGKILL)
    try await agent.pinentry.logs("ended")

    for (number, (method, arguments, end)) in [
      ("InvalidateContext", [], "AppCancel"), ("Cancel", [BusValue.string("app")], "AppCancel"),
      ("Cancel", [.string("user")], "UserCancel"),
    ].enumerated() {
      let client = try await Client(world)
      let context = try await client.newContext()
      let asking = Task { try await client.refusal("mail", in: context) }
      try await agent.pinentry.logs("open", times: number + 2)
      _ = try await client.call("Authentication1", method, [context] + arguments)
      #expect(try await asking.value == end, "\(method)")
      try await agent.pinentry.logs("ended", times: number + 2)
    }
  }

  @Test func `One question at a time is put to a user; the others wait, for as long as they want to`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world)
    let client = try await Client(world)
    let first = Task { try await client.refusal("mail") }
    try await agent.pinentry.logs("open")
    let second = Task { try await client.refusal("mail") }
    #expect(try await client.refusal("mail", ["timeout": .uint32(1)]) == "TimedOut")
    #expect(agent.pinentry.timesAsked == 1)
    try agent.pinentry.answer(["pin \(World.passcode)"])
    agent.program.signal(SIGUSR2)  // as good as none: the default action is to end
    _ = try await agent.program.wait()
    #expect(try await first.value == "NotInteractive")
    #expect(try await second.value == "NotInteractive")
  }

  @Test func `Who waits for his turn gets it when the one before has ended`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world)
    let client = try await Client(world)
    let context = try await client.newContext()
    let first = Task { try await client.refusal("mail", in: context) }
    try await agent.pinentry.logs("open")
    let second = Task { try await client.secret("mail") }
    try agent.pinentry.answer(["pin \(World.passcode)"])
    _ = try await client.call("Authentication1", "InvalidateContext", [context])
    #expect(try await first.value == "AppCancel")
    #expect(try await second.value == "s3cret")
  }

  @Test func `An agent that dies in the middle costs that request, and the next agent serves the next`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world)
    let program = try world.start(["get", "mail"])
    try await agent.pinentry.logs("open")
    agent.program.signal(SIGKILL)
    let result = try await program.wait()
    #expect(result.status == 12, "\(result.errorText)")
    let next = try await DesktopAgent(world, answers: ["pin \(World.passcode)"])
    let served = try await world.whorl(["get", "mail"])
    #expect(served.text == "s3cret", "\(served.errorText)\(next.program.text(.errors))\(next.pinentry.log)")
  }

  @Test func `Another user's agent is neither shown nor asked anything`() async throws {
    let world = try await world()
    let other = try await DesktopAgent(world, answers: ["pin \(World.passcode)"], user: 1, notifications: "markup")
    let client = try await Client(world)
    #expect(try await client.refusal("mail") == "NotInteractive")
    #expect(other.notifications?.notices.isEmpty == true)
    let own = try await DesktopAgent(world, answers: ["pin \(World.passcode)"])
    #expect(try await client.secret("mail") == "s3cret")
    #expect(own.pinentry.timesAsked == 1)
    #expect(other.pinentry.timesAsked == 0 && other.pinentry.log.isEmpty)
  }

  @Test func `A second agent of a session is refused, and told of the first; one that hangs makes way`() async throws {
    let world = try await world()
    let first = try await DesktopAgent(world)
    let second = try await DesktopAgent(world, isReady: false)
    let refused = try await second.program.wait()
    #expect(refused.status == 14)
    #expect(refused.errorText.contains("whorl, process \(first.program.pid)"), "\(refused.errorText)")
    first.program.signal(SIGSTOP)
    let next = try await DesktopAgent(world, answers: ["pin \(World.passcode)"])
    let served = try await world.whorl(["get", "mail"])
    #expect(served.text == "s3cret", "\(served.errorText)\(next.program.text(.errors))\(next.pinentry.log)")
    first.program.signal(SIGCONT)
  }

  @Test func `A program that asks by itself is left to do so, one that wants no prompt gets none`() async throws {
    let world = try await world()
    let agent = try await DesktopAgent(world, answers: ["pin \(World.passcode)"], notifications: "markup")
    let client = try await Client(world)
    let terminal = try await client.newContext(["prompts-itself": .boolean(true)])
    #expect(try await client.refusal("mail", in: terminal) == "PasscodeNeeded")
    let quiet = try await client.newContext(["interaction-not-allowed": .boolean(true)])
    #expect(try await client.refusal("mail", in: quiet) == "NotInteractive")
    #expect(agent.pinentry.timesAsked == 0)
    #expect(agent.notifications?.notices.isEmpty == true)
    // whorl on a terminal asks there.
    let program = try world.startOnTerminal(["get", "mail"])
    try await program.waitFor("Your password, to read the secret \"mail\": ")
    try program.write(World.passcode + "\n")
    try await program.waitFor("s3cret")
    #expect(agent.pinentry.timesAsked == 0)
  }

  @Test func `A policy and a change are asked for in the same way`() async throws {
    let world = try await world()
    let passcode = "pin \(World.passcode)"
    let agent = try await DesktopAgent(world, answers: [passcode, "pin no", passcode])
    let client = try await Client(world)
    let reply = try await client.call(
      "Authentication1", "EvaluatePolicy",
      [try await client.newContext(), .string("owner"), .string("to go on"), .options([:])])
    #expect(reply.arguments[0].asStrings?.contains("device-passcode") == true)
    #expect(agent.pinentry.log.contains { $0.contains("know that it is you") && $0.contains("It says: \"to go on\"") })
    // The new secret is there after a second attempt, too.
    let changed = try await world.whorl(["set", "mail"], to: "an0ther")
    #expect(changed.status == 0, "\(changed.errorText)")
    try agent.pinentry.answer([passcode])
    #expect(try await client.secret("mail") == "an0ther")
  }

  @Test func `The passcode ends a lockout for a program, by the agent`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "presence"], to: "s3cret").status == 0)
    let client = try await Client(world)
    for _ in 1...5 {
      let asking = Task { try await client.refusal("mail", ["max-tries": .uint32(1)]) }
      try await world.reader.press(SyntheticFinger.whorl.press(1))
      _ = try await asking.value
    }
    let agent = try await DesktopAgent(world, answers: ["pin \(World.passcode)"])
    #expect(try await client.secret("mail") == "s3cret")
    #expect(agent.pinentry.log.contains { $0.contains("Fingers do not count after 5 misses") })
  }
}
