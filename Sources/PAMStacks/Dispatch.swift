/// libpam's walk through a stack (`_pam_dispatch_aux`), one step at a time.
struct Dispatch: Sendable, Hashable {
  private enum Impression: Hashable { case none, positive, negative }
  private struct Saved: Hashable {
    var impression: Impression
    var status: PAMCode
  }

  private var impression = Impression.none
  private var status = PAMCode.permDenied
  /// The steps before this one are passed over.
  private(set) var next = 0
  private var lastLevel = 0
  /// How things stood when each substack began.
  private var saved: [Saved] = [Saved(impression: .none, status: .permDenied)]
  /// A module asked for time; no program that we know of comes back.
  private var isCut = false

  /// Whether the stack as a whole says yes, once all steps were taken.
  var grants: Bool { !isCut && impression == .positive && status == .success }

  /// Whether this step is asked, or passed over.
  func reaches(_ index: Int) -> Bool { !isCut && index >= next }

  /// The step at `index`, which is reached, said `code`.
  mutating func take(_ code: PAMCode, at index: Int, of steps: [PAMStep]) {
    let step = steps[index]
    let level = step.level
    defer { lastLevel = level }
    if lastLevel < level {
      while saved.count <= level { saved.append(Saved(impression: impression, status: status)) }
      saved[level] = Saved(impression: impression, status: status)
    }
    if case .substack = step.kind { return }
    if code == .incomplete {
      isCut = true
      return
    }
    switch step.control[code] {
    case .ignore: break
    case .reset:
      // At the top that is the beginning.
      let before = level < saved.count ? saved[level] : saved[0]
      (impression, status) = (before.impression, before.status)
    case .ok: accept(code)
    case .done:
      accept(code)
      if impression == .positive { leave(index, steps, level) }
    case .bad: refuse(code)
    case .die:
      refuse(code)
      leave(index, steps, level)
    case .jump(let count): jump(count, from: index, steps, level)
    }
  }

  private mutating func accept(_ code: PAMCode) {
    guard impression == .none || (impression == .positive && status == .success) else { return }
    (impression, status) = (.positive, code)
  }

  private mutating func refuse(_ code: PAMCode) {
    guard impression != .negative else { return }
    impression = .negative
    status = code == .ignore ? .permDenied : code
  }

  /// The substack has decided; at the top that is the end.
  private mutating func leave(_ index: Int, _ steps: [PAMStep], _ level: Int) {
    var last = index
    while last + 1 < steps.count, steps[last + 1].level >= level { last += 1 }
    next = last + 1
  }

  /// A substack counts as one step.
  private mutating func jump(_ count: Int, from index: Int, _ steps: [PAMStep], _ level: Int) {
    var (last, left) = (index, count)
    while last + 1 < steps.count, steps[last + 1].level >= level, left > 0 {
      repeat { last += 1 } while last + 1 < steps.count && steps[last + 1].level > level
      left -= 1
    }
    next = last + 1
    // Out of the stack: that cannot succeed any more.
    if left > 0 { (impression, status) = (.negative, .permDenied) }
  }
}
