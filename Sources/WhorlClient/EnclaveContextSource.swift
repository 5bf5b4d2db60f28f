/// What a program hands to a keychain call as its authentication context: `LAContext`, which the target `Security` knows
/// by this protocol alone, since it must not import `LocalAuthentication`.
///
/// A value of `kSecUseAuthenticationContext` that is not one of these is a wrong parameter.
package protocol EnclaveContextSource: AnyObject, Sendable {
  /// The way to the enclave that the context belongs to; what uses the context has to go the same way.
  var transport: any BlockingTransport { get }

  /// Why the user is asked, where the call has no words of its own (`kSecUseOperationPrompt`); empty where the program set
  /// none.
  var localizedReason: String { get }

  /// Whether a call with this context fails with `.notInteractive` rather than prompt.
  var interactionNotAllowed: Bool { get }

  /// Calls `body` with the enclave's context, which is made now where there is none yet. After a restart of the daemon,
  /// and only then, `body` runs a second time, in a new context, in which nothing was shown yet.
  ///
  /// Blocks for as long as `body` does, and may be called from several threads at once. What runs in the context ends with
  /// `.appCancel` when the program invalidates it.
  ///
  /// - Throws: `.invalidContext` where the program has invalidated it; what `createContext` and `body` throw.
  func withEnclaveContext<R: ~Copyable>(
    _ body: (WhorlContext) throws(WhorlError) -> R
  ) throws(WhorlError) -> R
}

extension EnclaveContextSource {
  /// How a keychain call with this context prompts.
  /// - Parameter operationPrompt: the call's own words (`kSecUseOperationPrompt`); nil takes the context's.
  package func prompt(_ operationPrompt: String? = nil) -> WhorlPrompt {
    WhorlPrompt(reason: operationPrompt ?? localizedReason, interactionNotAllowed: interactionNotAllowed)
  }
}
