import Bus
import Foundation
import Glibc
import TestKit
import Testing

/// Secrets that take the login password once, through whorld as it is, with PAM's answer from pam_wrapper.
@Suite(.timeLimit(.minutes(3))) struct KeybagTests {
  private func world() async throws -> (World, RunningProgram) {
    let world = try await World()
    try world.setPasscode()
    return (world, try await world.startDaemon())
  }

  private func restart(_ world: World, _ daemon: RunningProgram) async throws -> RunningProgram {
    daemon.signal(SIGTERM)
    #expect(try await daemon.wait().status == 0)
    return try await world.startDaemon()
  }

  /// Waits until `whorl status` says this.
  private func status(_ world: World, says words: String) async throws {
    while try await !world.whorl(["status"]).text.contains(words) { try Task.checkCancellation() }
  }

  private func changePassword(_ world: World, to password: String) throws {
    try world.folder.write("root:\(password):whorl-passcode\n", to: "state/.whorl/passdb", mode: 0o600)
  }

  @Test func `A secret for unlocked sessions takes the password once after each start`() async throws {
    let (world, daemon) = try await world()
    let locked = try await world.whorl(
      ["set", "early", "--require", "none", "--accessible", "when-unlocked"], to: "x")
    #expect(locked.status == 16, "\(locked.errorText)")
    #expect(locked.errorText.contains("whorl unlock"))
    #expect(try await world.onTerminal(["unlock"], ["Your password": World.passcode]).status == 0)
    let set = try await world.whorl(["set", "mail", "--require", "none", "--accessible", "when-unlocked"], to: "kept")
    #expect(set.status == 0, "\(set.errorText)")
    #expect(try await world.whorl(["set", "plain", "--require", "none"], to: "open").status == 0)
    #expect(try await world.whorl(["get", "mail"]).text == "kept")

    _ = try await restart(world, daemon)
    let silent = try await world.whorl(["get", "mail"])
    #expect(silent.status == 12 && silent.output.isEmpty, "\(silent.errorText)")
    #expect(try await world.whorl(["get", "plain"]).text == "open")
    #expect(try await world.whorl(["list"]).text.contains("mail\tnone when-unlocked"))
    let get = try await world.onTerminal(["get", "mail"], ["Your password": World.passcode])
    #expect(get.status == 0 && get.text.contains("kept"), "\(get.text)")
    #expect(try await world.whorl(["get", "mail"]).text == "kept")
    #expect(try await world.whorl(["lock"]).status == 0)
    #expect(try await world.whorl(["get", "mail"]).status == 12)
  }

  @Test func `A password changed by other means: the former one is asked for once, and the recovery key does too`()
    async throws
  {
    let (world, daemon) = try await world()
    let made = try await world.onTerminal(["recovery-key"], ["Your password": World.passcode])
    let key = try #require(made.text.split(whereSeparator: \.isWhitespace).first { $0.count == 41 })
    #expect(
      try await world.whorl(["set", "mail", "--require", "none", "--accessible", "after-first-unlock"], to: "kept")
        .status
        == 0)
    var running = try await restart(world, daemon)
    try changePassword(world, to: "the new one")
    let unlocked = try await world.onTerminal(
      ["unlock"],
      [
        "Your password": "the new one", "Your former password": "neither", "Your former password": "",
        "Recovery key": String(key),
      ])
    #expect(unlocked.status == 0 && unlocked.text.contains("not the password"), "\(unlocked.text)")
    #expect(try await world.whorl(["get", "mail"]).text == "kept")

    running = try await restart(world, running)
    try changePassword(world, to: "a third")
    #expect(
      try await world.onTerminal(
        ["unlock"], ["Your password": "a third", "Your former password": "the new one"]
      ).status == 0)
    running = try await restart(world, running)
    #expect(try await world.onTerminal(["unlock"], ["Your password": "a third"]).status == 0)
    #expect(try await world.whorl(["get", "mail"]).text == "kept")
    // Revoked, it opens nothing.
    #expect(try await world.onTerminal(["recovery-key", "--revoke"], ["Your password": "a third"]).status == 0)
    #expect(try await world.whorl(["lock"]).status == 0)
    let refused = try await world.onTerminal(
      ["unlock", "--recovery"], ["Recovery key": String(key), "Recovery key": ""])
    #expect(refused.status != 0 && refused.text.contains("Not accepted"), "\(refused.text)")
  }

  @Test func `The recovery key gives what a finger guards, without a reader`() async throws {
    let (world, daemon) = try await world()
    try await world.enroll(.leftLoop)
    let made = try await world.onTerminal(["recovery-key"], ["Your password": World.passcode])
    let key = try #require(made.text.split(whereSeparator: \.isWhitespace).first { $0.count == 41 })
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "kept").status == 0)
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    // Its reader is gone.
    try await world.startDaemon(adding: ["FP_VIRTUAL_IMAGE": world.folder("nowhere")])
    let client = try await Client(world)
    let context = try await client.give(String(key), by: "ProvideRecoveryKey")
    #expect(try await client.secret("mail", in: context) == "kept")
  }

  @Test func `A locked screen puts its secrets out of reach, and its own word does not bring them back`() async throws {
    let world = try await World()
    try world.setPasscode()
    let logind = try await MockLogind(world)
    try await logind.addSession("c1", user: 0, active: true)
    try await world.startDaemon()
    // As a compositor does that was started from a console.
    try await logind.update("c1", ["Type": .string("wayland")])
    #expect(try await world.onTerminal(["unlock"], ["Your password": World.passcode]).status == 0)
    for (name, accessible) in [("screen", "when-unlocked"), ("login", "after-first-unlock")] {
      #expect(
        try await world.whorl(["set", name, "--require", "none", "--accessible", accessible], to: name).status == 0)
    }
    try await logind.update("c1", ["LockedHint": .boolean(true)])
    try await status(world, says: "wait until your session is")
    let locked = try await world.whorl(["get", "screen"])
    #expect(locked.status == 16 && locked.output.isEmpty, "\(locked.errorText)")
    #expect(try await world.whorl(["get", "login"]).text == "login")

    try await logind.update("c1", ["LockedHint": .boolean(false)])
    // Neither a finger nor the password was seen since: it is asked for, and there is no terminal.
    while try await world.whorl(["get", "screen"]).status == 16 { try Task.checkCancellation() }
    #expect(try await world.whorl(["get", "screen"]).status == 12)
    #expect(try await world.onTerminal(["get", "screen"], ["Your password": World.passcode]).status == 0)
    #expect(try await world.whorl(["get", "screen"]).text == "screen")

    // Logged out, everything takes the password again.
    try await logind.end("c1")
    try await status(world, says: "locked but for secrets that are always accessible")
    #expect(try await world.whorl(["get", "login"]).status == 12)
  }

  @Test func `A lost device key is named, and the recovery key brings everything back`() async throws {
    let (world, daemon) = try await world()
    try await world.enroll(.leftLoop)
    let made = try await world.onTerminal(["recovery-key"], ["Your password": World.passcode])
    let key = try #require(made.text.split(whereSeparator: \.isWhitespace).first { $0.count == 41 })
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "finger").status == 0)
    #expect(
      try await world.whorl(["set", "note", "--require", "none", "--accessible", "when-unlocked"], to: "kept").status
        == 0)
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    // Another machine: systemd's host key there is another one.
    try FileManager.default.removeItem(atPath: world.state + "/.whorl/host.secret")
    try await world.startDaemon()
    let status = try await world.whorl(["status"])
    #expect(status.status == 11 && status.text.contains("whorl recover"), "\(status.text)")
    #expect(try await world.whorl(["get", "note"]).status == 11)
    let back = try await world.onTerminal(
      ["recover"],
      [
        "Recovery key": "00000-00000", "Recovery key": String(key),
        "Your password, to unlock them from now on": World.passcode,
      ])
    #expect(back.status == 0 && back.text.contains("Your password unlocks them from now on."), "\(back.text)")
    #expect(try await world.whorl(["get", "note"]).text == "kept")
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)]).text == "finger")
    // After a lock the password is enough: neither the former one nor the key from the paper.
    #expect(try await world.whorl(["lock"]).status == 0)
    #expect(try await world.onTerminal(["unlock"], ["Your password": World.passcode]).status == 0)
    #expect(try await world.whorl(["get", "note"]).text == "kept")
  }
}
