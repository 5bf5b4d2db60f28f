@testable import PAMStacks

/// Stacks of pam_debug.so by chance, of a seed: with includes, substacks, jumps, and lines that nobody should write.
struct RandomStacks: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  // SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  private mutating func pick<T>(_ choices: [T]) -> T { choices[Int(next() % UInt64(choices.count))] }
  private mutating func chance(_ percent: UInt64) -> Bool { next() % 100 < percent }

  /// The files of one service, by name; it includes only what comes after it in the list, and `missing`, which is not
  /// there.
  mutating func files(_ service: String, parts: [String]) -> [String: String] {
    let names = [service] + parts
    var files: [String: String] = [:]
    for (index, name) in names.enumerated() {
      let count = Int(next() % 6) + 1
      files[name] = (0..<count).map { _ in line(including: Array(names[(index + 1)...])) }.joined()
    }
    return files
  }

  private mutating func line(including parts: [String]) -> String {
    let end = pick(["\n", "\n", "\n", " # said\n", "\n\n", "\n# auth required pam_permit.so\n"])
    if !parts.isEmpty, chance(28) {
      let part = chance(3) ? "missing" : pick(parts)
      return pick(["auth include \(part)", "auth substack \(part)", "-auth  SubStack\t\(part)", "@include \(part)"])
        + end
    }
    if chance(2) {
      return pick(["auth", "auth required", "nonsense required pam_permit.so", "[auth] x", "auth [] pam_permit.so"])
        + end
    }
    if chance(6) {
      return pick(["account required pam_permit.so", "session optional pam_debug.so", "-password include missing"])
        + end
    }
    let type = pick(["auth", "auth", "auth", "-auth", "AUTH", "auth\t"])
    let gap = pick([" ", "\t", " \\\n  "])
    return "\(type) \(control())\(gap)\(module())\(end)"
  }

  private mutating func control() -> String {
    if chance(55) { return pick(["required", "requisite", "sufficient", "optional", "Required"]) }
    var parts: [String] = []
    for _ in 0..<(next() % 4) {
      let code = pick([
        "success", "success", "auth_err", "ignore", "authinfo_unavail", "user_unknown", "new_authtok_reqd",
      ])
      parts.append("\(code)\(pick(["=", "=", " = "]))\(action())")
    }
    if chance(80) { parts.append("default=\(action())") }
    if chance(3) { parts.append(pick(["what=ok", "success", "success=0", "success=okay", "default=x"])) }
    return "[" + parts.joined(separator: " ") + "]"
  }

  private mutating func action() -> String {
    pick(["ignore", "ok", "done", "bad", "die", "reset", "1", "1", "2", "3", "7"])
  }

  private mutating func module() -> String {
    if chance(4) { return pick(["pam_nothing.so", "/nonexistent/pam_permit.so", "pam_debug"]) }
    if chance(12) { return pick(["pam_permit.so", "pam_deny.so", "/nonexistent.so"]) }
    let code = pick([
      "success", "success", "success", "auth_err", "ignore", "authinfo_unavail", "user_unknown", "new_authtok_reqd",
      "abort", "perm_denied", "conv_err", "module_unknown", "acct_expired", "nothing",
    ])
    return pick(["pam_debug.so auth=\(code)", "pam_debug.so auth=\(code)", "pam_debug.so x [auth=\(code)]"])
  }
}
