import Keychain
import Testing

@testable import Enclave

/// A match counts for secrets only with a print that was registered with the passcode, on a reader that is trusted.
@Suite(.timeLimit(.minutes(1))) struct TrustTests {
  /// A reader that says yes to everything, at another place.
  static let lookAlike = ReaderPlace(
    driver: "virtual", deviceID: "0", path: "floor", hardware: "", attachment: .removable)
  static let untrusted = "the reader is not trusted with your secrets yet; approve it with: whorl reader trust"

  private func bench() async throws -> Bench {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s", as: "any", .biometryAny)
    return bench
  }

  private func press(_ bench: Bench, at place: ReaderPlace?) async throws {
    let request = try await bench.sensor.armed(bench.sensor.armings.events.count)
    var touch = Finger.index.touch(of: request)
    touch.place = place
    bench.sensor.end(.success(.match(touch)))
  }

  // MARK: - Touches

  @Test(arguments: [lookAlike, nil])
  func `A match on another reader, or at an unknown place, opens no secret`(place: ReaderPlace?) async throws {
    let bench = try await bench()
    let context = try await bench.context()
    for get in [bench.getting("any", in: context)] {
      try await bench.sensor.armed(1)
      try await press(bench, at: place)
      #expect(await get.error == .denied(Self.untrusted))
    }
    let policy = Task {
      try await bench.enclave.evaluate(context, owner: .alice, policy: .biometrics).map(\.rawValue).joined()
    }
    try await bench.sensor.armed(2)
    try await press(bench, at: place)
    #expect(await policy.error == .denied(Self.untrusted))
    await bench.expectIdle()
  }

  @Test func `It opens a login, unless that demands trust`() async throws {
    let bench = try await bench()
    let login = bench.loggingIn()
    try await bench.sensor.armed(1)
    try await press(bench, at: Self.lookAlike)
    #expect(try await login.value == "right-index-finger")

    let strict = Task { try await bench.enclave.authenticate(user: Bench.alice, demandsTrust: true) }
    let request = try await bench.sensor.armed(2)
    #expect(request.scope == .secret)
    #expect(await request.isTrusted(Bench.place))
    #expect(await !request.isTrusted(Self.lookAlike))
    try await press(bench, at: Self.lookAlike)
    #expect(await strict.error == .denied(Self.untrusted))

    let right = Task { try await bench.enclave.authenticate(user: Bench.alice, demandsTrust: true) }
    try await bench.sensor.armed(3)
    bench.sensor.press(.index)
    #expect(try await right.value == "right-index-finger")
  }

  @Test func `A login that demands trust takes no print that is not registered`() async throws {
    let bench = try await bench()
    let login = Task { try await bench.enclave.authenticate(user: Bench.alice, demandsTrust: true) }
    try await bench.sensor.armed(1)
    bench.sensor.press(.middle)
    guard case .denied(let why)? = await login.error else { Issue.record("let through"); return }
    #expect(why.contains("whorl adopt"))
  }

  @Test func `A match on a reader that is not trusted does not end the row of misses`() async throws {
    let bench = try await bench()
    try await bench.miss(3)
    let login = bench.loggingIn()
    try await bench.sensor.armed(4)
    try await press(bench, at: Self.lookAlike)
    _ = try await login.value
    #expect(
      try await !bench.enclave.recordExternalVerification(
        user: Bench.alice, matched: Finger.index.print, on: Self.lookAlike))
    #expect(try bench.recordOnDisk().misses == 3)
    #expect(
      try await !bench.enclave.recordExternalVerification(
        user: Bench.alice, matched: Finger.index.print, on: Bench.place))
    #expect(try bench.recordOnDisk().misses == 0)
  }

  @Test func `A reader that is distrusted while a finger is awaited opens nothing, nor what was touched there before`()
    async throws
  {
    let bench = try await bench()
    let context = try await bench.context(reuse: 300)
    let first = bench.getting("any", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await first.value == "s")
    #expect(try await bench.get("any", in: context) == "s", "covered by the reuse time")

    let other = bench.getting("any", in: try await bench.context())
    try await bench.sensor.armed(2)
    #expect(try await bench.enclave.distrust(Bench.place, user: Bench.alice))
    bench.sensor.press(.index)
    #expect(await other.error == .denied(Self.untrusted))
    let covered = await enclaveError { _ = try await bench.get("any", in: context) }
    guard case .biometryNotAvailable(let why)? = covered else { Issue.record("\(covered as Any)"); return }
    #expect(why == "no reader is trusted with your secrets yet; approve one with: whorl reader trust")
    #expect(bench.sensor.armings.events.count == 2, "none is even armed")
  }

  // MARK: - The passcode

  @Test func `Fingers are registered and readers trusted only in a context that was given the passcode, once`()
    async throws
  {
    let bench = try Bench()
    let context = try await bench.context()
    let finger = Finger.index.stored()
    func register(_ context: ContextID, _ owner: ContextOwner = .alice) async -> EnclaveError? {
      await enclaveError { _ = try await bench.enclave.register(context, owner: owner, fingers: [finger]) }
    }
    func trust(_ context: ContextID) async -> EnclaveError? {
      await enclaveError {
        try await bench.enclave.trust(context, owner: .alice, place: Self.lookAlike, name: "Look-alike")
      }
    }
    #expect(await register(context) == .passcodeNeeded(.required))
    #expect(await trust(context) == .passcodeNeeded(.required))
    #expect(await enclaveError { try await bench.givePasscode("wrong", to: context) } != nil)
    #expect(await register(context) == .passcodeNeeded(.required))
    #expect(await register(context, .bob) == .invalidContext)
    #expect(try await bench.enclave.trustedReaders(of: Bench.alice).isEmpty)
    #expect(await !bench.enclave.isRegistered(finger.print, user: Bench.alice))

    try await bench.givePasscode(to: context)
    #expect(await register(context) == nil)
    #expect(await bench.enclave.isRegistered(finger.print, user: Bench.alice))
    #expect(await trust(context) == .passcodeNeeded(.required), "a passcode is good for one")
    try await bench.givePasscode(to: context)
    #expect(await trust(context) == nil)
    #expect(try await bench.enclave.trustedReaders(of: Bench.alice).map(\.place) == [Bench.place, Self.lookAlike])
    #expect(try await bench.enclave.trustedReaders(of: Bench.bob).isEmpty)
  }

  @Test func `A finger that a context has seen is no passcode`() async throws {
    let bench = try await bench()
    let context = try await bench.context(reuse: 300)
    let get = bench.getting("any", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    _ = try await get.value
    let error = await enclaveError {
      _ = try await bench.enclave.register(context, owner: .alice, fingers: [Finger.middle.stored()])
    }
    #expect(error == .passcodeNeeded(.required))
  }

  @Test func `An account without a passcode registers nothing`() async throws {
    let bench = try Bench()
    bench.passcodes.setState(.locked)
    let error = await enclaveError {
      _ = try await bench.enclave.register(
        try await bench.context(), owner: .alice, fingers: [Finger.index.stored()])
    }
    #expect(error == .passcodeNotSet)
  }

  // MARK: - Which readers a registration trusts

  private func registering(_ fingers: [StoredFinger], _ bench: Bench) async throws -> Registration {
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    return try await bench.enclave.register(context, owner: .alice, fingers: fingers)
  }

  @Test func `The reader of a registered finger is trusted, a second of its kind is not`() async throws {
    let bench = try Bench()
    let first = try await registering([Finger.index.stored()], bench)
    #expect(first.trusted == [Bench.place])
    let second = try await registering([Finger.middle.stored(at: Self.lookAlike)], bench)
    #expect(second.fingers.count == 1 && second.trusted.isEmpty)
    #expect(try await bench.enclave.trustedReaders(of: Bench.alice).map(\.place) == [Bench.place])
  }

  @Test func `Of two alike none is trusted, nor is one at an unknown place`() async throws {
    let bench = try Bench()
    let both = try await registering([Finger.index.stored(), Finger.index.stored(at: Self.lookAlike)], bench)
    #expect(both.trusted.isEmpty)
    #expect(await bench.enclave.status(user: Bench.alice).registered.count == 1)
    #expect(try await registering([Finger.middle.stored(at: nil)], bench).trusted.isEmpty)
  }

  @Test func `What is registered already is not registered again, and trusts no reader`() async throws {
    let bench = try await bench()
    try await bench.store("b", as: "bound", .biometryCurrentSet)
    let again = try await registering([Finger.index.stored(at: Self.lookAlike)], bench)
    #expect(again.fingers.isEmpty && again.trusted.isEmpty)
    let get = bench.getting("bound", in: try await bench.context())
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await get.value == "b", "the set of fingers is as it was")
  }

  // MARK: - Enrolments without the passcode

  @Test func `An enrolment without the passcode leaves the set of fingers and its items alone`() async throws {
    let bench = try await bench()
    try await bench.store("b", as: "bound", .biometryCurrentSet)
    let before = await bench.enclave.status(user: Bench.alice)
    try await bench.enclave.stored(user: Bench.alice, finger: Finger.middle.number, reader: Bench.reader)
    let after = await bench.enclave.status(user: Bench.alice)
    #expect(after.domainState == before.domainState && after.registered == before.registered)
    #expect(await !bench.enclave.isRegistered(Finger.middle.print, user: Bench.alice))
    let get = bench.getting("bound", in: try await bench.context())
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await get.value == "b")
  }

  @Test func `One that replaces a registered print ends its registration, and the items bound to the set`() async throws
  {
    let bench = try await bench()
    try await bench.store("b", as: "bound", .biometryCurrentSet)
    try await bench.enclave.stored(user: Bench.alice, finger: Finger.index.number, reader: Bench.reader)
    #expect(await !bench.enclave.isRegistered(Finger.index.print, user: Bench.alice))
    let error = await enclaveError { _ = try await bench.get("bound", in: try await bench.context()) }
    guard case .keychain(.invalidated)? = error else { Issue.record("\(error as Any)"); return }
  }
}
