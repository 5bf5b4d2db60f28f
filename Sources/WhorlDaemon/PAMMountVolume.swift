internal import Keychain

/// A volume of pam_mount's configuration (pam_mount.conf(5)), as far as it says whose it is and where it goes.
struct PAMMountVolume {
  private let attributes: [String: String]

  /// The volumes of a configuration. What is not understood is left out.
  static func all(in text: String) -> [PAMMountVolume] {
    var found: [PAMMountVolume] = []
    var rest = Substring(text)
    while let start = rest.firstIndex(of: "<") {
      rest = rest[start...]
      guard !rest.hasPrefix("<!--") else {
        guard let end = place(of: "-->", in: rest) else { break }
        rest = rest[end...]
        continue
      }
      guard let end = tagEnd(rest) else { break }
      let tag = rest[rest.index(after: rest.startIndex)..<end]
      if tag.prefix(while: { !$0.isWhitespace && $0 != "/" }) == "volume" {
        found.append(PAMMountVolume(attributes: attributes(tag.dropFirst("volume".count))))
      }
      rest = rest[end...]
    }
    return found
  }

  /// Whether it is this account's. Those that depend on a group are nobody's here: a finger is asked for then.
  func isMeant(for account: Account) -> Bool {
    for name in ["pgrp", "sgrp", "gid"] where attributes[name] != nil { return false }
    if let uid = attributes["uid"] {
      let bounds = uid.split(separator: "-").compactMap { UInt32($0) }
      guard let first = bounds.first, let last = bounds.last, first <= last else { return false }
      guard (first...last).contains(account.user.rawValue) else { return false }
    }
    guard let user = attributes["user"], user != "*" else { return true }
    return Array(user.utf8) == Array(account.name.utf8)
  }

  /// Where it is mounted, with the names of the account in it.
  func mountPoint(for account: Account, home: String) -> String {
    var path = attributes["mountpoint"] ?? ""
    if path.isEmpty { path = home }
    if path == "~" || path.hasPrefix("~/") { path = home + path.dropFirst() }
    for (name, value) in [
      "%(USER)": account.name, "%(USERUID)": "\(account.user.rawValue)", "%(DOMAIN_USER)": account.name,
    ] {
      path = Self.replace(name, with: value, in: path)
    }
    return path
  }

  // MARK: Parts

  /// Where the tag that the text begins with ends: at the first > outside of quotation marks.
  private static func tagEnd(_ text: Substring) -> Substring.Index? {
    var quote: Character?
    for index in text.indices {
      let character = text[index]
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == ">" {
        return index
      }
    }
    return nil
  }

  private static func attributes(_ text: Substring) -> [String: String] {
    var found: [String: String] = [:]
    var rest = text
    while let equals = rest.firstIndex(of: "=") {
      let name = rest[..<equals].split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
      rest = rest[rest.index(after: equals)...].drop(while: \.isWhitespace)
      guard let quote = rest.first, quote == "\"" || quote == "'" else { break }
      rest = rest.dropFirst()
      guard let end = rest.firstIndex(of: quote) else { break }
      found[name] = entities(String(rest[..<end]))
      rest = rest[rest.index(after: end)...]
    }
    return found
  }

  private static func entities(_ text: String) -> String {
    var text = text
    for (name, value) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
      text = replace(name, with: value, in: text)
    }
    return text
  }

  private static func replace(_ part: String, with other: String, in text: String) -> String {
    var result = ""
    var rest = Substring(text)
    while let end = place(of: part, in: rest) {
      result += rest[..<rest.index(end, offsetBy: -part.count)] + other
      rest = rest[end...]
    }
    return result + rest
  }

  /// Where the first `part` in the text ends.
  private static func place(of part: String, in text: Substring) -> Substring.Index? {
    var start = text.startIndex
    while start < text.endIndex {
      if text[start...].hasPrefix(part) { return text.index(start, offsetBy: part.count) }
      start = text.index(after: start)
    }
    return nil
  }
}
