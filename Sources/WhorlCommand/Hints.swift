/// What messages tell people to type, where the plain words would lead astray.
enum Hints {
  /// The sentence for root under sudo, pkexec or doas: fingers are those of whoever called that, while secrets and the
  /// status are root's, so the hint has to name root. What stands in double quotes is a name and stays as it is.
  static func aboutRoot(_ text: String) -> String {
    text.split(separator: "\"", omittingEmptySubsequences: false).enumerated().map { index, part in
      guard index.isMultiple(of: 2) else { return String(part) }
      return ["enroll", "verify"].reduce(String(part)) { text, verb in
        text.replacing("whorl \(verb)", with: "whorl \(verb) -u root")
      }
    }.joined(separator: "\"")
  }

  /// What to do where what is kept for an account's uid is under another name: one text, whoever says it.
  static func former(_ former: String, now user: String) -> String {
    let old = Escaping.operand(former)
    // "--" is needed once, before the first of the names.
    let new =
      former.hasPrefix("-") ? String(Escaping.operand(user).drop { $0 == "-" || $0 == " " }) : Escaping.operand(user)
    return
      "if the account was renamed: sudo whorl rename-user \(old) \(new); if that was another's: sudo whorl forget \(old)"
  }

  /// The one of these words that was probably meant; nil where none is near.
  static func nearest(to word: String, among words: [String]) -> String? {
    let near = words.map { (word: $0, distance: distance(word.lowercased(), $0)) }.min { $0.distance < $1.distance }
    guard let near, near.distance <= (word.count > 3 ? 2 : 1) else { return nil }
    return near.word
  }

  /// How many letters have to be changed, left out, put in or swapped with the next.
  private static func distance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one.prefix(32)), Array(other))
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
        row.append(best)
      }
      (before, last) = (last, row)
    }
    return last[b.count]
  }
}
