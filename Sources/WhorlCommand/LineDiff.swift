import PAMStacks

/// One line more or less in a file, as `diff -u` shows it.
enum LineDiff {
  private static let context = 3

  static func lines(_ edit: WiringEdit) -> [String] {
    let before = split(edit.before)
    let after = split(edit.after)
    let isMore = after.count > before.count
    let place = edit.line - 1
    let start = max(0, place - context)
    let head = before[min(start, before.count)..<min(place, before.count)]
    let rest = place + (isMore ? 0 : 1)
    let tail = before[min(rest, before.count)..<min(rest + context, before.count)]
    let count = head.count + tail.count
    let counts = isMore ? (count, count + 1) : (count + 1, count)
    return ["--- \(edit.path)", "+++ \(edit.path)", "@@ -\(start + 1),\(counts.0) +\(start + 1),\(counts.1) @@"]
      + head.map { " \($0)" } + ["\(isMore ? "+" : "-")\(edit.text)"] + tail.map { " \($0)" }
  }

  private static func split(_ bytes: [UInt8]) -> [String] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { String(decoding: $0, as: UTF8.self) }
  }
}
