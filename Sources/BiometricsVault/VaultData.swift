internal import LocalAuthentication

/// What an open vault holds in place of the credentials: the context in which the finger was seen.
public final class VaultData: Sendable {
  let context: LAContext

  init(context: LAContext) { self.context = context }
}
