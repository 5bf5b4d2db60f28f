internal import LocalAuthentication

#if os(Linux)
  internal import WhorlClient
#endif

extension LAContext {
  /// A new context of the same enclave.
  func another() -> LAContext {
    #if os(Linux)
      LAContext(transport: transport)
    #else
      LAContext()
    #endif
  }
}

extension VaultStorage {
  /// Why what was kept behind a finger is gone for good; nil where it is not, or where the system does not say.
  func loss(in context: LAContext) -> VaultLoss? {
    #if os(Linux)
      guard let search = try? ItemSearch(query(.guarded, in: context) as CFDictionary, for: .copyMatching),
        let item = try? context.transport.items(
          matching: search.attributes, limit: 1, includingInvalidated: true, after: nil
        ).first
      else { return nil }
      if item.isInvalidated { return .fingersChanged }
      return item.isPasscodeRemoved ? .passcodeRemoved : nil
    #else
      return nil
    #endif
  }
}
