import Enclave
import Keychain
import Testing

@Suite(.timeLimit(.minutes(1)))
struct `Lockout` {
  @Test func `comes with the fifth miss in a row, through whatever interface, and ends with the passcode`() async throws
  {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context()
    try await bench.miss(2)  // through PAM
    let request = bench.getting("mail", in: context, maxTries: 1)  // for a secret
    try await bench.sensor.armed(3)
    bench.sensor.pressWrong()
    #expect(await request.error?.busName == "org.whorl.Error.AuthenticationFailed")
    // fprintd's face
    #expect(try await !bench.enclave.recordExternalVerification(user: Bench.alice, matched: nil, on: Bench.place))
    #expect(await !bench.enclave.isLockedOut(user: Bench.alice))
    let last = bench.getting("mail", in: context)
    try await bench.sensor.armed(4)
    bench.sensor.pressWrong()
    #expect(await last.error == .passcodeNeeded(.lockedOut))
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
    #expect(await bench.loggingIn().error == .biometryLockout)
    #expect(bench.sensor.armings.events.count == 4)  // locked out: not even armed
    #expect(await enclaveError { try await bench.enclave.requireBiometry(of: Bench.alice) } == .biometryLockout)
    try await bench.givePasscode(to: context)
    #expect(await !bench.enclave.isLockedOut(user: Bench.alice))
    #expect(try bench.recordOnDisk().misses == 0)
    let login = bench.loggingIn()
    try await bench.sensor.armed(5)
    bench.sensor.press(.index)
    _ = try await login.value
  }

  @Test func `answers biometry-only items with BiometryLockout`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    try await bench.miss(5)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .biometryLockout)
  }

  @Test func `counts what several readers saw at the same moment`() async throws {
    let bench = try Bench()
    let login = bench.loggingIn(maxTries: 2)
    try await bench.sensor.armed(1)
    bench.sensor.pressWrong(onReaders: 2)
    #expect(await login.error?.busName == "org.whorl.Error.AuthenticationFailed")
    #expect(try bench.recordOnDisk().misses == 2)
  }

  @Test func `is on the disk before the miss is told to anybody`() async throws {
    let bench = try Bench()
    let seen = EventLog<Int>()
    for turn in 1...4 {
      let login = Task {
        try await bench.enclave.authenticate(
          user: Bench.alice, options: try VerificationOptions(maxTries: 1),
          progress: { progress in
            guard case .noMatch = progress else { return }
            let misses = (try? bench.recordOnDisk().misses) ?? -1
            seen.append(misses)
          })
      }
      try await bench.sensor.armed(turn)
      bench.sensor.pressWrong()
      _ = await login.result
    }
    #expect(seen.events == [1, 2, 3, 4])
  }

  @Test func `survives a restart, and so does the count on the way there`() async throws {
    let bench = try Bench()
    try await bench.miss(3)
    let second = try bench.restarted()
    try await second.miss(1)
    #expect(await second.enclave.status(user: Bench.alice).misses == 4)
    let third = try second.restarted()
    try await third.miss(1)
    let fourth = try third.restarted()
    #expect(await fourth.loggingIn().error == .biometryLockout)
    #expect(fourth.sensor.armings.events.isEmpty)
  }

  @Test func `counts misses in a row: a match begins anew`() async throws {
    let bench = try Bench()
    for turn in 0..<3 {
      try await bench.miss(4)
      let login = bench.loggingIn()
      try await bench.sensor.armed(turn * 5 + 5)
      bench.sensor.press(.index)
      _ = try await login.value
      #expect(try bench.recordOnDisk().misses == 0)
    }
    try await bench.miss(4)
    #expect(
      try await !bench.enclave.recordExternalVerification(
        user: Bench.alice, matched: Finger.index.print, on: Bench.place)
    )
    #expect(try bench.recordOnDisk().misses == 0)
  }

  @Test func `a login with a print that may open no secret leaves the count as it is`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.miss(4)
    let planted = Array("FP3 a print from elsewhere".utf8)
    #expect(try await !bench.enclave.recordExternalVerification(user: Bench.alice, matched: planted, on: Bench.place))
    #expect(try bench.recordOnDisk().misses == 4)
    #expect(
      try await !bench.enclave.recordExternalVerification(
        user: Bench.alice, matched: Finger.index.print, on: Bench.place))
    #expect(try bench.recordOnDisk().misses == 0)
  }

  @Test func `is each user's own`() async throws {
    let bench = try Bench()
    try await bench.miss(5)
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
    #expect(await !bench.enclave.isLockedOut(user: Bench.bob))
    let login = bench.loggingIn(Bench.bob)
    try await bench.sensor.armed(6)
    bench.sensor.press(.index)
    _ = try await login.value
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
  }

  @Test func `in the midst of a request's tries ends it, and tells how many are left before`() async throws {
    let bench = try Bench()
    try await bench.miss(3)
    let log = EventLog<VerificationProgress>()
    let login = bench.loggingIn(maxTries: 5, progress: log)
    try await bench.sensor.armed(4)
    bench.sensor.pressWrong()
    try await bench.sensor.armed(5)
    bench.sensor.pressWrong()
    #expect(await login.error == .biometryLockout)
    #expect(log.events.contains(.noMatch(triesLeft: 1)))
    #expect(log.events.last == .noMatch(triesLeft: 0))
    await bench.expectIdle()
  }

  @Test func `through another interface ends at once what waits for that user's finger`() async throws {
    let bench = try Bench()
    let login = bench.loggingIn()
    try await bench.sensor.armed(1)
    let log = EventLog<VerificationProgress>()
    let queued = bench.loggingIn(progress: log)
    try await log.wait(for: .queued)
    for miss in 1...5 {
      let isLocked = try await bench.enclave.recordExternalVerification(
        user: Bench.alice, matched: nil, on: Bench.place)
      #expect(isLocked == (miss == 5))
    }
    #expect(await login.error == .biometryLockout)
    #expect(await queued.error == .biometryLockout)
    await bench.expectIdle()
  }

  @Test func `makes a match that comes too late a failure`() async throws {
    let bench = try Bench()
    for _ in 0..<5 {
      try await bench.enclave.recordExternalVerification(user: Bench.alice, matched: nil, on: Bench.place)
    }
    #expect(
      try await bench.enclave.recordExternalVerification(
        user: Bench.alice, matched: Finger.index.print, on: Bench.place))
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
  }

  @Test func `recorded by another process while a finger is awaited makes its match a failure`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let login = bench.loggingIn()
    try await bench.sensor.armed(1)
    let other = try bench.restarted()
    for _ in 0..<5 {
      try await other.enclave.recordExternalVerification(user: Bench.alice, matched: nil, on: Bench.place)
    }
    bench.sensor.press(.index)
    #expect(await login.error == .biometryLockout)
    #expect(try bench.recordOnDisk().misses == 5)
  }

  @Test func `ends what earlier touches still covered`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context(reuse: 300)
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    _ = try await request.value
    try await bench.miss(5)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .biometryLockout)
  }

  @Test func `counts a miss whose request was cancelled before the verdict`() async throws {
    let bench = try Bench()
    bench.sensor.setLingers(true)
    for turn in 1...5 {
      let login = bench.loggingIn()
      try await bench.sensor.armed(turn)
      login.cancel()
      #expect(await login.error == .appCancel)
      bench.sensor.pressWrong()
      await bench.expectIdle()
    }
    #expect(try bench.recordOnDisk().misses == 5)
    #expect(await bench.loggingIn().error == .biometryLockout)
  }

  @Test func `takes the place of a miss that cannot be recorded`() async throws {
    let bench = try Bench()
    let login = bench.loggingIn()
    try await bench.sensor.armed(1)
    await bench.enclave.setLockoutFault(.diskFull("/var/lib/whorl"))
    bench.sensor.pressWrong()
    #expect(await login.error?.busName == "org.whorl.Error.StoreUnavailable")
    await bench.enclave.setLockoutFault(nil)  // the disk is well again, and the miss is still unaccounted for
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
    #expect(await bench.loggingIn().error == .biometryLockout)
    #expect(bench.sensor.armings.events.count == 1)
    try await bench.givePasscode(to: try await bench.context())
    #expect(await !bench.enclave.isLockedOut(user: Bench.alice))
  }

  @Test func `takes the place of an external miss that cannot be recorded`() async throws {
    let bench = try Bench()
    await bench.enclave.setLockoutFault(.readOnly("/var/lib/whorl"))
    await #expect(throws: EnclaveError.self) {
      try await bench.enclave.recordExternalVerification(user: Bench.alice, matched: nil, on: Bench.place)
    }
    await bench.enclave.setLockoutFault(nil)
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
  }

  @Test func `cannot be dodged with a store that takes no writes: the reader is not armed`() async throws {
    let bench = try Bench()
    _ = await bench.enclave.status(user: Bench.alice)
    await bench.enclave.setLockoutFault(.diskFull("/var/lib/whorl"))
    #expect(await bench.loggingIn().error?.busName == "org.whorl.Error.StoreUnavailable")
    #expect(await enclaveError { try await bench.enclave.requireBiometry(of: Bench.alice) } != nil)
    #expect(bench.sensor.armings.events.isEmpty)
    await bench.expectIdle()
  }

  @Test func `holds where the device key cannot be had: no finger counts, and the error names the remedy`() async throws
  {
    let bench = try Bench()
    bench.keys.setFailure(.deviceKey("the device key does not open; restore /var/lib/systemd/credential.secret"))
    for error in [
      await bench.loggingIn().error,
      await enclaveError { try await bench.store("x", as: "mail", nil) },
      await enclaveError { try await bench.givePasscode(to: try await bench.context()) },
    ] {
      #expect(error?.busName == "org.whorl.Error.StoreUnavailable")
      #expect(error?.message.contains("credential.secret") == true)
    }
    #expect(await bench.enclave.isLockedOut(user: Bench.alice))
    let status = await bench.enclave.status(user: Bench.alice)
    #expect(status.isLockedOut && status.storeError != nil)
    guard case .unavailable(let why) = status.deviceKey else { return #expect(Bool(false)) }
    #expect(why.contains("credential.secret"))
    #expect(bench.sensor.armings.events.isEmpty)
    #expect(bench.passcodes.attempts.events.isEmpty)
    // One try for all of that: a failing key is not asked for at every call.
    #expect(bench.keys.loads == [true])
    bench.keys.setFailure(nil)
    bench.clock.advance(seconds: 3)
    try await bench.store("x", as: "mail", nil)
  }
}
