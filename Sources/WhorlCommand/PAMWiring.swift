internal import CPosix
internal import Glibc

/// Which of the machine's logins offer the finger, by its PAM files. Reads only; whatever is in them.
struct PAMWiring: Sendable, Equatable {
  /// The services whose `auth` stack comes to pam_whorl.so, in the order of the alphabet.
  var services: [String] = []
  /// Files that could not be read, by path.
  var unreadable: [String] = []
  /// Whether there are PAM files at all.
  var hasFiles = false
  /// pam_whorl.so is asked for somewhere but lies in none of the module folders.
  var moduleIsMissing = false

  static let module = "pam_whorl.so"

  /// - Parameters:
  ///   - folders: the folders with PAM's files, the most important first.
  ///   - moduleFolders: where modules without an absolute path may lie.
  static func read(folders: [String], moduleFolders: [String]) -> PAMWiring {
    var reader = PAMFileReader(folders: folders)
    var wiring = PAMWiring()
    for service in reader.serviceNames() {
      wiring.hasFiles = true
      // Debian's common-… files are parts of others, not services.
      guard !service.hasPrefix("common-"), let module = reader.module(in: service, depth: 0) else { continue }
      wiring.services.append(service)
      let paths = module.hasPrefix("/") ? [module] : moduleFolders.map { "\($0)/\(module)" }
      if !paths.contains(where: { access($0, F_OK) == 0 }) { wiring.moduleIsMissing = true }
    }
    wiring.unreadable = reader.unreadable.sorted()
    return wiring
  }
}

/// One line of a service's `auth` stack, wherever it was included from.
struct PAMAuthLine: Sendable, Equatable {
  /// `sufficient`, `[success=1 default=ignore]` and the like.
  let control: String
  /// The module's file name.
  let module: String
  let arguments: [String]
  /// Whether it stands in a part that cannot end the whole stack.
  let isInSubstack: Bool

  /// The `auth` lines of each service, in their order; by the service's name.
  static func read(folders: [String]) -> [(service: String, lines: [PAMAuthLine])] {
    var reader = PAMFileReader(folders: folders)
    return reader.serviceNames().filter { !$0.hasPrefix("common-") }.map { ($0, reader.authLines(of: $0)) }
  }
}

/// Follows PAM files and what they include.
private struct PAMFileReader {
  let folders: [String]
  var unreadable: Set<String> = []
  private var known: [String: [[String]]] = [:]

  private static let sizeLimit = 1 << 16
  private static let serviceLimit = 512
  private static let depthLimit = 16
  private static let lineLimit = 1024

  init(folders: [String]) { self.folders = folders }

  func serviceNames() -> [String] {
    var names: Set<String> = []
    for folder in folders {
      guard let directory = opendir(folder) else { continue }
      defer { closedir(directory) }
      while let entry = readdir(directory), names.count < Self.serviceLimit {
        // d_name is a NUL-ended array inside the entry, valid until the next readdir.
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
        }
        guard let name, !name.hasPrefix("."), isFile("\(folder)/\(name)") else { continue }
        names.insert(name)
      }
    }
    return names.sorted()
  }

  /// The module as the `auth` lines of the file name it, directly or through includes; nil where they do not.
  mutating func module(in service: String, depth: Int) -> String? {
    guard depth < Self.depthLimit else { return nil }
    for words in lines(of: service) {
      if words[0].lowercased() == "@include" {
        if words.count > 1, let found = module(in: words[1], depth: depth + 1) { return found }
        continue
      }
      guard words.count >= 3, ["auth", "-auth"].contains(words[0].lowercased()) else { continue }
      if ["include", "substack"].contains(words[1].lowercased()) {
        if let found = module(in: words[2], depth: depth + 1) { return found }
      } else if words[2] == PAMWiring.module || words[2].hasSuffix("/\(PAMWiring.module)") {
        return words[2]
      }
    }
    return nil
  }

  /// The `auth` lines of a service, with those of what it includes in their place.
  mutating func authLines(of service: String, isInSubstack: Bool = false, depth: Int = 0) -> [PAMAuthLine] {
    guard depth < Self.depthLimit else { return [] }
    var found: [PAMAuthLine] = []
    for words in lines(of: service) where found.count < Self.lineLimit {
      if words[0].lowercased() == "@include", words.count > 1 {
        found += authLines(of: words[1], isInSubstack: isInSubstack, depth: depth + 1)
        continue
      }
      guard words.count >= 3, ["auth", "-auth"].contains(words[0].lowercased()) else { continue }
      let control = words[1].lowercased()
      if ["include", "substack"].contains(control) {
        found += authLines(of: words[2], isInSubstack: isInSubstack || control == "substack", depth: depth + 1)
      } else {
        found.append(
          PAMAuthLine(
            control: control, module: words[2].split(separator: "/").last.map(String.init) ?? "",
            arguments: Array(words[3...]), isInSubstack: isInSubstack))
      }
    }
    return found
  }

  private mutating func lines(of service: String) -> [[String]] {
    if let lines = known[service] { return lines }
    // Includes may name a file by its whole path.
    let paths = service.hasPrefix("/") ? [service] : folders.map { "\($0)/\(service)" }
    var lines: [[String]] = []
    if let path = paths.first(where: isFile) {
      if let text = contents(path) { lines = Self.lines(text) } else { unreadable.insert(path) }
    }
    known[service] = lines
    return lines
  }

  /// The lines as words; comments and empty lines left out, continued lines joined, `[success=1 default=ignore]` one
  /// word.
  private static func lines(_ text: String) -> [[String]] {
    var result: [[String]] = []
    var line = ""
    for part in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      let part = part.prefix { $0 != "#" }
      if part.hasSuffix("\\") {
        line += part.dropLast() + " "
        continue
      }
      let words = words(of: line + part)
      if !words.isEmpty { result.append(words) }
      line = ""
    }
    return result
  }

  private static func words(of line: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isBracketed = false
    for character in line {
      if character == "[" && word.isEmpty { isBracketed = true }
      if !isBracketed, character.isWhitespace {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.append(character)
      }
      if character == "]" { isBracketed = false }
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  private func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private func contents(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.sizeLimit)
    var filled = 0
    while filled < bytes.count {
      let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress.map { $0 + filled }, $0.count - filled) }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { return nil }
      if got == 0 { break }
      filled += got
    }
    return String(decoding: bytes[..<filled], as: UTF8.self)
  }
}
