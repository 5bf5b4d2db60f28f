package import WhorlClient

/// How a call asks the user, if it has to.
package struct ItemPrompting: Sendable {
  /// Whether the user may be asked (`kSecUseAuthenticationUI`).
  package enum Interface: Hashable, Sendable {
    /// Yes.
    case allow
    /// No: the call fails where that would be needed.
    case fail
    /// No: items for which that would be needed are left out.
    case skip
  }

  /// Whether the user may be asked, by the query alone.
  package var interface = Interface.allow
  /// Why, by the query (`kSecUseOperationPrompt`).
  package var reason: String?
  /// The LAContext; nil for one of the call's own.
  package var context: (any EnclaveContextSource)?

  /// The query says nothing.
  package init() {}

  /// Whether the user must not be asked, by the query or by its context.
  package var forbidsInteraction: Bool { interface != .allow || context?.interactionNotAllowed == true }

  /// Why the user is asked: by the query, else by its context; empty where neither says.
  package var promptReason: String { reason ?? context?.localizedReason ?? "" }
}
