/// What a stack says in a scene.
public struct PAMOutcome: Sendable, Hashable {
  /// It may let somebody in.
  public var mayGrant: Bool
  /// It may refuse.
  public var mayDeny: Bool

  /// Lets in.
  public static let granted = PAMOutcome(mayGrant: true, mayDeny: false)
  /// Refuses.
  public static let denied = PAMOutcome(mayGrant: false, mayDeny: true)
  /// It depends on what a module says that nothing is known of here.
  public static let either = PAMOutcome(mayGrant: true, mayDeny: true)
}

/// Plays stacks through. Where a module may say several things, all of them are followed.
struct Simulator {
  /// What each step may say.
  typealias Answers = [PAMCodes]

  let stack: PAMStack
  let track: Track
  /// The first step that asks for a password, or may; the number of steps where none does.
  private let firstToAsk: Int

  init(stack: PAMStack) {
    self.stack = stack
    track = Track(stack.steps)
    firstToAsk =
      stack.steps.firstIndex { step in
        switch ModuleTable.role(of: step) {
        case .password, .proof, .unknown: true
        case .finger: step.arguments.contains("simultaneous")
        default: false
        }
      } ?? stack.steps.count
  }

  /// A walk, and whether something on it counts as a reason of its own to let somebody in.
  private struct Walk: Hashable {
    var dispatch = Dispatch()
    var isExcused = false
  }

  /// - Parameter excuse: whether success of a step is such a reason.
  /// - Returns: what all walks come to; with `excuse`, only those without a reason count as granting.
  func outcome(_ answers: Answers, excuse: (PAMStep) -> Bool = { _ in false }) -> PAMOutcome {
    guard stack.refusal == nil else { return .denied }
    var walks: Set<Walk> = [Walk()]
    for index in stack.steps.indices {
      let excuses = excuse(stack.steps[index])
      let codes = track.representatives(answers[index], at: index)
      var following: Set<Walk> = []
      for walk in walks {
        guard walk.dispatch.reaches(index) else {
          following.insert(walk)
          continue
        }
        for code in codes {
          var further = walk
          further.dispatch.take(code, at: index, of: track)
          if excuses, code == .success { further.isExcused = true }
          following.insert(further)
        }
      }
      walks = following
    }
    let granting = walks.filter { $0.dispatch.grants && !$0.isExcused }
    return PAMOutcome(mayGrant: !granting.isEmpty, mayDeny: walks.contains { !$0.dispatch.grants })
  }

  /// What each step may say at all.
  func all(_ scene: PAMScene) -> Answers {
    stack.steps.indices.map { ModuleTable.all(stack.steps[$0], scene, isFirstToAsk: isFirstToAsk($0)) }
  }

  /// What each step says where nothing is wrong.
  func usual(_ scene: PAMScene) -> Answers {
    let hasUnix = stack.steps.contains { $0.module == "pam_unix.so" }
    return stack.steps.indices.map { index in
      let step = stack.steps[index]
      return ModuleTable.usual(
        step, scene, isFirstToAsk: isFirstToAsk(index), isBesideUnix: hasUnix && step.module != "pam_unix.so")
    }
  }

  /// Whether no step before this one can have asked for a password.
  private func isFirstToAsk(_ index: Int) -> Bool { index <= firstToAsk }

  /// Whether two stacks, of which `other` has the steps `added` in addition, come to the same whatever every module
  /// says, those added saying `codes`.
  ///
  /// Both are walked side by side, so that each module says the same in both.
  func comesToTheSame(as other: PAMStack, added: Set<Int>, saying codes: PAMCodes) -> Bool {
    guard stack.refusal == nil, other.refusal == nil else { return stack.refusal == other.refusal }
    guard stack.steps.count + added.count == other.steps.count else { return false }
    struct Pair: Hashable {
      var own = Dispatch()
      var other = Dispatch()
    }
    let otherTrack = Track(other.steps)
    var pairs: Set<Pair> = [Pair()]
    var own = 0
    for index in other.steps.indices {
      var following: Set<Pair> = []
      let isAdded = added.contains(index)
      let codes = otherTrack.representatives(
        isAdded ? codes : Self.possible(other.steps[index]), at: index, also: isAdded ? nil : track.steps[own].control)
      for pair in pairs {
        let isReached = pair.other.reaches(index) || (!isAdded && pair.own.reaches(own))
        guard isReached else {
          following.insert(pair)
          continue
        }
        for code in codes {
          var further = pair
          if pair.other.reaches(index) { further.other.take(code, at: index, of: otherTrack) }
          if !isAdded, pair.own.reaches(own) { further.own.take(code, at: own, of: track) }
          following.insert(further)
        }
      }
      pairs = following
      if !isAdded { own += 1 }
    }
    return pairs.allSatisfy { $0.own.grants == $0.other.grants }
  }

  private static func possible(_ step: PAMStep) -> PAMCodes {
    guard case .module = step.kind else { return PAMCodes(.permDenied) }
    return step.isMissing ? PAMCodes(.moduleUnknown) : .anything
  }
}
