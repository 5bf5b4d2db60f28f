package import WhorlClient

/// What `kSecUseAuthenticationContext` takes: LAContext of LocalAuthentication, which Security does not know.
package protocol EnclaveContextSource: AnyObject, Sendable {
  /// The enclave's context, made now where there is none yet.
  func enclaveContext() throws(WhorlError) -> WhorlContext
  /// How requests in this context ask the user, where the query does not say.
  var promptDefaults: ItemPromptDefaults { get }
}

/// How a context asks the user by default.
package struct ItemPromptDefaults: Hashable, Sendable {
  /// Why (LAContext.localizedReason); empty for none.
  package var reason: String
  /// Whether the user must not be asked (LAContext.interactionNotAllowed).
  package var interactionNotAllowed: Bool

  /// Defaults of these.
  package init(reason: String = "", interactionNotAllowed: Bool = false) {
    self.reason = reason
    self.interactionNotAllowed = interactionNotAllowed
  }
}

/// What `kSecValueRef` takes: a SecKey.
package protocol ItemReference: AnyObject, Sendable {}
