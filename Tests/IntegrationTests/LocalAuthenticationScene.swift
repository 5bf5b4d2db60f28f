import Bus
import LocalAuthentication
import TestKit
import WhorlClient

/// A program that uses LocalAuthentication in a world with a daemon.
struct LocalAuthenticationScene: Sendable {
  let world: World
  let daemon: RunningProgram
  let probe: FprintProbe
  let transport: BlockingBusTransport

  /// - Parameters:
  ///   - finger: one that is enrolled and opens secrets.
  ///   - hasPasscode: whether root has one, from the start on.
  init(enrolling finger: SyntheticFinger? = nil, hasPasscode: Bool = false) async throws {
    world = try await World()
    if hasPasscode { try world.setPasscode() }
    daemon = try await world.startDaemon()
    if let finger { try await world.enroll(finger) }
    probe = try await FprintProbe(world)
    transport = BlockingBusTransport(address: world.bus.address, asksOnTerminal: false)
  }

  func context() -> LAContext { LAContext(transport: transport) }

  /// Waits until the reader waits for a finger, then presses that.
  func press(_ finger: SyntheticFinger, _ number: Int = 2) async throws {
    await probe.needsFinger()
    try await world.reader.press(finger, number)
  }

  /// Evaluates fingers in a context, pressing these, one each time that the reader waits for one.
  func evaluate(
    _ policy: LAPolicy = .deviceOwnerAuthenticationWithBiometrics, in context: LAContext,
    pressing fingers: [SyntheticFinger]
  ) async throws -> LAError.Code? {
    async let code = refusal { try await context.evaluatePolicy(policy, localizedReason: "to test") }
    for (index, finger) in fingers.enumerated() { try await press(finger, index + 1) }
    return await code
  }
}

/// The code of the LAError that `body` ends with; nil where it ends well.
func refusal(_ body: @Sendable () async throws -> Bool) async -> LAError.Code? {
  do {
    return try await body() ? nil : .authenticationFailed
  } catch let error as LAError {
    return error.code
  } catch {
    // Not one of LocalAuthentication's: no test expects this number.
    return .biometryNotPaired
  }
}

extension LAContext {
  /// Why a policy cannot be evaluated; nil where it can.
  func refusal(of policy: LAPolicy) -> LAError.Code? {
    var error: NSError?
    let can = canEvaluatePolicy(policy, error: &error)
    return can ? nil : (error as? LAError)?.code
  }
}
