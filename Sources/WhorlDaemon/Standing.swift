/// How close to the machine's seat somebody is who wants a reader.
enum Standing: Sendable, Hashable {
  /// In the session that a seat shows.
  case active
  /// In a session that a seat has switched away from: nobody who sits there can be meant.
  case background
  /// Neither is known: no logind, a service, a session without a seat. Never makes others give way.
  case unknown

  /// Whether somebody here gives a reader up for somebody there.
  /// - Parameter isOtherAccount: whether it is a common account, and not the one of him who asks.
  func givesWay(to other: Standing, isOtherAccount: Bool) -> Bool {
    guard other == .active else { return false }
    return switch self {
    case .active: false
    case .background: true
    case .unknown: isOtherAccount
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

  /// Where somebody in this session is.
  var standing: Standing {
    guard hasSeat, !isRemote else { return .unknown }
    return isActive ? .active : .background
  }

  /// Where a user is whose sessions these are, and who may be in any of them.
  static func standing(of sessions: some Sequence<SessionFacts>) -> Standing {
    let standings = Set(sessions.map(\.standing))
    if standings.contains(.active) { return .active }
    // A session without a seat may be the one that asks.
    return standings == [.background] ? .background : .unknown
  }
}
