/// Reads a service's files in the way of libpam's `_pam_init_handlers`.
struct StackLoader {
  /// libpam gives up here.
  private struct Refusal: Error {
    let words: String
    /// It is not libpam that gives up.
    var isTooLong = false
  }

  /// The deepest include, and the deepest substack.
  private static let depthLimit = 16
  /// No stack that people write comes near; includes that double could.
  private static let stepLimit = 4096
  /// So many files are included, over and over again or not: includes of what adds no step double too.
  private static let includeLimit = 1024

  private let files: PAMFiles
  private var own: [PAMStep] = []
  private var stack = PAMStack()
  private var serviceLine = 0
  private var includes = 0

  init(_ files: PAMFiles) { self.files = files }

  func read(_ service: String) -> PAMStack {
    var loader = self
    return loader.load(service)
  }

  private mutating func load(_ service: String) -> PAMStack {
    // libpam writes names small.
    let service = service.lowercased()
    var other: [PAMStep] = []
    do throws(Refusal) {
      if files.hasFolder {
        if let path = files.path(of: service) {
          stack.file = path
          try top(path)
        }
        (other, own) = (own, [])
        if let path = files.path(of: "other") { try top(path) }
        swap(&other, &own)
        // Both are kept in one list for a service of that name.
        if service == "other" {
          own += other
          other = []
        }
      } else if let path = files.places.oneFile {
        stack.file = path
        try oneFile(path, service)
        swap(&other, &own)
        try oneFile(path, "other")
        swap(&other, &own)
      }
    } catch {
      stack.refusal = error.words
      stack.isTooLong = error.isTooLong
      stack.steps = own + other
      return stack
    }
    stack.isOthers = own.isEmpty
    stack.steps = own.isEmpty ? other : own
    if stack.steps.isEmpty { stack.refusal = "it has no auth line, and neither has other" }
    return stack
  }

  private mutating func top(_ path: String) throws(Refusal) {
    let text = try text(at: path)
    for line in text.lines {
      serviceLine = line.first + 1
      try add(line, line.words[...], from: path, isAuthOnly: false, depth: 0, level: 0)
    }
    if text.isCutShort { throw Refusal(words: "\(path) ends in the middle of a line") }
  }

  private mutating func oneFile(_ path: String, _ service: String) throws(Refusal) {
    let text = try text(at: path)
    for line in text.lines where line.words[0].lowercased() == service {
      serviceLine = line.first + 1
      try add(line, line.words.dropFirst(), from: path, isAuthOnly: false, depth: 0, level: 0)
    }
    if text.isCutShort { throw Refusal(words: "\(path) ends in the middle of a line") }
  }

  private mutating func text(at path: String) throws(Refusal) -> StackText {
    switch files.text(at: path) {
    case .text(let text):
      stack.files.insert(path)
      if let doubt = text.doubt { stack.doubt = stack.doubt ?? "\(path): \(doubt)" }
      return text
    case .absent: throw Refusal(words: "\(path) is not there")
    case .unreadable:
      stack.unreadable.insert(path)
      throw Refusal(words: "\(path) cannot be read")
    }
  }

  /// One entry. `isAuthOnly`: within an include that is about the auth group alone.
  private mutating func add(
    _ line: StackText.Line, _ words: ArraySlice<String>, from file: String, isAuthOnly: Bool, depth: Int, level: Int
  ) throws(Refusal) {
    var words = words
    var flaw: String?
    var isAuth = true
    if var word = words.popFirst()?.lowercased() {
      if word.hasPrefix("-") { word.removeFirst() }
      switch word {
      case "auth": break
      case "account", "password", "session": isAuth = false
      case "@include" where files.places.knowsAtInclude:
        return try atInclude(words.first, line, from: file, isAuthOnly: isAuthOnly, depth: depth, level: level)
      default: flaw = "the line begins with \(word), which libpam does not know"
      }
    } else {
      flaw = "the line is empty"
    }
    guard isAuth else { return }

    func step(_ kind: PAMStep.Kind, _ control: PAMControl, _ arguments: ArraySlice<String> = []) -> PAMStep {
      let module: String? = if case .module(let name) = kind { name } else { nil }
      return PAMStep(
        kind: kind, control: control, arguments: Array(arguments), level: level, file: file, line: line.first + 1,
        serviceLine: serviceLine, isMissing: module.map { !files.hasModule($0) } ?? false)
    }
    guard let control = words.popFirst() else {
      return try append(step(.broken(flaw ?? "the line has no control"), .bad))
    }
    let module = words.popFirst()
    if ["include", "substack"].contains(control.lowercased()) {
      let isSubstack = control.lowercased() == "substack"
      if isSubstack { try append(step(.substack(module ?? ""), .bad)) }
      if let module, try include(module, isAuthOnly: true, depth: depth + 1, level: level + (isSubstack ? 1 : 0)) {
        return
      }
      return try append(step(.broken("\(module ?? "nothing") cannot be included"), .bad))
    }
    guard let module else {
      return try append(step(.broken(flaw ?? "the line names no module"), PAMControl(word: control)))
    }
    if let flaw { return try append(step(.broken(flaw), PAMControl(word: control))) }
    // Where nothing is left of the name, libpam gives up.
    let name = module.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name
    guard !stem.isEmpty, stem != "?" else { throw Refusal(words: "\(file) names a module that has no name") }
    try append(step(.module(module), PAMControl(word: control), words))
  }

  private mutating func append(_ step: PAMStep) throws(Refusal) {
    guard own.count < Self.stepLimit else { throw tooLong("\(Self.stepLimit) lines") }
    own.append(step)
  }

  private func tooLong(_ limit: String) -> Refusal {
    Refusal(words: "with everything that it includes it has more than \(limit)", isTooLong: true)
  }

  private mutating func atInclude(
    _ name: String?, _ line: StackText.Line, from file: String, isAuthOnly: Bool, depth: Int, level: Int
  ) throws(Refusal) {
    guard let name else { throw Refusal(words: "\(file) has an @include without a name") }
    if try include(name, isAuthOnly: isAuthOnly, depth: depth + 1, level: level) { return }
    guard isAuthOnly else { throw Refusal(words: "\(file) includes \(name), which cannot be read") }
    // libpam fails here too, but by which control is left to chance.
    stack.doubt = stack.doubt ?? "\(file): \(name) cannot be included"
    try append(
      PAMStep(
        kind: .broken("\(name) cannot be included"), control: .bad, arguments: [], level: level, file: file,
        line: line.first + 1, serviceLine: serviceLine, isMissing: false))
  }

  /// Whether the file could be read to its end; what came before the fault stays, as in libpam.
  private mutating func include(_ name: String, isAuthOnly: Bool, depth: Int, level: Int) throws(Refusal) -> Bool {
    guard includes < Self.includeLimit else { throw tooLong("\(Self.includeLimit) includes") }
    guard depth < Self.depthLimit, level < Self.depthLimit, let path = files.path(of: name, included: true) else {
      return false
    }
    includes += 1
    let text: StackText
    do throws(Refusal) { text = try self.text(at: path) } catch { return false }
    for line in text.lines {
      // A refusal inside an include ends the include; only a module without a name cannot be told from it here.
      do throws(Refusal) {
        try add(line, line.words[...], from: path, isAuthOnly: isAuthOnly, depth: depth, level: level)
      } catch {
        guard own.count < Self.stepLimit, includes < Self.includeLimit else { throw error }
        return false
      }
    }
    return !text.isCutShort
  }
}
