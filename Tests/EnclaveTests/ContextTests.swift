import Enclave
import Keychain
import Testing

@Suite(.timeLimit(.minutes(1)))
struct `Authentication contexts` {
  @Test func `belong to one connection: another of the same user cannot use one`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", nil)
    let context = try await bench.context()
    let impostor = ContextOwner(connection: ":1.11", user: Bench.alice)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context, owner: impostor) } == .invalidContext)
    #expect(await enclaveError { try await bench.enclave.invalidate(context, owner: impostor) } == .invalidContext)
    #expect(
      await enclaveError { try await bench.enclave.cancel(context, owner: impostor, how: .user) } == .invalidContext)
    #expect(await enclaveError { try await bench.givePasscode(to: context, owner: impostor) } == .invalidContext)
    #expect(
      await enclaveError { _ = try await bench.enclave.evaluate(context, owner: impostor, policy: .owner) }
        == .invalidContext)
    #expect(try await bench.get("mail", in: context) == "s3cret")
  }

  @Test func `belong to one uid: another on the same connection cannot use one`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", nil)
    let context = try await bench.context()
    let impostor = ContextOwner(connection: ":1.10", user: Bench.bob)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context, owner: impostor) } == .invalidContext)
  }

  @Test func `refuse a single request that may not prompt, and cover one that needs no prompt`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context(reuse: 60)
    let silent = try VerificationOptions(allowsInteraction: false)
    let enclave = bench.enclave
    #expect(
      await enclaveError { _ = try await enclave.evaluate(context, owner: .alice, policy: .owner, options: silent) }
        == .notInteractive)
    #expect(bench.sensor.armings.events.isEmpty)
    try await bench.givePasscode(to: context)
    #expect(
      try await enclave.evaluate(context, owner: .alice, policy: .owner, options: silent)
        == [.userPresence, .devicePasscode])
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test func `take the passcode alone for the policy of that name, however many fingers there are`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let context = try await bench.context()
    let enclave = bench.enclave
    #expect(
      await enclaveError { _ = try await enclave.evaluate(context, owner: .alice, policy: .passcode) }
        == .passcodeNeeded(.required))
    try await bench.givePasscode(to: context)
    #expect(
      try await enclave.evaluate(context, owner: .alice, policy: .passcode) == [.userPresence, .devicePasscode])
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test(arguments: [-1, 301, Int.min, Int.max])
  func `refuse a reuse time out of range, by name`(reuse: Int) async throws {
    let bench = try Bench()
    let error = await enclaveError { _ = try await bench.context(reuse: reuse) }
    #expect(error?.busName == "org.whorl.Error.Param")
    #expect(error?.message.contains("reuse-duration") == true)
  }

  @Test func `remember a touch for their reuse time, to the millisecond, sleep included`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context(reuse: 10)
    let first = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await first.value == "s3cret")
    bench.clock.advance(milliseconds: 9_999)
    #expect(try await bench.get("mail", in: context) == "s3cret")
    #expect(bench.sensor.armings.events.count == 1)
    bench.clock.advance(milliseconds: 1)
    let late = bench.getting("mail", in: context)
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    #expect(try await late.value == "s3cret")
  }

  @Test func `do not share what they remember`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let one = try await bench.context(reuse: 300)
    let first = bench.getting("mail", in: one)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    _ = try await first.value
    let other = try await bench.context(reuse: 300, interactionNotAllowed: true)
    #expect(await enclaveError { _ = try await bench.get("mail", in: other) } == .notInteractive)
  }

  @Test func `with reuse time 0 ask for each item by itself`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context()
    for turn in 1...3 {
      let request = bench.getting("mail", in: context)
      try await bench.sensor.armed(turn)
      bench.sensor.press(.index)
      #expect(try await request.value == "s3cret")
    }
  }

  @Test func `with reuse time 0 let one item request follow a policy, and only one`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryCurrentSet)
    let context = try await bench.context()
    async let satisfied = bench.enclave.evaluate(context, owner: .alice, policy: .biometrics)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await satisfied == [.userPresence, .biometryAny, .biometryCurrentSet])
    #expect(try await bench.get("mail", in: context) == "s3cret")
    let second = bench.getting("mail", in: context)
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    _ = try await second.value
  }

  @Test func `do not answer a second policy with the touch of the first`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let context = try await bench.context()
    for turn in 1...2 {
      async let satisfied = bench.enclave.evaluate(context, owner: .alice, policy: .biometrics)
      try await bench.sensor.armed(turn)
      bench.sensor.press(.index)
      _ = try await satisfied
    }
  }

  @Test func `forget an unused ticket after a minute`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    async let satisfied = bench.enclave.evaluate(context, owner: .alice, policy: .owner)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    _ = try await satisfied
    bench.clock.advance(seconds: 60)
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    _ = try await request.value
  }

  @Test func `end with invalidate, and what runs in them fails with AppCancel`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    let context = try await bench.context()
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    try await bench.enclave.invalidate(context, owner: .alice)
    #expect(await request.error == .appCancel)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .invalidContext)
    await bench.expectIdle()
  }

  @Test func `end with their connection, and those of others stay`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .userPresence)
    try await bench.store("open", as: "note", nil)
    let gone = try await bench.context(reuse: 300)
    let other = ContextOwner(connection: ":1.12", user: Bench.alice)
    let stays = try await bench.context(of: other)
    let request = bench.getting("mail", in: gone)
    try await bench.sensor.armed(1)
    await bench.enclave.connectionClosed(":1.10")
    #expect(await request.error == .appCancel)
    #expect(await enclaveError { _ = try await bench.get("note", in: gone) } == .invalidContext)
    #expect(try await bench.get("note", in: stays, owner: other) == "open")
    // A call of that connection that was still on its way makes no context that nobody would ever end.
    #expect(await enclaveError { _ = try await bench.context() } == .invalidContext)
    await bench.expectIdle()
  }

  @Test func `that forbid prompts fail at once where one is needed`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    for constraint in [Constraint.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode] {
      try await bench.store("s3cret", as: constraint.rawValue, constraint)
    }
    try await bench.store("open", as: "none", nil)
    let context = try await bench.context(interactionNotAllowed: true)
    for constraint in [Constraint.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode] {
      #expect(await enclaveError { _ = try await bench.get(constraint.rawValue, in: context) } == .notInteractive)
    }
    for policy in Policy.allCases {
      #expect(
        await enclaveError { _ = try await bench.enclave.evaluate(context, owner: .alice, policy: policy) }
          == .notInteractive)
    }
    #expect(try await bench.get("none", in: context) == "open")
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test func `of one user are bounded in number, those of another are not touched by that`() async throws {
    let bench = try Bench()
    for _ in 0..<Enclave.Limits.contextsPerUser { _ = try await bench.context() }
    #expect(await enclaveError { _ = try await bench.context() }?.busName == "org.whorl.Error.Busy")
    _ = try await bench.context(of: .bob)
    await bench.enclave.connectionClosed(":1.10")
    _ = try await bench.context(of: ContextOwner(connection: ":1.13", user: Bench.alice))
  }
}
