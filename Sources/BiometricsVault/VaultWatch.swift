internal import LocalAuthentication

/// Looks every two seconds whether fingers have come to be available, until it is let go.
///
/// There is no event for that on Apple's systems, nor one for everything that it depends on here (readers, fingers, their
/// registration, lockouts), and the look is one short call.
@MainActor
final class VaultWatch {
  private var task: Task<Void, Never>?

  /// - Parameter change: called on the main actor when there may be more than before.
  init(_ context: LAContext, change: @escaping @MainActor () -> Void) {
    task = Task { @MainActor in
      while !Task.isCancelled {
        do { try await Task.sleep(for: .seconds(2)) } catch { return }
        let isAvailable = await Vault.elsewhere { () throws(Never) in
          context.another().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
        }
        if isAvailable, !Task.isCancelled { change() }
      }
    }
  }

  deinit { task?.cancel() }
}
