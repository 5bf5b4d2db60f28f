/// What comes of a stack where a single step says something else, for one step after the other: what the walks before and
/// after it come to is found out once.
struct Variations {
  /// A walk that has come to a step.
  private struct State: Hashable {
    let index: Int
    let walk: Dispatch
  }

  private let track: Track
  private let isRefused: Bool
  private let codes: [[PAMCode]]
  /// The walks that come to each step.
  private var before: [Set<Dispatch>] = []
  /// From here somebody may be let in.
  private var open: Set<State> = []
  /// From here nobody is.
  private var closed: Set<State> = []

  /// - Parameter answers: what the steps say otherwise.
  init(_ simulator: Simulator, _ answers: Simulator.Answers) {
    track = simulator.track
    isRefused = simulator.stack.refusal != nil
    codes = answers.indices.map { [track] in track.representatives(answers[$0], at: $0) }
    var walks: Set<Dispatch> = [Dispatch()]
    for index in codes.indices {
      before.append(walks)
      var following: Set<Dispatch> = []
      for walk in walks {
        guard walk.reaches(index) else {
          following.insert(walk)
          continue
        }
        for code in codes[index] { following.insert(taking(code, at: index, walk)) }
      }
      walks = following
    }
  }

  /// Whether the stack may let somebody in where the step says one of `answers`.
  mutating func mayGrant(changing index: Int, to answers: PAMCodes) -> Bool {
    guard !isRefused else { return false }
    let changed = track.representatives(answers, at: index)
    for walk in before[index] {
      guard walk.reaches(index) else {
        if mayGrant(State(index: index + 1, walk: walk)) { return true }
        continue
      }
      for code in changed where mayGrant(State(index: index + 1, walk: taking(code, at: index, walk))) { return true }
    }
    return false
  }

  private func taking(_ code: PAMCode, at index: Int, _ walk: Dispatch) -> Dispatch {
    var further = walk
    further.take(code, at: index, of: track)
    return further
  }

  /// Depth first, for one way in is enough.
  private mutating func mayGrant(_ start: State) -> Bool {
    var left = [start]
    var seen: Set<State> = [start]
    var cameFrom: [State: State] = [:]
    while let state = left.popLast() {
      if closed.contains(state) || state.walk.isCut { continue }
      let index = max(state.index, state.walk.next)
      if open.contains(state) || (index >= codes.count && state.walk.grants) {
        var way: State? = state
        while let step = way {
          open.insert(step)
          way = cameFrom[step]
        }
        return true
      }
      guard index < codes.count else { continue }
      for code in codes[index] {
        let next = State(index: index + 1, walk: taking(code, at: index, state.walk))
        if seen.insert(next).inserted {
          cameFrom[next] = state
          left.append(next)
        }
      }
    }
    closed.formUnion(seen)
    return false
  }
}
