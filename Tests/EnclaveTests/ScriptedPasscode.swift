import Enclave
import Keychain
import SecretMemory
import Synchronization

/// Passcodes that the test knows. Can be held, so that things happen while one is looked at.
final class ScriptedPasscode: PasscodeVerifier {
  static let right = "correct horse"
  private struct State {
    var override: PasscodeVerdict?
    var right = ScriptedPasscode.right
    var standing = PasscodeState.set
    var gate: [CheckedContinuation<Void, Never>]?
  }
  private let state = Mutex(State())
  /// Each attempt that was looked at.
  let attempts = EventLog<UserID>()

  /// Somebody changes the password without Whorl.
  func setRight(_ passcode: String) { state.withLock { $0.right = passcode } }
  func setVerdict(_ verdict: PasscodeVerdict?) { state.withLock { $0.override = verdict } }
  func setState(_ standing: PasscodeState) { state.withLock { $0.standing = standing } }
  func hold() { state.withLock { $0.gate = [] } }
  func letGo() {
    let held = state.withLock { state in
      defer { state.gate = nil }
      return state.gate ?? []
    }
    for continuation in held { continuation.resume() }
  }

  func verify(user: UserID, passcode: consuming SecretBytes) async -> PasscodeVerdict {
    let right = state.withLock { $0.right }
    let isRight = passcode.withUnsafeBytes { Array($0) } == Array(right.utf8)
    attempts.append(user)
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        guard state.gate != nil else { return true }
        state.gate?.append(continuation)
        return false
      }
      if passes { continuation.resume() }
    }
    return state.withLock { $0.override } ?? (isRight ? .right : .wrong)
  }

  func state(of user: UserID) async -> PasscodeState { state.withLock { $0.standing } }
}

/// A fixed device key, or none.
final class ScriptedKey: DeviceKeySource {
  private struct State {
    var failure: KeychainError?
    var loads: [Bool] = []
    var replacements: UInt8 = 0
    var sealing = DeviceKeySealing.host
  }
  private let state = Mutex(State())

  /// `create` of each try.
  var loads: [Bool] { state.withLock { $0.loads } }
  var replacements: UInt8 { state.withLock { $0.replacements } }
  func setSealing(_ sealing: DeviceKeySealing) { state.withLock { $0.sealing = sealing } }
  func setFailure(_ failure: KeychainError?) { state.withLock { $0.failure = failure } }

  func load(create: Bool) throws(KeychainError) -> SecretBytes {
    let failure = state.withLock { state in
      state.loads.append(create)
      return state.failure
    }
    if let failure { throw failure }
    do {
      return try Self.key(replacements)
    } catch {
      throw .memory(error)
    }
  }

  func replace() throws(KeychainError) -> SecretBytes {
    state.withLock { state in
      state.replacements += 1
      state.failure = nil
    }
    return try load(create: false)
  }

  func sealing() throws(KeychainError) -> DeviceKeySealing? { state.withLock { $0.sealing } }

  /// - Parameter number: how often it was replaced.
  static func key(_ number: UInt8 = 0) throws(SecretMemoryError) -> SecretBytes {
    var key = try SecretBytes(count: 32)
    key.withUnsafeMutableBytes { for index in $0.indices { $0[index] = UInt8(index) ^ number } }
    return key
  }
}
