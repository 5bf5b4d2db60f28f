/// The item that holds the login keyring's secret. whorld knows it by these, and gives an armed one to a login.
struct KeyringItem: Sendable, Equatable {
  static let service = "org.whorl.keyring"
  static let account = "login"
  static let label = "Login keyring"

  /// How far `keyring enable` came; the item's comment.
  enum Stage: String, Sendable {
    /// The secret is kept; whether the keyring opens with it was not proved.
    case pending
    /// The keyring opens with it, and logins hand it on.
    case armed
  }

  let stage: Stage

  /// Whatever does not say that it is armed is not.
  init(comment: String?) { stage = comment.flatMap(Stage.init(rawValue:)) ?? .pending }
}
