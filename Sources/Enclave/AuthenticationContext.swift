/// What a context has seen: a touch of a registered finger, or the right passcode, and when.
///
/// With a reuse time of N seconds (1 to 300) it covers every request of the context for N seconds after it was seen.
/// With reuse time 0 it is a ticket for exactly one thing:
/// - A touch that an item request (CopySecret, Update) prompted for serves that request and leaves no ticket.
/// - A touch that EvaluatePolicy prompted for leaves a ticket for one item request, the next one that it can serve.
/// - The passcode leaves a ticket for one item request; one EvaluatePolicy may come before it (that is the policy's
///   answer, and the item request that follows counts as one with it).
/// A ticket lapses after `ticketSeconds`, and is taken at the moment of use, so that two requests never share it.
struct Grant {
  /// How long a ticket waits for its request.
  static let ticketSeconds = 60

  /// `EnclaveClock.uptime()` when the touch or passcode was seen.
  let at: Int64
  /// Whether EvaluatePolicy may still be answered with it (reuse time 0 only).
  var answersPolicy: Bool
  /// Whether it was asked for in the program's place for something that it was told: it opens items, and makes no recovery
  /// key, exports nothing and trusts nothing.
  var isForItemsOnly = false
}

/// One authentication context (LAContext).
struct AuthenticationContext {
  let owner: ContextOwner
  /// Seconds, 0 to 300.
  let reuse: Int
  /// Whether requests fail rather than prompt.
  let interactionNotAllowed: Bool
  private(set) var biometry: Grant?
  private(set) var passcode: Grant?
  /// The program's own password, for items that have one.
  var applicationPassword: HeldSecret?

  init(owner: ContextOwner, reuse: Int, interactionNotAllowed: Bool) {
    self.owner = owner
    self.reuse = reuse
    self.interactionNotAllowed = interactionNotAllowed
  }

  /// What a request needs of a context.
  enum Need {
    /// A registered finger or the passcode.
    case presence
    /// A registered finger.
    case biometry
    /// The passcode.
    case passcode
    /// A registered finger and the passcode.
    case both

    var takesBiometry: Bool { self != .passcode }
    /// Whether the passcode alone will do.
    var takesPasscode: Bool { self == .presence || self == .passcode }
  }

  /// What answered a need.
  enum Means { case biometry, passcode }

  mutating func touched(at now: Int64) { biometry = Grant(at: now, answersPolicy: false) }
  mutating func passcodeGiven(at now: Int64, isForItemsOnly: Bool = false) {
    passcode = Grant(at: now, answersPolicy: true, isForItemsOnly: isForItemsOnly)
  }
  /// The enrolled set changed or the user is locked out: earlier touches no longer count.
  mutating func forgetTouch() { biometry = nil }
  /// The sessions were locked: nothing counts that was seen before.
  mutating func forgetAll() {
    biometry = nil
    passcode = nil
  }

  /// Whether the reuse time covers the need now, without taking anything.
  func isCovered(_ need: Need, at now: Int64) -> Bool {
    guard reuse > 0 else { return false }
    if need == .both { return isFresh(biometry, at: now) && isFresh(passcode, at: now) }
    return (need.takesBiometry && isFresh(biometry, at: now)) || (need.takesPasscode && isFresh(passcode, at: now))
  }

  /// Takes what covers an item request: a ticket is gone then. False where nothing does.
  mutating func takeForItem(_ need: Need, at now: Int64) -> Bool {
    if need == .both {
      return hasPasscode(at: now) && takeForItem(.biometry, at: now) && takeForItem(.passcode, at: now)
    }
    if need.takesBiometry, isFresh(biometry, at: now) {
      if reuse == 0 { biometry = nil }
      return true
    }
    if need.takesPasscode, isFresh(passcode, at: now) {
      if reuse == 0 { passcode = nil }
      return true
    }
    return false
  }

  /// Takes the passcode for what is about all of the user's secrets (a recovery key, an export, trust); false where it was
  /// not given, or for something else.
  mutating func takePasscodeForKeys(at now: Int64) -> Bool {
    passcode?.isForItemsOnly == false && takeForItem(.passcode, at: now)
  }

  /// Takes what answers EvaluatePolicy; nil where nothing does. A ticket stays for the one item request that follows.
  mutating func takeForPolicy(_ need: Need, at now: Int64) -> Means? {
    if need.takesBiometry, isFresh(biometry, at: now), reuse > 0 { return .biometry }
    if need.takesPasscode, isFresh(passcode, at: now), reuse > 0 || passcode?.answersPolicy == true {
      passcode?.answersPolicy = false
      return .passcode
    }
    return nil
  }

  /// Whether the passcode was given and still counts, without taking anything.
  func hasPasscode(at now: Int64) -> Bool { isFresh(passcode, at: now) }

  private func isFresh(_ grant: Grant?, at now: Int64) -> Bool {
    guard let grant else { return false }
    let seconds = reuse > 0 ? reuse : Grant.ticketSeconds
    return now - grant.at < Int64(seconds) * 1000
  }
}
