internal import Bus
internal import GLibLoop
internal import Keychain
internal import ReaderLink

/// Whose fingers a claim is for.
struct FprintUser: Sendable, Hashable {
  /// The name, which the print folders carry.
  let name: String
  /// The account, where the name service knows one; without it nothing is registered or counted.
  let account: Account?
}

/// One client's hold on one reader, from Claim to Release or to the client's end.
@GLibActor
final class FprintClaim {
  /// What runs, or has ended and waits for its Stop.
  enum Operation {
    case verify(Task<Void, Never>)
    case enroll(Task<Void, Never>)

    var task: Task<Void, Never> {
      switch self {
      case .verify(let task), .enroll(let task): task
      }
    }
  }

  /// Who holds it.
  let owner: String
  /// For whom.
  let user: FprintUser
  /// What runs or waits for its Stop.
  var operation: Operation?

  init(owner: String, user: FprintUser) {
    self.owner = owner
    self.user = user
  }
}
