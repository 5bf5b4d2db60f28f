import Bus
import Foundation
import LocalAuthentication
import TestKit
import Testing

/// Rights, and what is stored with them, over a real whorld.
@Suite(.timeLimit(.minutes(3))) struct LARightTests {
  private func status(_ body: () async throws -> Void) async -> Int? {
    do {
      try await body()
      return nil
    } catch let error as NSError {
      #expect(error.domain == NSOSStatusErrorDomain, "\(error)")
      return error.code
    }
  }

  @Test func `A stored right gives its secret to who touched the reader, and to nobody else`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let store = LARightStore(transport: scene.transport)
    let secret = Data([0, 1, 255, 0])
    let saved = try await store.saveRight(
      LARight(requirement: .biometryCurrentSet), identifier: "safe", secret: secret)
    #expect(saved.state == .unknown)
    #expect(
      await status { _ = try await store.saveRight(LARight(), identifier: "safe") } == Int(errSecDuplicateItem))

    let right = try await store.right(forIdentifier: "safe")
    try await right.checkCanAuthorize()
    #expect(await refusal { try await !right.secret.loadData().isEmpty } == .notInteractive)
    async let refused: Void? = try? right.authorize(localizedReason: "to test")
    for number in 1...3 { try await scene.press(.whorl, number) }
    #expect(await refused == nil)
    #expect(right.state == .notAuthorized)

    async let authorized: Void = right.authorize(localizedReason: "to open the safe")
    await scene.probe.needsFinger()
    #expect(right.state == .authorizing)
    try await scene.world.reader.press(.leftLoop, 3)
    try await authorized
    #expect(right.state == .authorized && saved.state == .unknown)
    #expect(try await right.secret.loadData() == secret)
    #expect(try await right.secret.loadData() == secret)
    await right.deauthorize()
    #expect(right.state == .notAuthorized)
    #expect(await refusal { try await !right.secret.loadData().isEmpty } == .notInteractive)

    try await scene.world.enroll(.whorl, as: "left-thumb")
    #expect(
      await status { _ = try await store.right(forIdentifier: "safe") } == Int(errSecItemNotFound),
      "it ended with the set of fingers")
  }

  @Test func `Rights are found by identifier, removed one by one and all together, and asked for by what they take`()
    async throws
  {
    let scene = try await LocalAuthenticationScene(hasPasscode: true)
    let store = LARightStore(transport: scene.transport)
    // What takes the passcode is stored once that was given since the login.
    #expect(
      await refusal {
        _ = try await store.saveRight(LARight(), identifier: "one")
        return true
      } == .notInteractive)
    try await Client(scene.world).givePasscode(World.passcode)
    for name in ["one", "two", "three"] { _ = try await store.saveRight(LARight(), identifier: name) }
    let one = try await store.right(forIdentifier: "one")
    try await one.checkCanAuthorize()
    one.tag = 7
    #expect(one.tag == 7 && one.state == .unknown)
    let finger = try await store.saveRight(LARight(requirement: .biometry), identifier: "finger")
    #expect(
      await refusal {
        try await finger.checkCanAuthorize()
        return true
      } == .biometryNotEnrolled)
    try await store.removeRight(one)
    #expect(await status { try await store.removeRight(one) } == Int(errSecItemNotFound))
    try await store.removeRight(forIdentifier: "two")
    try await store.removeAllRights()
    try await store.removeAllRights()
    for name in ["one", "two", "three"] {
      #expect(await status { _ = try await store.right(forIdentifier: name) } == Int(errSecItemNotFound))
    }
  }

  @Test func `The passcode opens what takes fingers or it, and a taken back request ends`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop, hasPasscode: true)
    let store = LARightStore(transport: scene.transport)
    let right = try await store.saveRight(
      LARight(requirement: .biometry(fallback: .devicePasscode)), identifier: "either", secret: Data("s".utf8))
    let pending = Task { try? await right.authorize(localizedReason: "to test") }
    await scene.probe.needsFinger()
    await right.deauthorize()
    #expect(await pending.value == nil)
    #expect(right.state == .notAuthorized)
    await scene.probe.property("finger-needed", is: .boolean(false))
    let context = scene.context()
    #expect(try await scene.evaluate(in: context, pressing: [.whorl, .whorl, .whorl]) == .authenticationFailed)
    #expect(try await scene.evaluate(in: context, pressing: [.whorl, .whorl]) == .biometryLockout)
    _ = try await DesktopAgent(scene.world, answers: ["pin \(World.passcode)"])
    try await right.authorize(localizedReason: "to test")
    #expect(try await right.secret.loadData() == Data("s".utf8))
  }
}
