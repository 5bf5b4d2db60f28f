import Keychain
import Testing

@testable import Enclave

@Suite(.timeLimit(.minutes(1)))
struct `The passcode` {
  @Test func `delay begins with the third wrong one, doubles, and ends at an hour`() {
    let expected = [0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    #expect((0..<12).map { LockoutPolicy.passcodeDelay(afterFailures: $0) } == expected)
    #expect(LockoutPolicy.passcodeDelay(afterFailures: 255) == 3600)
    #expect(LockoutPolicy.passcodeDelay(afterFailures: .max) == 3600)
  }

  @Test func `wrong three times is not looked at for 30 seconds, not even the right one`() async throws {
    let bench = try Bench()
    let context = try await bench.context()
    for _ in 0..<3 {
      let error = await enclaveError { try await bench.givePasscode("wrong", to: context) }
      #expect(error?.busName == "org.whorl.Error.AuthenticationFailed")
    }
    #expect(await enclaveError { try await bench.givePasscode(to: context) } == .passcodeDelayed(seconds: 30))
    bench.clock.advance(seconds: 29)
    #expect(await enclaveError { try await bench.givePasscode(to: context) } == .passcodeDelayed(seconds: 1))
    #expect(await bench.enclave.status(user: Bench.alice).passcodeDelay == 1)
    #expect(bench.passcodes.attempts.events.count == 3)
    bench.clock.advance(seconds: 1)
    let error = await enclaveError { try await bench.givePasscode("wrong", to: context) }
    #expect(error?.busName == "org.whorl.Error.AuthenticationFailed")
    #expect(await enclaveError { try await bench.givePasscode(to: context) } == .passcodeDelayed(seconds: 60))
    bench.clock.advance(seconds: 60)
    try await bench.givePasscode(to: context)
    let record = try bench.recordOnDisk()
    #expect(record.passcodeFailures == 0 && record.passcodeNotBefore == 0 && record.misses == 0)
  }

  @Test func `asked for during its delay is answered with the delay, so that nobody types in vain`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", .devicePasscode)
    let context = try await bench.context()
    for _ in 0..<3 { _ = await enclaveError { try await bench.givePasscode("wrong", to: context) } }
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeDelayed(seconds: 30))
  }

  @Test func `delay survives a restart of the daemon and of the machine`() async throws {
    let bench = try Bench()
    let context = try await bench.context()
    for _ in 0..<3 { _ = await enclaveError { try await bench.givePasscode("wrong", to: context) } }
    let second = try bench.restarted()
    let again = try await second.context()
    #expect(await enclaveError { try await second.givePasscode(to: again) } == .passcodeDelayed(seconds: 30))
    let wall = bench.clock.wallTime()
    bench.clock.reboot(wall: wall + 10)
    let third = try second.restarted()
    let anew = try await third.context()
    #expect(await enclaveError { try await third.givePasscode(to: anew) } == .passcodeDelayed(seconds: 20))
    third.clock.advance(seconds: 20)
    try await third.givePasscode(to: anew)
  }

  @Test func `delay does not follow the wall clock while the machine runs`() async throws {
    let bench = try Bench()
    let context = try await bench.context()
    for _ in 0..<3 { _ = await enclaveError { try await bench.givePasscode("wrong", to: context) } }
    bench.clock.setWall(bench.clock.wallTime() + 86_400)
    #expect(await enclaveError { try await bench.givePasscode(to: context) } == .passcodeDelayed(seconds: 30))
    bench.clock.setWall(0)
    bench.clock.advance(seconds: 30)
    try await bench.givePasscode(to: context)
  }

  @Test(arguments: [0, 1_484_640_000, Int64.min / 2] as [Int64])
  func `delay is never longer than its length, though the clock was years ahead when it began`(
    wall: Int64
  ) async throws {
    let bench = try Bench()
    let context = try await bench.context()
    for _ in 0..<3 { _ = await enclaveError { try await bench.givePasscode("wrong", to: context) } }
    bench.clock.reboot(wall: wall)
    let second = try bench.restarted()
    let again = try await second.context()
    #expect(await enclaveError { try await second.givePasscode(to: again) } == .passcodeDelayed(seconds: 30))
    second.clock.advance(seconds: 30)
    try await second.givePasscode(to: again)
  }

  @Test func `wrong does not end the lockout of fingers`() async throws {
    let bench = try Bench()
    try await bench.miss(5)
    let context = try await bench.context()
    _ = await enclaveError { try await bench.givePasscode("wrong", to: context) }
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
    try await bench.givePasscode(to: context)
    #expect(await !bench.enclave.isLockedOut(user: Bench.alice))
  }

  @Test func `is charged before it is looked at, and stays so where the caller goes away`() async throws {
    let bench = try Bench()
    let context = try await bench.context()
    bench.passcodes.hold()
    let attempt = Task { try await bench.givePasscode("wrong", to: context) }
    try await bench.passcodes.attempts.wait { $0.count == 1 }
    #expect(try bench.recordOnDisk().passcodeFailures == 1)
    attempt.cancel()
    await bench.enclave.connectionClosed(":1.10")
    bench.passcodes.letGo()
    _ = await attempt.result
    #expect(try bench.recordOnDisk().passcodeFailures == 1)
  }

  @Test func `right for a context that has ended meanwhile covers nothing`() async throws {
    let bench = try Bench()
    let context = try await bench.context(reuse: 300)
    bench.passcodes.hold()
    let attempt = Task { try await bench.givePasscode(to: context) }
    try await bench.passcodes.attempts.wait { $0.count == 1 }
    try await bench.enclave.invalidate(context, owner: .alice)
    bench.passcodes.letGo()
    #expect(await enclaveError { try await attempt.value } == .invalidContext)
  }

  @Test func `is looked at one at a time, so that many at once do not outrun the delay`() async throws {
    let bench = try Bench()
    let context = try await bench.context()
    bench.passcodes.hold()
    let first = Task { try await bench.givePasscode("wrong", to: context) }
    try await bench.passcodes.attempts.wait { $0.count == 1 }
    for _ in 0..<20 {
      let error = await enclaveError { try await bench.givePasscode("guess", to: context) }
      #expect(error?.busName == "org.whorl.Error.Busy")
    }
    bench.passcodes.letGo()
    _ = await first.result
    #expect(bench.passcodes.attempts.events.count == 1)
    try await bench.givePasscode(to: context)
  }

  @Test(arguments: [
    (PasscodeVerdict.unavailable("PAM service whorl-passcode is missing"), "org.whorl.Error.Failed"),
    (.notSet, "org.whorl.Error.PasscodeNotSet"),
  ])
  func `that nobody could judge does not count`(verdict: PasscodeVerdict, name: String) async throws {
    let bench = try Bench()
    try await bench.miss(2)
    let context = try await bench.context()
    _ = await enclaveError { try await bench.givePasscode("wrong", to: context) }
    let before = try bench.recordOnDisk()
    bench.passcodes.setVerdict(verdict)
    for _ in 0..<5 {
      #expect(await enclaveError { try await bench.givePasscode(to: context) }?.busName == name)
    }
    #expect(try bench.recordOnDisk() == before)
  }

  @Test(arguments: ["", "correct\0horse", String(repeating: "x", count: 512)])
  func `that cannot be one is refused without being looked at`(text: String) async throws {
    let bench = try Bench()
    let context = try await bench.context()
    let error = await enclaveError { try await bench.givePasscode(text, to: context) }
    #expect(error?.busName == "org.whorl.Error.Param")
    #expect(bench.passcodes.attempts.events.isEmpty)
    #expect(try bench.restarted().recordOnDisk().passcodeFailures == 0)
  }

  @Test func `attempt that cannot be recorded is not looked at`() async throws {
    let bench = try Bench()
    let context = try await bench.context()
    await bench.enclave.setLockoutFault(.diskFull("/var/lib/whorl"))
    let error = await enclaveError { try await bench.givePasscode(to: context) }
    #expect(error?.busName == "org.whorl.Error.StoreUnavailable")
    #expect(bench.passcodes.attempts.events.isEmpty)
  }

  @Test func `with reuse time 0 answers one policy and the one item that follows`() async throws {
    let bench = try Bench()
    bench.sensor.setAvailability(.noReader("no reader"))
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    _ = try await bench.enclave.evaluate(context, owner: .alice, policy: .owner)
    #expect(
      await enclaveError { _ = try await bench.enclave.evaluate(context, owner: .alice, policy: .owner) }
        == .passcodeNeeded(.noReader("no reader")))
    #expect(try await bench.get("mail", in: context) == "s3cret")
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } != nil)
  }

  @Test func `does not satisfy the policy of fingers`() async throws {
    let bench = try Bench()
    bench.sensor.setAvailability(.noReader("no reader"))
    let context = try await bench.context(reuse: 300)
    try await bench.givePasscode(to: context)
    #expect(
      await enclaveError { _ = try await bench.enclave.evaluate(context, owner: .alice, policy: .biometrics) }
        == .biometryNotAvailable("no reader"))
  }
}
