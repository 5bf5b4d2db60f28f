import Foundation
import GLibLoop
import LocalAuthentication
import TestKit
import Testing
import WhorlClient

/// What LAContext says before anybody is asked for anything.
@Suite(.timeLimit(.minutes(3))) struct LocalAuthenticationStatusTests {
  private let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  @Test func `Without a daemon there is no biometry, for either policy, and the error says what to start`() async throws
  {
    GLibLoop.startThread()
    let bus = try await PrivateBus()
    for address in [bus.address, "unix:path=/nonexistent/bus"] {
      let context = LAContext(transport: BlockingBusTransport(address: address, asksOnTerminal: false))
      var error: NSError?
      #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
      #expect(error?.domain == LAErrorDomain && error?.code == LAError.biometryNotAvailable.rawValue)
      #expect(error?.localizedDescription.contains("start") == true, "\(String(describing: error))")
      #expect(((error?.userInfo[NSUnderlyingErrorKey] as? any Error) as? WhorlError)?.code == .noDaemon)
      #expect(context.refusal(of: biometrics) == .biometryNotAvailable)
      #expect(context.biometryType == .none)
      #expect(context.domainState.stateHash == nil)
      let evaluated = await refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
      #expect(evaluated == .biometryNotAvailable)
    }
  }

  @Test func `Without a reader there is no biometry, and the passcode will do where there is one`() async throws {
    let world = try await World()
    try await world.startDaemon(adding: ["FP_VIRTUAL_IMAGE": "", "FP_DRIVERS_WHITELIST": "none"])
    let context = LAContext(transport: BlockingBusTransport(address: world.bus.address, asksOnTerminal: false))
    #expect(context.biometryType == .none, "it looks where nothing was asked yet")
    #expect(context.refusal(of: biometrics) == .biometryNotAvailable)
    #expect(context.refusal(of: .deviceOwnerAuthentication) == .passcodeNotSet)
    #expect(context.biometryType == .none)
    let code = await refusal { try await context.evaluatePolicy(biometrics, localizedReason: "to test") }
    #expect(code == .biometryNotAvailable)
    try world.setPasscode()
    #expect(context.refusal(of: .deviceOwnerAuthentication) == nil)
  }

  @Test func `Without a finger biometry is not enrolled, the kind of reader is told, and the passcode alone will do`()
    async throws
  {
    let scene = try await LocalAuthenticationScene()
    let context = scene.context()
    #expect(context.refusal(of: biometrics) == .biometryNotEnrolled)
    #expect(context.biometryType == .touchID)
    #expect(context.refusal(of: .deviceOwnerAuthentication) == .passcodeNotSet)
    #expect(context.evaluatedPolicyDomainState == nil && context.domainState.biometry.stateHash == nil)
    #expect(context.domainState.biometry.biometryType == .touchID)

    let other = scene.context()
    let code = await refusal { try await other.evaluatePolicy(biometrics, localizedReason: "to test") }
    #expect(code == .biometryNotEnrolled)
    #expect(other.biometryType == .touchID)
    let owner = await refusal {
      try await other.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to test")
    }
    #expect(owner == .passcodeNotSet)
    try scene.world.setPasscode()
    #expect(context.refusal(of: .deviceOwnerAuthentication) == nil)
    #expect(context.refusal(of: .deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
    #expect(context.refusal(of: .deviceOwnerAuthenticationWithBiometricsOrWatch) == .biometryNotEnrolled)
  }

  @Test func `The domain state stays while the fingers do, changes with each that comes or goes, nil without one`()
    async throws
  {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    func state() throws -> Data? {
      let context = scene.context()
      #expect(context.evaluatedPolicyDomainState == nil, "nothing was evaluated yet")
      #expect(context.refusal(of: .deviceOwnerAuthentication) == nil)
      #expect(context.evaluatedPolicyDomainState == nil, "that was no biometric policy")
      #expect(context.refusal(of: biometrics) == nil)
      #expect(context.domainState.biometry.stateHash == context.evaluatedPolicyDomainState)
      return context.evaluatedPolicyDomainState
    }
    let first = try #require(try state())
    #expect(try state() == first)
    let evaluated = scene.context()
    #expect(try await scene.evaluate(in: evaluated, pressing: [.leftLoop]) == nil)
    #expect(evaluated.evaluatedPolicyDomainState == first, "a touch changes nothing of it")

    scene.daemon.signal(SIGTERM)
    _ = try await scene.daemon.wait()
    try await scene.world.startDaemon()
    #expect(try state() == first, "nor does a restart")

    try await scene.world.enroll(.whorl, as: "left-thumb")
    let second = try #require(try state())
    #expect(second != first)
    let deleted = try await scene.world.whorl(["delete", "left-thumb"])
    #expect(deleted.status == 0, "\(deleted.errorText)")
    let third = try #require(try state())
    #expect(third != first && third != second)
    _ = try await scene.world.whorl(["delete", "right-index-finger"])
    let context = scene.context()
    #expect(context.refusal(of: biometrics) == .biometryNotEnrolled)
    #expect(context.evaluatedPolicyDomainState == nil && context.domainState.stateHash == nil)
  }
}
