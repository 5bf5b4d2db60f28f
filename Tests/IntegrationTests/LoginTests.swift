import Bus
import TestKit
import Testing

/// Logins through pam_whorl.so at which no finger is, or shall be, asked for: they go on to the password at once, and
/// `whorl status` says why.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LoginTests {
  /// Authenticates root through the module, which must end without a prompt where `fingers` is nil.
  private func login(
    _ world: World, options: String = "timeout=20 max-tries=1", in session: String? = nil,
    logind: MockLogind? = nil, pressing finger: FingerImage? = nil
  ) async throws -> RunningProgram.Result {
    let module = SourceTree.path("build/pam_whorl.so")
    try world.folder.makeFolder("pam.d", mode: 0o755)
    try world.folder.write(
      "auth required \(module) \(options)\naccount required pam_permit.so\n", to: "pam.d/whorl-test")
    return try await PamWrapperLock.hold {
      let program = try RunningProgram(
        "/bin/sh",
        [
          "-c",
          "read go; LD_PRELOAD=libpam_wrapper.so PAM_WRAPPER=1 exec stdbuf -oL pamtester whorl-test root authenticate",
        ],
        environment: [
          "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address,
          "PAM_WRAPPER_SERVICE_DIR": world.folder("pam.d"),
        ])
      if let session, let logind { try logind.place(program, in: session) }
      try program.write("go\n")
      if let finger {
        _ = try await world.nextPrompt(program, after: 0, in: .output)
        try await world.reader.press(finger)
      }
      return try await program.wait()
    }
  }

  private func expectNoPrompt(_ ended: RunningProgram.Result, at location: SourceLocation = #_sourceLocation) {
    #expect(ended.status != 0, sourceLocation: location)
    #expect(
      ended.text.contains("cannot retrieve authentication info") || ended.errorText.contains("cannot retrieve"),
      "\(ended.text) \(ended.errorText)", sourceLocation: location)
    #expect(!ended.text.contains("finger"), "\(ended.text)", sourceLocation: location)
  }

  private func expectStatus(
    _ world: World, says text: String, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let status = try await world.whorl(["status"])
    #expect(
      status.text.contains("whorl-test asked for no finger the last time") && status.text.contains(text),
      "\(status.text)", sourceLocation: location)
  }

  @Test func `A program in a session that the seat does not show is asked for no finger`() async throws {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await logind.knowPrograms()
    try await logind.addSession("c1", user: 0, active: false)
    try await logind.addSession("c2", user: 0, active: true)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    expectNoPrompt(try await login(world, in: "c1", logind: logind))
    try await expectStatus(world, says: "not the one that the screen shows")
    let seen = try await login(world, in: "c2", logind: logind, pressing: SyntheticFinger.leftLoop.press(2))
    #expect(seen.status == 0, "\(seen.text)")
    #expect(try await !world.whorl(["status"]).text.contains("asked for no finger"))
  }

  @Test func `A lid that is closed over the reader is asked for no finger`() async throws {
    let world = try await World()
    let logind = try await MockLogind(world)
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    try await logind.closeLid(true)
    expectNoPrompt(try await login(world))
    try await expectStatus(world, says: "lid is closed")
    try await logind.closeLid(false)
    #expect(try await login(world, pressing: SyntheticFinger.leftLoop.press(2)).status == 0)
  }

  @Test func `With passcode-after-boot the password comes first`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop, adopting: false)
    let options = "timeout=20 max-tries=1 passcode-after-boot"
    expectNoPrompt(try await login(world, options: options))
    try await expectStatus(world, says: "password has to be given once")
    #expect(try await login(world, pressing: SyntheticFinger.leftLoop.press(2)).status == 0, "without the option")
    try await world.adopt()
    #expect(try await login(world, options: options, pressing: SyntheticFinger.leftLoop.press(3)).status == 0)
    daemon.signal(15)
    _ = try await daemon.wait()
    try await world.startDaemon()
    let after = try await login(world, options: options, pressing: SyntheticFinger.leftLoop.press(4))
    #expect(after.status == 0, "another start of whorld is none of the machine's")
  }

  @Test func `A service that asked three times in vain is asked for no finger for a while, and others are`()
    async throws
  {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    for number in 1...3 { #expect(try await login(world, pressing: SyntheticFinger.whorl.press(number)).status != 0) }
    expectNoPrompt(try await login(world))
    try await expectStatus(world, says: "too often in vain")
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(2)]).status == 0)
  }

  @Test func `Why there was no finger is logged once, and not at each try`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    for _ in 0..<3 { expectNoPrompt(try await login(world)) }
    let lines = daemon.text(.errors).split(separator: "\n").filter { $0.contains("no finger for root at whorl-test") }
    #expect(lines.count == 1, "\(lines)")
  }
}
