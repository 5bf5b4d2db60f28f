import TestKit
import Testing

/// A reader that is too hot is left alone until it has cooled down, and everybody is told.
@Suite(.timeLimit(.minutes(3))) struct HeatTests {
  @Test func `Too hot ends what runs at once, and nothing bothers the reader for the next while`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    let locker = try await FprintClient(world)
    try await locker.ask("claim")
    try await locker.ask("verify")
    try await locker.waitFor("needed True", after: 0)
    let tooHot: Int32 = 0x101
    try await world.reader.fail(tooHot)
    try await locker.waitFor("status verify-disconnected done", after: 0)
    try await daemon.waitFor("is too hot and rests for 30 s", in: .errors)
    try await locker.ask("stop")

    // As a locker does that tries again and again.
    let seen = locker.position
    for _ in 1...5 {
      try await locker.ask("verify")
      try await locker.ask("stop")
    }
    #expect(!locker.program.text().dropFirst(seen).contains("needed True"))
    let refused = try await world.whorl(["get", "mail"])
    #expect(refused.status == 7 && refused.errorText.contains("too hot"), "\(refused.errorText)")
    #expect(refused.errorText.contains(" s)"), "until when: \(refused.errorText)")
    let status = try await world.whorl(["status"])
    #expect(
      status.status == 7 && status.text.split(separator: "\n").count { $0.contains("too hot") } == 1, "\(status.text)")
    try await locker.ask("release")
    let enrolment = try await world.whorl(["enroll", "left-thumb"])
    #expect(enrolment.status == 7 && !enrolment.errorText.contains("stage 1"), "\(enrolment.errorText)")
  }
}
