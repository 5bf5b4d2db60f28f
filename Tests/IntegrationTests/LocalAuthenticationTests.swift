import Bus
import Foundation
import Glibc
import LocalAuthentication
import SecretMemory
import TestKit
import Testing
import WhorlClient

/// Evaluations of LAContext with a finger, by what a person does and what becomes of them.
@Suite(.timeLimit(.minutes(4))) struct LocalAuthenticationTests {
  private let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  @Test func `One touch evaluates a policy for as long as the context is there, and opens an item in it`() async throws
  {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    #expect(try await scene.world.whorl(["set", "mail", "--require", "any"], to: "s3cret").status == 0)
    let context = scene.context()
    #expect(try await scene.evaluate(in: context, pressing: [.leftLoop]) == nil)
    // From here on nobody touches anything.
    #expect(try await scene.evaluate(in: context, pressing: []) == nil)
    #expect(try await scene.evaluate(.deviceOwnerAuthentication, in: context, pressing: []) == nil)
    context.interactionNotAllowed = true
    let secret = try await offPool {
      try context.withEnclaveContext { number throws(WhorlError) in
        try context.transport.secret(
          matching: WhorlAttributes(itemClass: "generic-password", service: "whorl", account: "mail"), in: number,
          prompt: context.prompt(), token: nil)
      }.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    #expect(secret == "s3cret")
    // Another one has seen nothing.
    let other = scene.context()
    other.interactionNotAllowed = true
    #expect(try await scene.evaluate(in: other, pressing: []) == .notInteractive)
  }

  @Test func `The form with a reply calls it once, off the caller's thread, with the same outcome`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let context = scene.context()
    async let outcome = withCheckedContinuation { continuation in
      context.evaluatePolicy(biometrics, localizedReason: "to test") { isDone, error in
        continuation.resume(returning: isDone && error == nil)
      }
    }
    try await scene.press(.leftLoop)
    #expect(await outcome)
    let refused = await withCheckedContinuation { continuation in
      scene.context().evaluatePolicy(.deviceOwnerAuthenticationWithCompanion, localizedReason: "to test") {
        isDone, error in
        continuation.resume(returning: isDone ? nil : (error as? LAError)?.code)
      }
    }
    #expect(refused == .companionNotAvailable)
  }

  @Test func `Wrong fingers fail, five lock biometry out, and the passcode makes it work again`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop, hasPasscode: true)
    let context = scene.context()
    #expect(
      try await scene.evaluate(in: context, pressing: [.whorl, .whorl, .whorl]) == .authenticationFailed)
    #expect(context.refusal(of: biometrics) == nil)
    #expect(try await scene.evaluate(in: context, pressing: [.whorl, .whorl]) == .biometryLockout)
    #expect(context.refusal(of: biometrics) == .biometryLockout)
    #expect(context.biometryType == .touchID)
    #expect(try await scene.evaluate(in: context, pressing: []) == .biometryLockout, "at once")

    #expect(context.refusal(of: .deviceOwnerAuthentication) == nil)
    #expect(
      try await scene.evaluate(.deviceOwnerAuthentication, in: context, pressing: []) == .notInteractive,
      "nobody asks for the passcode")
    let agent = try await DesktopAgent(scene.world, answers: ["cancel", "pin \(World.passcode)"])
    #expect(try await scene.evaluate(.deviceOwnerAuthentication, in: context, pressing: []) == .userCancel)
    #expect(try await scene.evaluate(.deviceOwnerAuthentication, in: context, pressing: []) == nil)
    #expect(agent.pinentry.timesAsked == 2)
    #expect(context.refusal(of: biometrics) == nil)
    #expect(try await scene.evaluate(in: context, pressing: [.leftLoop]) == nil)
  }

  @Test func `The person's wish for another way is the program's to serve, unless it has none`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let agent = try await OddAgent(scene.world) { _ in throw BusMethodError.failed("not asked") }
    let context = scene.context()
    async let code = scene.evaluate(in: context, pressing: [])
    try await agent.hears("Show")
    #expect(await agent.details.last?["fallback"]?.asString == "program")
    _ = try await agent.whorld("FallBack", [agent.request])
    #expect(try await code == .userFallback)
    // Not offered, and not taken.
    let strict = scene.context()
    strict.localizedFallbackTitle = ""
    async let second = scene.evaluate(in: strict, pressing: [])
    try await agent.hears("Show", times: 2)
    #expect(await agent.details.last?["fallback"] == nil)
    await #expect(throws: BusError.self) { _ = try await agent.whorld("FallBack", [agent.request]) }
    strict.invalidate()
    #expect(try await second == .appCancel)
  }

  @Test func `The way to the passcode ends fingers alone as a fallback`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop, hasPasscode: true)
    let context = scene.context()
    async let code = refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
    await scene.probe.needsFinger()
    try context.withEnclaveContext { scene.transport.cancel($0, how: .fallback) }
    #expect(await code == .userFallback)
    async let declined = refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
    await scene.probe.needsFinger()
    try context.withEnclaveContext { scene.transport.cancel($0, how: .user) }
    #expect(await declined == .userCancel)
  }

  @Test func `The daemon's end ends it as the system's, and the same context works with the next daemon`() async throws
  {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let context = scene.context()
    async let code = refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
    await scene.probe.needsFinger()
    scene.daemon.signal(SIGTERM)
    #expect(await code == .systemCancel)
    _ = try await scene.daemon.wait()
    try await scene.world.startDaemon()
    #expect(try await scene.evaluate(in: context, pressing: [.leftLoop]) == nil)
  }

  @Test func `Invalidating ends what runs, and everything after it finds an invalid context`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let context = scene.context()
    async let code = refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
    await scene.probe.needsFinger()
    context.invalidate()
    #expect(await code == .appCancel)
    await scene.probe.property("finger-needed", is: .boolean(false))
    #expect(try await scene.evaluate(in: context, pressing: []) == .invalidContext)
    #expect(context.refusal(of: biometrics) == .invalidContext)
    #expect(!context.setCredential(Data([1]), type: .applicationPassword))
    #expect(throws: WhorlError.self) { try context.withEnclaveContext { _ in } }
    context.invalidate()
  }

  @Test func `Cancelling the task frees the reader, and leaves what others wait for in the same context`() async throws
  {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let context = scene.context()
    let lone = Task { await refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") } }
    await scene.probe.needsFinger()
    lone.cancel()
    #expect(await lone.value == .appCancel)
    await scene.probe.property("finger-needed", is: .boolean(false))
    let cancelledBefore = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
    }
    #expect(await cancelledBefore.value == .appCancel)

    let first = Task { await refusal { try await context.evaluatePolicy(biometrics, localizedReason: "one") } }
    await scene.probe.needsFinger()
    async let second = refusal { try await context.evaluatePolicy(biometrics, localizedReason: "two") }
    first.cancel()
    #expect(await first.value == .appCancel)
    try await scene.press(.leftLoop)
    #expect(await second == nil)
  }

  @Test func `One touch serves two evaluations at once in one context`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let context = scene.context()
    async let one = refusal { try await context.evaluatePolicy(biometrics, localizedReason: "one") }
    async let two = refusal {
      try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "two")
    }
    try await scene.press(.leftLoop)
    #expect(await [one, two] == [nil, nil])
  }

  @Test func `A program that lets its context go while it evaluates gets the outcome all the same`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    async let outcome = withCheckedContinuation { continuation in
      scene.context().evaluatePolicy(biometrics, localizedReason: "to test") { isDone, _ in
        continuation.resume(returning: isDone)
      }
    }
    try await scene.press(.leftLoop)
    #expect(await outcome)
  }

  @MainActor @Test func `The main actor goes on while a person is waited for`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let context = scene.context()
    let evaluation = Task { @MainActor in
      await refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
    }
    await scene.probe.needsFinger()
    // It answers others while the evaluation that it began waits.
    var answers = 0
    for _ in 0..<100 { answers += await Task { @MainActor in 1 }.value }
    #expect(answers == 100)
    try await scene.world.reader.press(.leftLoop, 2)
    #expect(await evaluation.value == nil)
  }

  @Test func `An empty reason is refused by name`() async throws {
    let scene = try await LocalAuthenticationScene()
    do {
      _ = try await scene.context().evaluatePolicy(biometrics, localizedReason: "")
      Issue.record("nothing was thrown")
    } catch let error as NSError {
      #expect(error.domain == NSOSStatusErrorDomain && error.code == Int(errSecParam))
      #expect(error.localizedDescription.contains("localizedReason"))
    }
  }
}
