internal import Keychain
public import SecretMemory

/// Requests whose passcode somebody else than their program asks for.
extension Enclave {
  /// What a context says of prompts: for how many seconds what is shown in it covers its further requests, and whether
  /// there may be any.
  /// - Throws: `.invalidContext`.
  public func prompts(
    of context: ContextID, owner: ContextOwner
  ) throws(EnclaveError) -> (reuse: Int, areAllowed: Bool) {
    let context = try requireContext(context, owner)
    return (context.reuse, !context.interactionNotAllowed)
  }

  /// A context for one request of a program's, apart from the one that the program made: the person was told what this
  /// request is for, so what is shown for it must not serve another. The program cannot name it, and it ends with the
  /// connection, or by `invalidate`. The program's own password goes along.
  /// - Parameter request: a number that no other request of that connection has.
  /// - Throws: `.invalidContext`, `.busy`.
  public func contextForRequest(
    _ request: UInt64, of context: ContextID, owner: ContextOwner
  ) throws(EnclaveError) -> (id: ContextID, owner: ContextOwner) {
    let parent = try requireContext(context, owner)
    guard lastContext < .max else { throw .busy("there were too many authentication contexts; restart whorld") }
    lastContext += 1
    let id = ContextID(rawValue: lastContext)
    let owner = ContextOwner(connection: owner.connection, user: owner.user, request: request)
    var child = AuthenticationContext(owner: owner, reuse: 0, interactionNotAllowed: parent.interactionNotAllowed)
    child.applicationPassword = parent.applicationPassword
    contexts[id] = child
    return (id, owner)
  }

  /// What the person may choose in the place of a finger that is waited for in a context, and can be had now; nil for
  /// nothing.
  public func fallback(in context: ContextID, owner: ContextOwner) async -> Fallback? {
    guard (try? requireContext(context, owner)) != nil, hasFallback(context) else { return nil }
    guard operations.values.contains(where: { $0.context == context && $0.need.takesPasscode }) else { return .program }
    guard (try? passcodeWait(of: owner.user)) == 0 else { return nil }
    return await passcodes.state(of: owner.user).isWorthAsking ? .passcode : nil
  }

  /// The person wants to give the passcode in the place of a finger: what waits for one in a context, and would take the
  /// passcode as well, ends with `.passcodeNeeded`; where the program has a way of its own, with `.userFallback`. What takes
  /// a finger alone goes on waiting.
  /// - Returns: whether there was anything of the kind.
  public func fallBack(_ context: ContextID, owner: ContextOwner) -> Bool {
    guard (try? requireContext(context, owner)) != nil, hasFallback(context) else { return false }
    endOperations(CancelKind.fallback.error) { $0.context == context && $0.hasFallback }
    return true
  }

  private func hasFallback(_ context: ContextID) -> Bool {
    operations.values.contains { $0.context == context && $0.hasFallback }
  }

  /// What the person gives where the former passcode is waited for: that, or the recovery key. It unlocks, and covers
  /// nothing in the context. Where none is waited for any more, this does nothing.
  /// - Throws: as `provideFormerPasscode`.
  public func provideFormerPasscodeOrRecoveryKey(
    _ context: ContextID, owner: ContextOwner, answer: consuming SecretBytes
  ) async throws(EnclaveError) {
    try requireContext(context, owner)
    let user = owner.user
    guard pendingPasscodes[user] != nil else { return }
    switch try Self.keychain({ () throws(KeychainError) in try RecoveryKey(typed: answer) }) {
    case .some(let key):
      let held = HeldRecoveryKey(key)
      try await noting(owner, "give-recovery-key") { () async throws(EnclaveError) in
        let isRight = try self.withKeychain(of: user) { keychain throws(KeychainError) in
          guard try keychain.unlock(with: held.key) else { return false }
          if let pending = self.pendingPasscodes[user] { try keychain.setPasscode(pending) }
          return true
        }
        guard isRight else { throw .authenticationFailed(Self.wrongRecoveryKey) }
        self.pendingPasscodes[user] = nil
        self.sawOwner(user)
      }
    case .none: try await provideFormerPasscode(context, owner: owner, passcode: answer)
    }
  }

  static var wrongRecoveryKey: String {
    "that is not the recovery key of this keychain; it may have been replaced or revoked"
  }
}

/// A closure cannot take a noncopyable value with it.
private final class HeldRecoveryKey {
  let key: RecoveryKey
  init(_ key: consuming RecoveryKey) { self.key = key }
}
