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
  @GLibActor
  final class Operation {
    enum Kind {
      case verification
      case enrolment
      case deletion
    }

    let kind: Kind
    /// The work.
    var task: Task<Void, Never>?
    /// Whether its last status went out.
    var isReported = false
    /// Whether a Stop waits for its end.
    var isStopping = false
    /// Whether somebody else took the reader: its end is then no verdict.
    var isDisplaced = false
    /// Why the Start is refused, where it is.
    var refusal: BusMethodError?
    private var hasBegun = false
    private var waiter: CheckedContinuation<Void, Never>?
    /// What is told before the Start was answered is kept until then.
    private var kept: [@GLibActor () -> Void]? = []

    init(_ kind: Kind) { self.kind = kind }

    /// The Start may answer: the work is under way, or has come to nothing.
    func begin() {
      hasBegun = true
      waiter?.resume()
      waiter = nil
    }

    /// Returns once ``begin()`` was called; for the one Start.
    func hasBegunOrFailed() async {
      if !hasBegun { await withCheckedContinuation { waiter = $0 } }
    }

    /// Whether the Start has been answered.
    var isAnswered: Bool { kept == nil }

    /// Runs `message` now, or once the Start has been answered.
    func tell(_ message: @escaping @GLibActor () -> Void) {
      if kept == nil { message() } else { kept?.append(message) }
    }

    /// The Start has been answered.
    func answered() {
      let messages = kept ?? []
      kept = nil
      for message in messages { message() }
    }
  }

  /// Who holds it.
  let owner: String
  /// The uid of its program.
  let ownerUser: UserID
  /// For whom.
  let user: FprintUser
  /// What runs or waits for its Stop.
  var operation: Operation?
  /// Whether a Release, or the client's end, is being carried out.
  var isEnding = false
  /// That work, which ends with nobody holding the reader; nil where it is a deletion's, or has not begun.
  var ending: Task<ReaderError?, Never>?
  /// Whether every print of the host is known to be one that the reader can use, so that what else is on its chip is
  /// nobody's. Known after the first touch of an enrolment.
  var mayCollect = false
  /// Whether a former account's prints are under the user's name, and go once a new print is to be stored.
  var replacesFormer = false
  /// Whether the prints on the chip were compared with those on the disk under this claim.
  var hasComparedChip = false

  init(owner: String, ownerUser: UserID, user: FprintUser) {
    self.owner = owner
    self.ownerUser = ownerUser
    self.user = user
  }

  /// Takes the place for an operation.
  /// - Throws: `AlreadyInUse` where something runs or waits for its Stop.
  func begin(_ kind: Operation.Kind) throws(BusMethodError) -> Operation {
    guard operation == nil, !isEnding else {
      throw .fprint(.alreadyInUse, "Another operation is already in progress")
    }
    let new = Operation(kind)
    operation = new
    return new
  }

  /// Gives the place back, where `ended` still has it.
  func end(_ ended: Operation) { if operation === ended { operation = nil } }
}
