import Glibc
import TestKit
import Testing

/// Enrolling and deleting need polkit's plain yes.
@Suite(.timeLimit(.minutes(3))) struct PolkitTests {
  @Test(arguments: [PolkitMock.Answer.deny, .challenge, .error, .garbage, .crash])
  func `A polkit that does not say yes means no`(_ answer: PolkitMock.Answer) async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    try await world.polkit?.answer(answer)
    #expect(try await world.whorl(["enroll", "left-thumb"]).status == 10)
    #expect(try await world.whorl(["delete", "right-index-finger"]).status == 10)
    #expect(Bytes.exists(world.state + "/root/virtual_image/0/7"))
  }

  @Test func `Without polkit nobody enrols`() async throws {
    let world = try await World(polkit: nil)
    try await world.startDaemon()
    #expect(try await world.whorl(["enroll"]).status == 10)
    #expect(!Bytes.exists(world.state + "/root"))
  }

  @Test func `Polkit's dialogue closes when nobody waits for its answer any more`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.polkit?.answer(.dialog)
    let enrolment = try world.start(["enroll", "left-thumb"])
    try await world.polkit?.program.waitFor("\t1\n")
    enrolment.signal(SIGINT)
    #expect(try await enrolment.wait().status == 5)
    let polkit = try #require(world.polkit)
    try await polkit.program.waitFor("cancelled\t")
    let lines = polkit.program.text().split(separator: "\n").map { $0.split(separator: "\t") }
    let asked = lines.last { $0.first == "cancellable" }?.last
    #expect(lines.last { $0.first == "cancelled" }?.last == asked)
  }

  @Test func `A polkit that says nothing keeps only the one who asked waiting`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    try await world.polkit?.answer(.hang)
    let enrolment = try world.start(["enroll", "left-thumb"])
    let asked = { world.polkit?.checks.last?.action == "net.reactivated.fprint.device.verify" }
    // The next request goes through while that one waits for polkit.
    #expect(try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)]).text == "a")
    #expect(enrolment.isRunning)
    #expect(asked())
    enrolment.signal(SIGINT)
    #expect(try await enrolment.wait().status == 5)
  }
}
