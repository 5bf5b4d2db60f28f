/// What the walk through a stack needs of its steps.
struct Track: Sendable {
  /// One step.
  struct Step: Sendable {
    let control: PAMControl
    /// How many substacks it is in.
    let level: Int
    let isSubstack: Bool
    /// The first step after it that is in fewer substacks, or the end.
    var end: Int
  }

  let steps: [Step]

  init(_ steps: [PAMStep]) {
    var track = steps.map { step in
      let isSubstack = if case .substack = step.kind { true } else { false }
      return Step(control: step.control, level: step.level, isSubstack: isSubstack, end: steps.count)
    }
    // The steps whose end is still to come, the deepest last.
    var open: [Int] = []
    for index in track.indices {
      while let last = open.last, track[last].level > track[index].level {
        track[last].end = index
        open.removeLast()
      }
      open.append(index)
    }
    self.steps = track
  }

  /// Of these codes one of each kind that the walk tells apart at a step, as `other`'s step of that number does.
  func representatives(_ codes: PAMCodes, at index: Int, also other: PAMControl? = nil) -> [PAMCode] {
    struct Kind: Hashable {
      let action: PAMAction
      let other: PAMAction?
      let code: PAMCode?
    }
    var seen: Set<Kind> = []
    let control = steps[index].control
    return codes.codes.filter { code in
      let isOne = code == .success || code == .incomplete
      return seen.insert(Kind(action: control[code], other: other?[code], code: isOne ? code : nil)).inserted
    }
  }
}

/// libpam's walk through a stack (`_pam_dispatch_aux`), one step at a time. Of what the stack says so far it keeps whether
/// that is success: nothing that the walk comes to hangs on which failure it is.
struct Dispatch: Sendable, Hashable {
  private enum Impression: Hashable { case none, positive, negative }
  private struct Saved: Hashable {
    var impression: Impression
    var isSuccess: Bool
  }

  private var impression = Impression.none
  private var isSuccess = false
  /// The next step that is not passed over.
  private(set) var next = 0
  private var lastLevel = 0
  /// How things stood when each substack began.
  private var saved: [Saved] = [Saved(impression: .none, isSuccess: false)]
  /// A module asked for time; no program that we know of comes back.
  private(set) var isCut = false

  /// Whether the stack as a whole says yes, once all steps were taken.
  var grants: Bool { !isCut && impression == .positive && isSuccess }

  /// Whether this step is asked, or passed over.
  func reaches(_ index: Int) -> Bool { !isCut && index >= next }

  /// The step at `index`, which is reached, said `code`.
  mutating func take(_ code: PAMCode, at index: Int, of track: Track) {
    let step = track.steps[index]
    let level = step.level
    defer { lastLevel = level }
    // Where earlier leaps landed is past, and makes no walk another one.
    next = index + 1
    if lastLevel < level {
      while saved.count <= level { saved.append(Saved(impression: impression, isSuccess: isSuccess)) }
      saved[level] = Saved(impression: impression, isSuccess: isSuccess)
    }
    if step.isSubstack { return }
    if code == .incomplete {
      // Wherever it was cut, it comes to the same.
      self = Dispatch()
      isCut = true
      return
    }
    switch step.control[code] {
    case .ignore: break
    case .reset:
      // At the top that is the beginning.
      let before = level < saved.count ? saved[level] : saved[0]
      (impression, isSuccess) = (before.impression, before.isSuccess)
    case .ok: accept(code)
    case .done:
      accept(code)
      if impression == .positive { next = step.end }
    case .bad: refuse()
    case .die:
      refuse()
      // The substack has decided; at the top that is the end.
      next = step.end
    case .jump(let count): jump(count, from: index, track.steps, level)
    }
  }

  private mutating func accept(_ code: PAMCode) {
    guard impression == .none || (impression == .positive && isSuccess) else { return }
    (impression, isSuccess) = (.positive, code == .success)
  }

  private mutating func refuse() { (impression, isSuccess) = (.negative, false) }

  /// A substack counts as one step.
  private mutating func jump(_ count: Int, from index: Int, _ steps: [Track.Step], _ level: Int) {
    var (last, left) = (index, count)
    while last + 1 < steps.count, steps[last + 1].level >= level, left > 0 {
      repeat { last += 1 } while last + 1 < steps.count && steps[last + 1].level > level
      left -= 1
    }
    next = last + 1
    // Out of the stack: that cannot succeed any more.
    if left > 0 { (impression, isSuccess) = (.negative, false) }
  }
}
