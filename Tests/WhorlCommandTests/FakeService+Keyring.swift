import GLibLoop
import SecretMemory
import WhorlClient

@testable import WhorlCommand

extension FakeService {
  func keyringItem() async throws(WhorlError) -> KeyringItem? {
    try enter("keyring item")
    return keyring.map { KeyringItem(comment: $0.comment) }
  }

  func addKeyringSecret(_ secret: borrowing SecretBytes) async throws(WhorlError) {
    try enter("keyring add")
    guard keyring == nil else { throw WhorlError(.duplicateItem, "") }
    keyring = (secret.withUnsafeBytes { Array($0) }, "pending")
    try enter("keyring added")
  }

  func keyringSecret(
    in context: WhorlContext, reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes {
    try enter("keyring secret", reason)
    guard let kept = keyring else { throw WhorlError(.itemNotFound, "") }
    try await authorize(["user-presence"], progress)
    do throws(SecretMemoryError) { return try SecretBytes(copying: kept.secret.span.bytes) } catch {
      throw WhorlError(.failed, error.description)
    }
  }

  func armKeyringSecret(in context: WhorlContext) async throws(WhorlError) {
    try enter("keyring arm")
    guard keyring != nil else { throw WhorlError(.itemNotFound, "") }
    try await authorize(["device-passcode"]) { _ in }
    keyring?.comment = "armed"
  }

  func removeKeyringSecret() async throws(WhorlError) {
    try enter("keyring remove")
    guard keyring != nil else { throw WhorlError(.itemNotFound, "") }
    keyring = nil
  }
}
