import GLibLoop
import SecretMemory
import WhorlClient

/// The secret of the login keyring: an item of its own service, which an export leaves out.
extension BusService {
  private static var item: WhorlAttributes {
    WhorlAttributes(itemClass: "generic-password", service: KeyringItem.service, account: KeyringItem.account)
  }

  func keyringItem() async throws(WhorlError) -> KeyringItem? {
    let items = try await whorl.copyMatching(Self.item)
    // A query is a wish: what is used is what was asked for.
    return items.first {
      $0.attributes.service == KeyringItem.service && $0.attributes.account == KeyringItem.account
    }.map { KeyringItem(comment: $0.attributes.comment) }
  }

  func addKeyringSecret(_ secret: borrowing SecretBytes) async throws(WhorlError) {
    var attributes = Self.item
    attributes.label = KeyringItem.label
    attributes.comment = KeyringItem.Stage.pending.rawValue
    // Always: it is wanted at the first login after a start, before any password.
    try await whorl.add(
      attributes,
      accessControl: WhorlAccessControl(
        protection: WhorlProtection.always.thisDeviceOnly, constraints: [.userPresence]),
      secret: secret)
  }

  func keyringSecret(
    in context: WhorlContext, reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes {
    try await whorl.copySecret(Self.item, in: context, prompt: WhorlPrompt(reason: reason), progress: progress)
  }

  func armKeyringSecret(in context: WhorlContext) async throws(WhorlError) {
    var changes = WhorlAttributes()
    changes.comment = KeyringItem.Stage.armed.rawValue
    try await whorl.update(
      Self.item, changes: changes, in: context, prompt: WhorlPrompt(reason: "arm the login keyring"))
  }

  func removeKeyringSecret() async throws(WhorlError) { _ = try await whorl.delete(Self.item) }
}
