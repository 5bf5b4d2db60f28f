import Foundation
import Glibc
import TestKit
import Testing

/// Sleep at every moment, again and again, with a logind that may fail.
@Suite(.timeLimit(.minutes(10))) struct SleepCycleTests {
  /// A world in which a finger is enrolled and whorld holds its lock.
  private struct Setting {
    let world: World
    let logind: MockLogind
    let daemon: RunningProgram

    init() async throws {
      world = try await World()
      logind = try await MockLogind(world)
      daemon = try await world.startDaemon()
      try await daemon.waitFor("Got delay inhibitor for sleep", in: .errors)
      try await world.enroll(.leftLoop)
      try #require(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    }

    /// The machine goes to sleep: returns when the lock is released.
    func sleep() async throws {
      let seen = daemon.text(.errors).utf8.count
      try await logind.prepareForSleep(true)
      try await daemon.waitFor("Released delay inhibitor for sleep", in: .errors, skipping: seen)
    }

    /// The machine wakes: returns when the lock is held again.
    func wake() async throws {
      let seen = daemon.text(.errors).utf8.count
      try await logind.prepareForSleep(false)
      try await daemon.waitFor("Got delay inhibitor for sleep", in: .errors, skipping: seen)
    }

    func expectNoBridge() {
      #expect(throws: WorldError.self, "no bridge sleeps") { try world.bridge(of: daemon) }
    }

    func expectThatAFingerOpens(_ number: Int = 9) async throws {
      let opened = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(number)])
      #expect(opened.text == "a", "\(opened.errorText)")
    }
  }

  @Test func `Fifty sleeps cost a locker no claim, and the next touch works after each`() async throws {
    let setting = try await Setting()
    let locker = try await FprintClient(setting.world)
    try await locker.ask("claim")
    for cycle in 1...50 {
      var seen = locker.position
      try await locker.ask("verify")
      try await locker.waitFor("needed True", after: seen)
      try await setting.sleep()
      try await locker.waitFor("status verify-unknown-error done", after: seen)
      try await locker.waitFor("needed False", after: seen)
      setting.expectNoBridge()
      try await setting.wake()

      try await locker.ask("stop")
      seen = locker.position
      try await locker.ask("verify")
      try await locker.waitFor("needed True", after: seen)
      try await setting.world.reader.press(SyntheticFinger.leftLoop.press(cycle % 20))
      try await locker.waitFor("status verify-match done", after: seen)
      try await locker.ask("stop")
    }
    #expect(try await locker.ask("devices") == "ok devices 1 /net/reactivated/Fprint/Device/0")
    try await locker.ask("release")
    try await setting.expectThatAFingerOpens()
  }

  @Test func `Between the announcement and the wake no bridge starts: lockers wait, others are told why`() async throws
  {
    let setting = try await Setting()
    let world = setting.world
    try await setting.sleep()
    setting.expectNoBridge()

    let refused = try await world.whorl(["get", "mail"])
    #expect(refused.status != 0 && refused.errorText.contains("about to sleep"), "\(refused.errorText)")

    let locker = try await FprintClient(world)
    try await locker.ask("claim")
    try await locker.ask("enroll left-thumb")
    try await locker.waitFor("status enroll-unknown-error done", after: 0)
    try await locker.ask("enrollstop")
    let seen = locker.position
    try await locker.ask("verify")
    #expect(try await locker.ask("devices").hasPrefix("ok devices 1 "))
    setting.expectNoBridge()

    try await setting.wake()
    try await locker.waitFor("needed True", after: seen)
    try await world.reader.press(SyntheticFinger.leftLoop.press(4))
    try await locker.waitFor("status verify-match done", after: seen)
    try await locker.ask("stop")
    try await locker.ask("release")
  }

  @Test func `A sleep in the middle of an enrolment, of a Release and of polkit's question`() async throws {
    let setting = try await Setting()
    let world = setting.world
    let client = try await FprintClient(world)
    try await client.ask("claim")
    try await client.ask("enroll left-thumb")
    try await client.waitFor("needed True", after: 0)
    try await world.reader.press(SyntheticFinger.whorl.press(1))
    try await client.waitFor("status enroll-stage-passed goes-on", after: 0)
    try await setting.sleep()
    try await client.waitFor("status enroll-unknown-error done", after: 0)
    try await setting.wake()
    try await client.ask("enrollstop")
    #expect(try await world.whorl(["fingers"]).text.contains("left-thumb") == false)

    // The Release and the sleep at once.
    try await client.ask("verify")
    let released = Task { try await client.ask("release") }
    try await setting.sleep()
    _ = try await released.value
    try await setting.wake()

    try await world.polkit?.answer(.hang)
    let asking = try await FprintClient(world)
    try asking.say("claim")
    try await world.polkit?.program.waitFor("net.reactivated.fprint.device.verify")
    try await setting.sleep()
    setting.expectNoBridge()
    try await setting.wake()
    try await world.polkit?.answer(.allow)
    try await client.ask("claim")
    try await client.ask("release")
    try await setting.expectThatAFingerOpens()
  }

  @Test func `A bridge that is stuck does not keep the machine from its sleep`() async throws {
    let setting = try await Setting()
    let request = try setting.world.start(["get", "mail"])
    _ = try await setting.world.nextPrompt(request, after: 0)
    let bridge = try setting.world.bridge(of: setting.daemon)
    kill(bridge, SIGSTOP)
    try await setting.sleep()
    setting.expectNoBridge()
    #expect(try await request.wait().status == 5)
    try await setting.wake()
    try await setting.expectThatAFingerOpens()
  }

  @Test func `whorld that starts while the machine goes to sleep waits for the wake`() async throws {
    let world = try await World()
    let first = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    first.signal(SIGTERM)
    _ = try await first.wait()

    let logind = try await MockLogind(world, parameters: #"{"PreparingForSleep": true}"#)
    let daemon = try await world.startDaemon()
    try await daemon.waitFor("the machine is about to sleep", in: .errors)
    let refused = try await world.whorl(["get", "mail"])
    #expect(refused.status != 0 && refused.errorText.contains("about to sleep"), "\(refused.errorText)")
    #expect(!daemon.text(.errors).contains("Got delay inhibitor"))
    #expect(throws: WorldError.self) { try world.bridge(of: daemon) }

    try await logind.prepareForSleep(false)
    try await daemon.waitFor("Got delay inhibitor for sleep", in: .errors)
    let opened = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(2)])
    #expect(opened.text == "a", "\(opened.errorText)")
  }

  @Test func `A logind that dies in the sleep and comes back is asked whether the machine is awake`() async throws {
    let setting = try await Setting()
    try await setting.sleep()
    setting.logind.program.signal(SIGKILL)
    _ = try await setting.logind.program.wait()
    let seen = setting.daemon.text(.errors).utf8.count
    let second = try await MockLogind(setting.world)
    try await setting.daemon.waitFor("Got delay inhibitor for sleep", in: .errors, skipping: seen)
    try await setting.expectThatAFingerOpens()
    withExtendedLifetime(second) {}
  }
}
