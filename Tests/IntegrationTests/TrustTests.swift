import Bus
import Foundation
import Glibc
import TestKit
import Testing

/// Which fingers and which readers open secrets.
@Suite(.timeLimit(.minutes(5))) struct TrustTests {
  private static let adopting = "to let them open your secrets: "
  private static let trusting = "to trust this reader with your secrets: "

  /// Runs a command on a terminal and types these answers to its question for the password.
  private func type(
    _ answers: [String], to question: String, _ arguments: [String], in world: World
  ) async throws -> RunningProgram.Result {
    let program = try world.startOnTerminal(arguments)
    for (index, answer) in answers.enumerated() {
      // Each time on a line of its own, after what was typed before.
      while program.text().components(separatedBy: question).count < index + 2 {
        try await program.waitFor(question, skipping: program.text().utf8.count)
      }
      try program.write(answer + "\n")
    }
    return try await program.wait()
  }

  // MARK: - Fingers

  @Test func `A finger that polkit let enrol opens logins, and secrets only after the right passcode`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    let enrolled = try await world.enroll(.leftLoop, adopting: false)
    #expect(enrolled.errorText.contains("It opens logins, but no secret"), "\(enrolled.errorText)")
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(8)]).status == 0)

    let refused = try await world.whorl(["get", "mail"])
    #expect(refused.status == 8, "\(refused.errorText)")
    #expect(refused.errorText.contains("whorl adopt"), "\(refused.errorText)")
    let status = try await world.whorl(["status"])
    #expect(status.status == 8)
    #expect(status.text.contains("whorl adopt"), "\(status.text)")

    let wrong = try await type(["no", "no", "no"], to: Self.adopting, ["adopt"], in: world)
    #expect(wrong.status == 4 || wrong.status == 6, "\(wrong.text)")
    #expect(try await world.whorl(["get", "mail"]).status == 8)
  }

  @Test func `whorl adopt with the passcode lets enrolled fingers open secrets, those that are named`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop, adopting: false)
    try await world.enroll(.whorl, as: "left-thumb", adopting: false)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let adopted = try await type([World.passcode], to: Self.adopting, ["adopt", "left-thumb"], in: world)
    #expect(adopted.status == 0, "\(adopted.text)")
    #expect(adopted.text.contains("May open secrets now: left thumb."), "\(adopted.text)")
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.whorl.press(2)]).text == "a")
    let other = try await world.whorl(["get", "mail"], pressing: (1...3).map { SyntheticFinger.leftLoop.press($0) })
    #expect(other.status == 4, "\(other.errorText)")
    // Nothing is left to do twice.
    #expect(try await world.whorl(["adopt", "left-thumb"]).status == 0)
    #expect(try await world.whorl(["adopt", "right-thumb"]).status == 3)
    #expect(try await world.whorl(["adopt"]).status == 12)
  }

  @Test func `whorl enroll on a terminal asks for the passcode once, and the finger opens secrets`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    let program = try world.startOnTerminal(["enroll"])
    try await program.waitFor("Your password, to let this finger open your secrets")
    try program.write(World.passcode + "\n")
    try await world.answer(program, with: (1...7).map { SyntheticFinger.leftLoop.press($0) }, in: .output)
    let result = try await program.wait()
    #expect(result.status == 0, "\(result.text)")
    #expect(!result.text.contains("opens logins"), "\(result.text)")
    #expect(try await world.whorl(["set", "mail", "--require", "current"], to: "a").status == 0)
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(9)]).text == "a")
    // Another finger, for logins only, changes nothing for what is bound to those that open secrets.
    try await world.enroll(.whorl, as: "left-thumb", adopting: false)
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(8)]).text == "a")
    // In the place of the first, it ends that one's registration.
    try await world.enroll(.rightLoop, adopting: false)
    #expect(try await world.whorl(["get", "mail"]).status == 13)
  }

  @Test func `The bus registers nothing and trusts nothing without a passcode in the same context`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop, adopting: false)
    let client = try await Client(world)
    let context = try await client.newContext(["reuse-duration": .uint32(300), "prompts-itself": .boolean(true)])
    let needed = "org.whorl.Error.PasscodeNeeded"
    let id = try await Self.ids(client).first ?? ""
    #expect(try await client.error("Authentication1", "AdoptFingers", [context, .options([:])]) == needed)
    #expect(try await client.error("Authentication1", "TrustReader", [context, .string(id)]) == needed)
    let other = try await Client(world)
    let foreign = try await other.newContext(["prompts-itself": .boolean(true)])
    let file = try Client.sealed(World.passcode)
    defer { close(file) }
    _ = try await other.call("Authentication1", "ProvidePasscode", [foreign, .handle(0)], descriptors: [file])
    #expect(try await client.error("Authentication1", "AdoptFingers", [context, .options([:])]) == needed)
    #expect(
      try await client.error("Authentication1", "AdoptFingers", [foreign, .options([:])])
        == "org.whorl.Error.InvalidContext")
    for options: [String: BusValue] in [
      ["fingers": .strings(["toe"])], ["reader": .objectPath("/nowhere")], ["all": .boolean(true)],
    ] {
      #expect(
        try await other.error("Authentication1", "AdoptFingers", [foreign, .options(options)])
          == "org.whorl.Error.Param")
    }
    #expect(
      try await other.error(
        "Authentication1", "AdoptFingers", [foreign, .options(["fingers": .strings(["left-thumb"])])])
        == "org.whorl.Error.BiometryNotEnrolled")
    let adopted = try await other.call("Authentication1", "AdoptFingers", [foreign, .options([:])])
    #expect(adopted.arguments[0].asOptions?["fingers"]?.unwrapped == .strings(["right-index-finger"]))
    // It is used up.
    #expect(try await other.error("Authentication1", "TrustReader", [foreign, .string(id)]) == needed)
  }

  private static func ids(_ client: Client) async throws -> [String] {
    let reply = try await client.call("Authentication1", "ListReaders")
    return (reply.arguments[0].asArray ?? []).compactMap { $0.asOptions?["id"]?.unwrapped.asString }
  }

  // MARK: - Readers

  /// A finger is registered on a reader that says what it is told; then another of its kind stands elsewhere instead.
  private func lookAlike() async throws -> (World, VirtualDevice) {
    let world = try await World(.device)
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    let probe = try await FprintProbe(world)
    _ = try await probe.call("Claim", "")
    try await probe.enroll("left-thumb", scanning: "mine", on: world)
    _ = try await probe.call("Release")
    try await world.adopt()
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    try await Self.open("mail", in: world, scanning: world.device)
    daemon.signal(SIGTERM)
    #expect(try await daemon.wait().status == 0)

    let other = VirtualDevice(socket: world.folder("look-alike"))
    try await world.startDaemon(adding: ["FP_VIRTUAL_DEVICE": other.socket])
    return (world, other)
  }

  private static func open(_ name: String, in world: World, scanning device: VirtualDevice) async throws {
    let get = try world.start(["get", name])
    _ = try await world.nextPrompt(get, after: 0)
    try await device.scan("mine")
    let result = try await get.wait()
    #expect(result.text == "a", "\(result.errorText)")
  }

  @Test func `A look-alike at another place opens logins, and no secret before it is trusted`() async throws {
    let (world, other) = try await lookAlike()
    // Whatever it would say: it is not asked.
    let refused = try await world.whorl(["get", "mail"])
    #expect(refused.status == 7, "\(refused.errorText)")
    #expect(refused.errorText.contains("whorl reader trust"), "\(refused.errorText)")
    #expect(refused.output.isEmpty)
    let status = try await world.whorl(["status"])
    #expect(status.status == 7)
    #expect(status.text.contains("not trusted with your secrets"), "\(status.text)")

    // Nor does an enrolment on it, with the passcode, make it trusted.
    let wrong = try await type(["no", "no", "no"], to: Self.trusting, ["reader", "trust"], in: world)
    #expect(wrong.status == 4 || wrong.status == 6, "\(wrong.text)")
    #expect(try await world.whorl(["get", "mail"]).status == 7)
    #expect(try await world.whorl(["reader", "trust"]).status == 12)

    let client = try await Client(world)
    let probe = try await FprintProbe(world)
    let login = Task {
      try await client.call("Authentication1", "Authenticate", [.string("root"), .string("test"), .options([:])])
    }
    await probe.property("finger-needed", is: .boolean(true))
    try await other.scan("mine")
    #expect(try await login.value.arguments == [.string("left-thumb")])
    let strict = [BusValue.string("root"), .string("test"), .options(["trusted-readers": .boolean(true)])]
    #expect(
      try await client.error("Authentication1", "Authenticate", strict) == "org.whorl.Error.BiometryNotAvailable")
  }

  @Test func `A reader that is trusted opens secrets, where it stands and until it is distrusted`() async throws {
    let (world, other) = try await lookAlike()
    let listed = try await world.whorl(["reader", "list"])
    let lines = listed.text.split(separator: "\n").map { $0.split(separator: "\t") }
    #expect(lines.count == 2, "\(listed.text)")
    #expect(lines.map { $0[2] } == ["untrusted", "trusted"])
    #expect(lines.map { $0[3] } == ["virtual", "not here"])

    let trusted = try await type([World.passcode], to: Self.trusting, ["reader", "trust"], in: world)
    #expect(trusted.status == 0, "\(trusted.text)")
    try await Self.open("mail", in: world, scanning: other)
    let status = try await world.whorl(["status"])
    #expect(!status.text.contains("not trusted"), "\(status.text)")

    #expect(try await world.whorl(["reader", "distrust"]).status == 2, "two are trusted")
    #expect(try await world.whorl(["reader", "distrust", String(lines[0][0])]).status == 0)
    #expect(try await world.whorl(["get", "mail"]).status == 7)
    #expect(try await world.whorl(["reader", "distrust", "--all"]).status == 0)
    #expect(try await world.whorl(["reader", "distrust"]).status == 3)
  }

  @Test func `With a reader that is not trusted beside it, a trusted one serves secrets in a process of its own`()
    async throws
  {
    let world = try await World()
    let stranger = VirtualDevice(socket: world.folder("stranger"))
    let drivers = "virtual_image:virtual_device_storage"
    let daemon = try await world.startDaemon(adding: [
      "FP_VIRTUAL_DEVICE_STORAGE": stranger.socket, "FP_DRIVERS_WHITELIST": drivers, "FP_DRIVERS_ALLOWLIST": drivers,
    ])
    // The command takes the first reader: have that be the image sensor.
    let probe = try await FprintClient(world, reader: 0)
    try #require(try await !probe.ask("name").contains("storage"), "the order of libfprint's drivers has changed")
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    /// The processes that serve the image sensor alone.
    func own() throws -> [pid_t] {
      try world.bridges(of: daemon).filter {
        try String(decoding: Bytes.read("/proc/\($0)/cmdline"), as: UTF8.self).contains("--only")
      }
    }
    let usual = try world.bridges(of: daemon).filter { [served = try own()] in !served.contains($0) }

    for press in [3, 4] {
      let get = try world.start(["get", "mail"])
      _ = try await world.nextPrompt(get, after: 0)
      let others = try own()
      #expect(others.count == 1)
      let environment = try String(
        decoding: Bytes.read("/proc/\(others.first ?? 0)/environ"), as: UTF8.self
      ).split(separator: "\0").sorted()
      #expect(environment.contains("FP_DRIVERS_ALLOWLIST=virtual_image"), "\(environment)")
      #expect(!environment.contains { $0.contains("STORAGE") || $0.contains("storage") }, "\(environment)")
      try await world.reader.press(SyntheticFinger.leftLoop.press(press))
      let result = try await get.wait()
      #expect(result.text == "a", "\(result.errorText)")
    }
    // Logins go on as they were; a miss and a cancel leave nothing behind.
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(5)]).status == 0)
    let wrong = try await world.whorl(["get", "mail"], pressing: (1...3).map { SyntheticFinger.whorl.press($0) })
    #expect(wrong.status == 4, "\(wrong.errorText)")
    let cancelled = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(cancelled, after: 0)
    cancelled.signal(SIGINT)
    #expect(try await cancelled.wait().status == 5)
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(6)]).status == 0)

    // Nor does the death of the usual one matter to a secret that is asked for.
    let get = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(get, after: 0)
    for pid in usual { kill(pid, SIGKILL) }
    try await world.reader.press(SyntheticFinger.leftLoop.press(7))
    let result = try await get.wait()
    #expect(result.text == "a", "\(result.errorText)")
  }

  @Test func `A reader that is distrusted while it waits opens nothing`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let get = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(get, after: 0)
    #expect(try await world.whorl(["reader", "distrust", "--all"]).status == 0)
    try await world.reader.press(SyntheticFinger.leftLoop.press(3))
    let result = try await get.wait()
    #expect(result.status == 10, "\(result.errorText)")
    #expect(result.output.isEmpty)
    #expect(result.errorText.contains("whorl reader trust"), "\(result.errorText)")
  }
}
