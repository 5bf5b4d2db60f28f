import Bus
import Foundation
import Glibc
import TestKit
import Testing

/// Unlocked secrets while logind is silent, or gone, or another one.
@Suite(.timeLimit(.minutes(3))) struct LogindTests {
  private func unlocked() async throws -> (World, MockLogind) {
    let world = try await World()
    try world.setPasscode()
    let logind = try await MockLogind(world)
    try await logind.addSession("c1", user: 0, active: true)
    try await world.startDaemon()
    try await logind.update("c1", ["Type": .string("wayland")])
    try await unlock(world)
    for (name, accessible) in [("screen", "when-unlocked"), ("login", "after-first-unlock")] {
      #expect(
        try await world.whorl(["set", name, "--require", "none", "--accessible", accessible], to: name).status == 0)
    }
    return (world, logind)
  }

  private func unlock(_ world: World) async throws {
    let program = try world.startOnTerminal(["unlock"])
    try await program.waitFor("Your password")
    try program.write(World.passcode + "\n")
    #expect(try await program.wait().status == 0)
  }

  /// Waits until `whorl status` says this.
  private func status(_ world: World, says words: String) async throws {
    while try await !world.whorl(["status"]).text.contains(words) { try Task.checkCancellation() }
  }

  @Test func `A logind that does not answer locks nothing and unlocks nothing, and what it says later counts`()
    async throws
  {
    let (world, logind) = try await unlocked()
    logind.program.signal(SIGSTOP)
    #expect(try await world.whorl(["get", "login"]).text == "login")
    #expect(try await world.whorl(["get", "screen"]).text == "screen")
    #expect(try await world.whorl(["lock"]).status == 0)
    #expect(try await world.whorl(["get", "login"]).status == 12)
    try await unlock(world)
    #expect(try await world.whorl(["get", "screen"]).text == "screen")
    logind.program.signal(SIGCONT)
    try await logind.update("c1", ["LockedHint": .boolean(true)])
    try await status(world, says: "wait until your session is")
    #expect(try await world.whorl(["get", "screen"]).status == 16)
    #expect(try await world.whorl(["get", "login"]).text == "login")
  }

  @Test func `A logind that is gone is no logout; one that comes and knows no session of the user's is`() async throws {
    let (world, logind) = try await unlocked()
    logind.program.signal(SIGKILL)
    _ = try await logind.program.wait()
    #expect(try await world.whorl(["get", "login"]).text == "login")
    #expect(try await world.whorl(["get", "screen"]).text == "screen")
    let another = try await MockLogind(world)
    try await status(world, says: "locked but for secrets that are always accessible")
    #expect(try await world.whorl(["get", "login"]).status == 12)
    // Nothing unlocks by itself, and the password does.
    try await unlock(world)
    #expect(try await world.whorl(["get", "login"]).text == "login")
    #expect(another.program.isRunning)
  }

  @Test func `A screen that was locked stays locked when logind goes`() async throws {
    let (world, logind) = try await unlocked()
    try await logind.update("c1", ["LockedHint": .boolean(true)])
    try await status(world, says: "wait until your session is")
    logind.program.signal(SIGKILL)
    _ = try await logind.program.wait()
    #expect(try await world.whorl(["get", "screen"]).status == 16)
    #expect(try await world.whorl(["get", "login"]).text == "login")
  }
}
