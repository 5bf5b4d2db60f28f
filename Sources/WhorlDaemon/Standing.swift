internal import Enclave
internal import Keychain

/// How close to the machine's seat somebody is who wants a reader.
enum Standing: Sendable, Hashable {
  /// In the session that a seat shows.
  case active
  /// In a session that a seat has switched away from: nobody who sits there can be meant.
  case background
  /// In a session that is at no seat, as over ssh. Never makes others give way.
  case remote
  /// None of these is known: no logind, a service. Never makes others give way.
  case unknown

  /// Whether a program of an account here gives a reader up for one there. The same account's own programs do not, unless
  /// they are in the background; root's services, as a greeter's, do not either.
  func givesWay(to other: Standing, from user: UserID?, to otherUser: UserID?) -> Bool {
    guard other == .active else { return false }
    return switch self {
    case .active: false
    case .background: true
    case .remote: user != otherUser
    case .unknown: user != nil && user?.rawValue != 0 && user != otherUser
    }
  }
}

/// What logind says of one session.
struct SessionFacts: Sendable, Hashable {
  /// The uid that it belongs to.
  var user: UInt32?
  /// Whether its seat shows it.
  var isActive = false
  /// Whether it comes over the network.
  var isRemote = false
  /// Whether it is on a seat at all.
  var hasSeat = false
  /// Whether a person is logged in with it, rather than services.
  var isPersonal = true
  /// Whether it has ended and only waits for its processes.
  var isClosing = false
  /// Whether it has a screen that can be locked.
  var isGraphical = false
  /// Whether that is locked, as its own programs say.
  var isLocked = false

  /// Where somebody in this session is.
  var standing: Standing {
    guard hasSeat, !isRemote else { return .remote }
    return isActive ? .active : .background
  }

  /// Where a user is whose sessions these are, and who may be in any of them.
  static func standing(of sessions: some Sequence<SessionFacts>) -> Standing {
    let standings = Set(sessions.map(\.standing))
    if standings.contains(.active) { return .active }
    // A session without a seat may be the one that asks.
    if standings.contains(.remote) { return .remote }
    return standings == [.background] ? .background : .unknown
  }

  /// Whether a user with these sessions is nowhere but at the other end of a network: a service of his cannot be one of
  /// somebody's who sits here.
  static func isElsewhere(_ sessions: some Sequence<SessionFacts>) -> Bool {
    let open = sessions.filter { $0.isPersonal && !$0.isClosing }
    return !open.isEmpty && open.allSatisfy(\.isRemote)
  }

  /// What the sessions of a user come to for the keys of unlocked sessions.
  static func locks(of sessions: some Sequence<SessionFacts>) -> SessionLocks {
    let open = sessions.filter { $0.isPersonal && !$0.isClosing }
    guard !open.isEmpty else { return .none }
    let graphical = open.filter(\.isGraphical)
    return !graphical.isEmpty && graphical.allSatisfy(\.isLocked) ? .allLocked : .open
  }
}
