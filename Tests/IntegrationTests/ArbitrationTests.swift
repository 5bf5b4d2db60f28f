import Bus
import Glibc
import TestKit
import Testing

/// The enclave and the clients of net.reactivated.Fprint share one reader.
@Suite(.timeLimit(.minutes(3))) struct ArbitrationTests {
  private func fprint(_ world: World, _ mode: String) throws -> RunningProgram {
    try RunningProgram(
      "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/fprint-verify.py"), mode],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"], input: "")
  }

  @Test func `A claim that only sits there does not keep a secret from its owner`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let locker = try fprint(world, "claim")
    try await locker.waitFor("claimed")
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)]).text == "a")
    #expect(locker.isRunning)
    let second = try await fprint(world, "claim").wait()
    #expect(second.text.contains("net.reactivated.Fprint.Error.AlreadyInUse"))
    // With its client the claim goes.
    locker.signal(SIGKILL)
    _ = try await locker.wait()
    let next = try fprint(world, "claim")
    try await next.waitFor("claimed")
  }

  @Test func `Who finds the reader in use is told by whom after a few seconds`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let locker = try fprint(world, "verify")
    try await locker.waitFor("started")
    let busy = try await world.whorl(["get", "mail"])
    #expect(busy.status == 14, "\(busy.errorText)")
    #expect(busy.errorText.contains("verification of root"))
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    #expect(try await locker.wait().text.contains("verify-match"))
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(3)]).text == "a")
  }

  @Test func `Nobody gets in between the touches of one request`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let request = try world.start(["get", "mail"])
    var seen = try await world.nextPrompt(request, after: 0)
    // Waits in line behind the request from here on.
    let locker = try fprint(world, "verify")
    try await locker.waitFor("claimed")
    try await world.reader.press(SyntheticFinger.whorl.press(1))
    seen = try await world.nextPrompt(request, after: seen)
    try await world.reader.press(SyntheticFinger.leftLoop.press(2))
    #expect(try await request.wait().text == "a", "the second touch was the request's as well")
    // Whoever waited has his turn after it, or has given up after his few seconds.
    _ = try? await world.reader.press(SyntheticFinger.leftLoop.press(3))
    let served = try await locker.wait().text
    #expect(served.contains("verify-") || served.contains("AlreadyInUse"), "\(served)")
  }

  @Test func `Claims that come and go cost nobody his request`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let restless = try fprint(world, "restless")
    try await restless.waitFor("claimed")
    for number in 1...5 {
      let opened = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(number)])
      #expect(opened.text == "a", "\(opened.errorText)")
    }
    restless.signal(SIGKILL)
  }

  @Test func `A reader's damaged or foreign print costs its own finger, not the others`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let good = try Bytes.read(world.state + "/root/virtual_image/0/7")
    try Bytes.write(Array(good.prefix(good.count / 2)), to: world.state + "/root/virtual_image/0/3")
    try Bytes.write(Array("FP3".utf8) + (0..<3000).map { UInt8($0 % 251) }, to: world.state + "/root/virtual_image/0/4")
    let verified = try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(2)])
    #expect(verified.status == 0, "\(verified.errorText)")
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(3)]).text == "a")
  }

  @Test func `One answer that would be too large is refused, and whorld goes on`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    let client = try await Client(world)
    let text = { (key: String, number: Int) in
      BusValue.string("\(key)\(number) " + String(repeating: "x", count: 4000))
    }
    for number in 0..<200 {
      let file = try Client.sealed("s")
      defer { close(file) }
      let attributes = BusValue.options([
        "service": text("s", number), "account": text("a", number), "label": text("l", number),
        "description": text("d", number), "comment": text("c", number), "access-group": text("g", number),
      ])
      _ = try await client.call("Keychain1", "Add", [attributes, .options([:]), .handle(0)], descriptors: [file])
    }
    let everything = [BusValue.options([:]), .options([:])]
    #expect(try await client.error("Keychain1", "CopyMatching", everything) == "org.whorl.Error.TooLarge")
    #expect(
      try await client.error("Keychain1", "CopyMatching", [.options([:]), .options(["limit": .uint32(10)])]) == nil)
    #expect(daemon.isRunning)
  }
}
