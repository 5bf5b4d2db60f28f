internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain

/// What a request that may prompt is about, for the person who is asked.
struct PromptSubject: Sendable {
  /// What the program wants to do, by its name on the bus.
  enum Deed: String, Sendable {
    case read, change, authenticate, export
    case useKey = "use-key"
    case makeRecoveryKey = "make-recovery-key"
    case revokeRecoveryKey = "revoke-recovery-key"
    case importItems = "import"
    case adoptFingers = "adopt-fingers"
    case trustReader = "trust-reader"

    /// Whether what is shown for it must serve nothing else. Of an authentication it is the very sense that what follows
    /// builds on it.
    var isForItselfAlone: Bool { self != .authenticate }

    /// Whether it is about all of the user's secrets: no passcode that was asked for before serves it.
    var isAboutKeys: Bool {
      switch self {
      case .makeRecoveryKey, .revokeRecoveryKey, .export, .importItems, .adoptFingers, .trustReader: true
      case .read, .change, .authenticate, .useKey: false
      }
    }
  }

  let context: ContextID
  let deed: Deed
  /// The program's own words; not cleaned yet.
  var reason = ""
  var item: ShownItem?
  /// What else the agent is told, fit to show.
  var details: [String: BusValue] = [:]
}

/// The context in which a request is to run.
struct PromptScope: Sendable {
  let context: ContextID
  let owner: ContextOwner
}

/// The item that a request is for: found before the request begins, so that the person is told of the very one that the
/// request gets, or that it gets none.
@GLibActor
final class ShownItem {
  private let query: ItemQuery
  private let use: ItemUse
  private let user: UserID
  private let enclave: Enclave
  /// The item, once ``find()`` has found it.
  private(set) var item: ItemSummary?

  /// - Parameter query: as the program gave it.
  init(_ query: ItemQuery, for use: ItemUse, of user: UserID, _ enclave: Enclave) {
    self.query = query
    self.use = use
    self.user = user
    self.enclave = enclave
  }

  /// Finds it, once.
  /// - Throws: as the request where there is none.
  func find() async throws(EnclaveError) {
    if item == nil { item = try await enclave.find(query, of: user, for: use) }
  }

  /// Its name, fit to show.
  var name: String? { item.flatMap { PromptText.name(of: $0.attributes) } }
}
