import LocalAuthentication
import SecretMemory
import Synchronization
import WhorlClient

/// Plays the enclave: answers as the test says, and keeps what it was asked.
final class FakeEnclave: BlockingTransport {
  struct Evaluated: Equatable {
    let policy: WhorlPolicy
    let context: UInt32
    let reason: String
    let interactionNotAllowed: Bool
  }

  struct State {
    var status: Result<WhorlStatus, WhorlError> = .success(WhorlStatus())
    /// What each evaluation ends with, in order; after the last one it goes well.
    var outcomes: [WhorlError.Code?] = []
    var evaluated: [Evaluated] = []
    /// The reuse times of the contexts that were made; their numbers are 1, 2, …
    var made: [UInt32] = []
    var invalidated: [UInt32] = []
    var passwords: [UInt32: [UInt8]] = [:]
  }

  let state: Mutex<State>
  /// Run at the beginning of each CreateContext.
  let whileMaking: @Sendable () -> Void

  init(
    outcomes: [WhorlError.Code?] = [], status: Result<WhorlStatus, WhorlError> = .success(WhorlStatus()),
    whileMaking: @escaping @Sendable () -> Void = {}
  ) {
    self.whileMaking = whileMaking
    state = Mutex(State(status: status, outcomes: outcomes))
  }

  var made: [UInt32] { state.withLock { $0.made } }
  var invalidated: [UInt32] { state.withLock { $0.invalidated } }
  var evaluated: [Evaluated] { state.withLock { $0.evaluated } }
  var passwords: [UInt32: [UInt8]] { state.withLock { $0.passwords } }
  var policies: [WhorlPolicy] { evaluated.map(\.policy) }

  func status() throws(WhorlError) -> WhorlStatus { try state.withLock { $0.status }.get() }

  func createContext(reuseSeconds: UInt32) throws(WhorlError) -> WhorlContext {
    whileMaking()
    return state.withLock { state in
      state.made.append(reuseSeconds)
      return WhorlContext(number: UInt32(state.made.count), daemon: ":1.1")
    }
  }

  func invalidate(_ context: WhorlContext) { state.withLock { $0.invalidated.append(context.number) } }

  func cancel(_ context: WhorlContext, how: WhorlCancelKind) {}

  func evaluate(
    _ policy: WhorlPolicy, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> [WhorlConstraint] {
    let outcome = state.withLock { state in
      state.evaluated.append(
        Evaluated(
          policy: policy, context: context.number, reason: prompt.reason,
          interactionNotAllowed: prompt.interactionNotAllowed))
      return state.outcomes.isEmpty ? nil : state.outcomes.removeFirst()
    }
    if let outcome { throw WhorlError(outcome, "it was scripted") }
    return policy == .passcode ? [.userPresence, .devicePasscode] : [.userPresence, .biometryAny]
  }

  func provideApplicationPassword(
    _ password: borrowing SecretBytes, to context: WhorlContext
  ) throws(WhorlError) {
    let bytes = password.withUnsafeBytes { Array($0) }
    state.withLock { $0.passwords[context.number] = bytes }
  }

  // MARK: Of no use here

  private var unscripted: WhorlError { WhorlError(.unsupported, "it was not scripted") }

  func add(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?,
    secret: borrowing SecretBytes
  ) throws(WhorlError) { throw unscripted }
  func items(
    matching query: WhorlAttributes, limit: UInt32, includingInvalidated: Bool, after reference: [UInt8]?
  ) throws(WhorlError) -> [WhorlItem] {
    // The same part for ever, and all of it.
    var item = WhorlItem()
    item.attributes.persistentReference = [1]
    return Array(repeating: item, count: Int(limit))
  }
  func secret(
    matching query: WhorlAttributes, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> SecretBytes { throw unscripted }
  func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) { throw unscripted }
  func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    secret: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) { throw unscripted }
  func delete(matching query: WhorlAttributes, all: Bool) throws(WhorlError) -> Int { throw unscripted }
  func generateKey(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?
  ) throws(WhorlError) -> [UInt8] { throw unscripted }
  func sign(
    _ data: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlSignatureAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> [UInt8] { throw unscripted }
  func agree(
    with peer: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlKeyAgreementAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> SecretBytes { throw unscripted }
}
