/// How whorl-reader ends of itself: exit codes of sysexits.h, which both ends know.
public enum BridgeExit: Int32, Sendable, CaseIterable {
  /// whorld has closed the link.
  case closed = 0
  /// Started by hand, or with arguments that it does not know.
  case usage = 64
  /// The account that the bridge runs as is missing, or is not fit for it.
  case noAccount = 67
  /// It could not give up its rights.
  case notShed = 71
  /// The link broke.
  case linkBroken = 74
  /// The readers did not let go in time after the link was closed.
  case lateFarewell = 75
  /// What came over the link made no sense.
  case nonsense = 76
  /// Started on the system by somebody who is not root.
  case notRoot = 77

  /// Whether it refused to start, which happens again at each start until somebody changes the machine.
  public var isRefusal: Bool {
    switch self {
    case .usage, .noAccount, .notShed, .notRoot: true
    case .closed, .linkBroken, .lateFarewell, .nonsense: false
    }
  }

  /// What happened, and where a person can do something about it, what; part of a line.
  public var text: String {
    switch self {
    case .closed: "it ended"
    case .usage: "whorl-reader and whorld are not of the same version; reinstall Whorl"
    case .noAccount: "the account whorl-reader is missing or unfit; run systemd-sysusers, or reinstall Whorl"
    case .notShed: "whorl-reader could not give up its rights; see the system log"
    case .linkBroken: "the link to it broke"
    case .lateFarewell: "its readers did not let go in time"
    case .nonsense: "it could not understand whorld"
    case .notRoot: "whorld must run as root, so that whorl-reader can become a user of its own"
    }
  }
}
