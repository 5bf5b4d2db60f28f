import Enclave
import Keychain
import Testing

@Suite(.timeLimit(.minutes(1)))
struct `Constraints` {
  @Test func `none: the secret comes without a prompt and without a reader`() async throws {
    let bench = try Bench()
    bench.sensor.setAvailability(.noReader("no fingerprint reader was found"))
    try await bench.store("open", as: "note", nil)
    let context = try await bench.context()
    #expect(try await bench.get("note", in: context) == "open")
    #expect(bench.sensor.questions.events.isEmpty)
  }

  @Test(arguments: [Constraint.userPresence, .biometryAny, .biometryCurrentSet])
  func `a registered finger opens what takes fingers`(constraint: Constraint) async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", constraint)
    let context = try await bench.context()
    let log = EventLog<VerificationProgress>()
    let request = bench.getting("mail", in: context, progress: log)
    let armed = try await bench.sensor.armed(1)
    #expect(armed.user == Bench.alice && armed.scope == .secret && armed.seconds == 30)
    #expect(await armed.isRegistered(Finger.index.print))
    #expect(await !armed.isRegistered(Finger.middle.print))
    bench.sensor.press(.index)
    #expect(try await request.value == "s3cret")
    #expect(
      log.events == [
        .waiting(reader: "Scripted", scanType: "press", fingers: ["right-index-finger"]),
        .matched(finger: "right-index-finger"),
      ])
  }

  @Test(arguments: [Constraint.biometryAny, .biometryCurrentSet])
  func `the passcode does not open what takes fingers alone`(constraint: Constraint) async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", constraint)
    let context = try await bench.context(reuse: 300)
    try await bench.givePasscode(to: context)
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    try await bench.enclave.cancel(context, owner: .alice, how: .user)
    #expect(await request.error == .userCancel)
  }

  @Test func `device-passcode: no finger opens it, the passcode does, once with reuse time 0`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .devicePasscode)
    try await bench.store("other", as: "finger", .biometryAny)
    let context = try await bench.context(reuse: 300)
    let touched = bench.getting("finger", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    _ = try await touched.value
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.required))
    let once = try await bench.context()
    try await bench.givePasscode(to: once)
    #expect(try await bench.get("mail", in: once) == "s3cret")
    #expect(await enclaveError { _ = try await bench.get("mail", in: once) } == .passcodeNeeded(.required))
    #expect(bench.sensor.armings.events.count == 1)
  }

  @Test func `device-passcode without a passcode says so`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", .devicePasscode)
    bench.passcodes.setState(.locked)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNotSet)
  }

  @Test func `the passcode covers the reuse time, not longer`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", .devicePasscode)
    let context = try await bench.context(reuse: 20)
    try await bench.givePasscode(to: context)
    bench.clock.advance(milliseconds: 19_999)
    #expect(try await bench.get("mail", in: context) == "s3cret")
    bench.clock.advance(milliseconds: 1)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.required))
  }

  @Test(arguments: [
    (BiometryAvailability.noReader("no reader"), PasscodeReason.noReader("no reader")),
    (.notEnrolled, .notEnrolled), (.failed("the reader is broken"), .noReader("the reader is broken")),
  ])
  func `user-presence asks for the passcode where no finger can be asked for`(
    availability: BiometryAvailability, reason: PasscodeReason
  ) async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    bench.sensor.setAvailability(availability)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(reason))
    #expect(
      await enclaveError { _ = try await bench.enclave.evaluate(context, owner: .alice, policy: .owner) }
        == .passcodeNeeded(reason))
    bench.passcodes.setState(.locked)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNotSet)
    bench.passcodes.setState(.set)
    try await bench.givePasscode(to: context)
    #expect(
      try await bench.enclave.evaluate(context, owner: .alice, policy: .owner) == [.userPresence, .devicePasscode])
    #expect(try await bench.get("mail", in: context) == "s3cret")
    #expect(bench.sensor.armings.events.isEmpty)
    await bench.expectIdle()
  }

  @Test(arguments: [
    (BiometryAvailability.noReader("no reader"), EnclaveError.biometryNotAvailable("no reader")),
    (.notEnrolled, .biometryNotEnrolled(.secret)), (.failed("broken"), .sensor("broken")),
  ])
  func `biometry alone says why no finger can be asked for`(
    availability: BiometryAvailability, expected: EnclaveError
  ) async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    bench.sensor.setAvailability(availability)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == expected)
    #expect(
      await enclaveError { _ = try await bench.enclave.evaluate(context, owner: .alice, policy: .biometrics) }
        == expected)
    await bench.expectIdle()
  }

  @Test func `without a registered finger the reader is not even armed for a secret`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .biometryNotEnrolled(.secret))
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test(arguments: [
    (SensorError.timedOut, EnclaveError.timedOut), (.noReader("unplugged"), .biometryNotAvailable("unplugged")),
    (.notEnrolled, .biometryNotEnrolled(.secret)), (.busy("taken"), .busy("taken")), (.failed("hot"), .sensor("hot")),
    (.cancelled, .systemCancel),
  ])
  func `what ends a wait without a verdict is told as it is, and is no miss`(
    failure: SensorError, expected: EnclaveError
  ) async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.end(.failure(failure))
    #expect(await request.error == expected)
    #expect(try bench.recordOnDisk().misses == 0)
    await bench.expectIdle()
  }

  @Test func `declining the finger leads to the passcode for user-presence, and nowhere for biometry`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "presence", .userPresence)
    try await bench.store("s3cret", as: "any", .biometryAny)
    let context = try await bench.context()
    let presence = bench.getting("presence", in: context)
    try await bench.sensor.armed(1)
    try await bench.enclave.cancel(context, owner: .alice, how: .fallback)
    #expect(await presence.error == .passcodeNeeded(.chosen))
    let any = bench.getting("any", in: context)
    try await bench.sensor.armed(2)
    try await bench.enclave.cancel(context, owner: .alice, how: .fallback)
    #expect(await any.error == .userFallback)
  }

  @Test func `an agent's word for the passcode ends what takes it, and leaves what takes a finger alone`() async throws
  {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "presence", .userPresence)
    try await bench.store("s3cret", as: "any", .biometryAny)
    let context = try await bench.context()
    let any = bench.getting("any", in: context)
    try await bench.sensor.armed(1)
    #expect(await bench.enclave.fallback(in: context, owner: .alice) == nil)
    #expect(await !bench.enclave.fallBack(context, owner: .alice))
    let queued = EventLog<VerificationProgress>()
    let presence = bench.getting("presence", in: context, progress: queued)
    try await queued.wait(for: .queued)
    #expect(await bench.enclave.fallback(in: context, owner: .alice) == .passcode)
    #expect(
      await !bench.enclave.fallBack(context, owner: ContextOwner(connection: ":9.9", user: ContextOwner.alice.user)))
    #expect(await bench.enclave.fallBack(context, owner: .alice))
    #expect(await presence.error == .passcodeNeeded(.chosen))
    bench.sensor.press(.index)
    #expect(await any.error == nil)
  }

  @Test func `the passcode given while a finger is awaited lets exactly one user-presence request go on`() async throws
  {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context()
    let first = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    let queued = EventLog<VerificationProgress>()
    let second = bench.getting("mail", in: context, progress: queued)
    try await queued.wait(for: .queued)
    try await bench.givePasscode(to: context)
    #expect(try await first.value == "s3cret")
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    #expect(try await second.value == "s3cret")
    await bench.expectIdle()
  }

  @Test func `enrolling a finger ends items bound to the set, and what earlier touches covered`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("bound", as: "current", .biometryCurrentSet)
    try await bench.store("kept", as: "any", .biometryAny)
    let context = try await bench.context(reuse: 300)
    let touched = bench.getting("current", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await touched.value == "bound")
    try await bench.enrol(.middle)
    let error = await enclaveError { _ = try await bench.get("current", in: context) }
    #expect(error?.busName == "org.whorl.Error.ItemInvalidated")
    let any = bench.getting("any", in: context)
    try await bench.sensor.armed(2)
    bench.sensor.press(.middle)
    #expect(try await any.value == "kept")
  }

  @Test func `deleting a finger ends items bound to the set`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.enrol(.middle)
    try await bench.store("bound", as: "current", .biometryCurrentSet)
    #expect(try await bench.enclave.deleted(user: Bench.alice, finger: 8, reader: Bench.reader))
    #expect(try await !bench.enclave.deleted(user: Bench.alice, finger: 8, reader: Bench.reader))
    let context = try await bench.context()
    let error = await enclaveError { _ = try await bench.get("current", in: context) }
    #expect(error?.busName == "org.whorl.Error.ItemInvalidated")
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test func `a set that changes while the finger is awaited releases nothing bound to the old one`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("bound", as: "current", .biometryCurrentSet)
    let context = try await bench.context()
    let request = bench.getting("current", in: context)
    try await bench.sensor.armed(1)
    try await bench.enrol(.middle)
    bench.sensor.press(.index)
    #expect(await request.error?.busName == "org.whorl.Error.ItemInvalidated")
  }

  @Test func `an item bound to the set cannot be added while there is none`() async throws {
    let bench = try Bench()
    let error = await enclaveError { try await bench.store("bound", as: "current", .biometryCurrentSet) }
    #expect(error == .biometryNotEnrolled(.secret))
  }
}
