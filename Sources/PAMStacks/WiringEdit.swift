/// A line for pam_whorl.so in a service's own file: put in where it does no harm, and taken out again.
public struct WiringEdit: Sendable, Equatable {
  /// Why no line can be put in or taken out.
  public enum Refusal: Error, Sendable, Equatable {
    /// The service's file has no auth line; that of `other` serves.
    case noOwnLines
    /// libpam refuses the service as it is, or it cannot be read; why, in words.
    case unusable(String)
    /// The service asks for no password, so that a finger has nothing to stand beside.
    case noPassword
    /// It lets in anybody already.
    case open
    /// The right password does not let in as it is.
    case passwordIsClosed
    /// Every place for the line would change who is let in without a match.
    case changesOthers
    /// A match would not let in, wherever the line stood.
    case matchIsClosed
    /// A match would pass by this module.
    case bypasses(String)
    /// Another service that includes the file would be worse off; which.
    case harms(String)
    /// Whorl's module is asked for by a line of the file that Whorl did not put in; its number.
    case foreignLine(Int)
    /// The line that Whorl put in cannot be taken out without changing what an earlier line leaps over.
    case leapedOver(Int)
  }

  /// The comment by which a line of ours is known.
  public static let marker = "# whorl"

  /// The path of the file.
  public let path: String
  /// The file as it is.
  public let before: [UInt8]
  /// The file as it will be.
  public let after: [UInt8]
  /// The number of the line that is put in or taken out, the first being 1.
  public let line: Int
  /// That line.
  public let text: String
  /// What the service does afterwards.
  public let verdict: ServiceVerdict

  // MARK: - Putting in

  /// - Parameters:
  ///   - options: what stands after the module's name; `simultaneous` comes before it where the password module takes
  ///     a password that was typed at the finger's prompt: pam_unix.so always (since Linux-PAM 1.3), others with
  ///     `try_first_pass`.
  ///   - text: the service's file as it is.
  ///   - path: where it is, or will be.
  /// - Throws: why there is no place for the line.
  public static func adding(
    to service: String, options: [String], text before: [UInt8], at path: String, in files: PAMFiles
  ) throws(Refusal) -> WiringEdit {
    let files = files.with(path, as: before)
    let verdict = ServiceVerdict(service: service, in: files)
    for fault in verdict.faults {
      switch fault {
      case .refused(let why), .unjudged(let why), .doubtful(let why): throw .unusable(why)
      case .open: throw .open
      case .passwordIsClosed: throw .passwordIsClosed
      case .matchIsClosed, .bypassed, .moduleIsMissing, .asksTwice: break
      }
    }
    guard !verdict.stack.isOthers else { throw .noOwnLines }
    guard let password = verdict.stack.steps.first(where: { ModuleTable.role(of: $0) == .password }) else {
      throw .noPassword
    }
    let content = StackText(before)
    let lines = content.lines.filter { isAuth($0, files) }
    guard let last = lines.lastIndex(where: { $0.first + 1 == password.serviceLine }) else { throw .noPassword }

    // Without it a password that is typed while the finger is awaited on a terminal goes to nobody.
    let takesTyped = ModuleTable.isUnix(password) || password.arguments.contains("try_first_pass")
    let options = (takesTyped ? ["simultaneous"] : []) + options
    // As near to the password as can be; further up where an earlier line leaps over the password.
    var worst: Refusal?
    for place in lines[...last].reversed() {
      // A leap counts lines of this file alone, for an include may change behind its back; a substack is one.
      let leaps = verdict.stack.steps.drop { $0.serviceLine <= place.first }.filter { $0.level == 0 }
        .prefix { $0.file == path }.count
      for leap in 0...leaps {
        let control = leap == 0 ? "sufficient" : "[success=\(leap) default=ignore]"
        let text = (["auth", control, ModuleTable.finger] + options + [marker]).joined(separator: "  ")
        let edit = WiringEdit(
          path: path, before: before, after: content.bytes(inserting: text, at: place.first),
          line: place.first + 1, text: text, service: service, files)
        do throws(Refusal) {
          try edit.check(service, files, verdict)
          return edit
        } catch {
          // What stands in the way of the plainest line is what people can do something about.
          worst = worst ?? error
        }
      }
    }
    throw worst ?? .changesOthers
  }

  /// Whether the line is safe: without a match nothing changes, a match opens where the right password does, and passes
  /// nothing by. So for every service that comes to the file.
  private func check(_ service: String, _ files: PAMFiles, _ plain: ServiceVerdict) throws(Refusal) {
    try check(plain, verdict)
    let edited = files.with(path, as: after)
    for other in files.services where other != service {
      let stack = PAMStack(service: other, in: files)
      guard stack.files.contains(path) else { continue }
      do throws(Refusal) {
        try check(ServiceVerdict(service: other, stack: stack), ServiceVerdict(service: other, in: edited))
      } catch { throw .harms(other) }
    }
  }

  private func check(_ before: ServiceVerdict, _ after: ServiceVerdict) throws(Refusal) {
    let added = after.stack.steps.indices.filter { index in
      after.stack.steps[index].file == path && after.stack.steps[index].line == line
    }
    guard
      Simulator(stack: before.stack).comesToTheSame(
        as: after.stack, added: Set(added), saying: PAMScene.noMatchAtAll)
    else { throw .changesOthers }
    for fault in after.faults where !before.faults.contains(fault) {
      switch fault {
      case .open: throw .open
      case .passwordIsClosed: throw .passwordIsClosed
      case .matchIsClosed: throw .matchIsClosed
      case .bypassed(let what): throw .bypasses(what)
      case .refused(let why), .unjudged(let why), .doubtful(let why): throw .unusable(why)
      case .moduleIsMissing, .asksTwice: break
      }
    }
  }

  private init(
    path: String, before: [UInt8], after: [UInt8], line: Int, text: String, service: String, _ files: PAMFiles
  ) {
    self.path = path
    self.before = before
    self.after = after
    self.line = line
    self.text = text
    verdict = ServiceVerdict(service: service, in: files.with(path, as: after))
  }

  // MARK: - Taking out

  /// The file without the line that Whorl put in; nil where there is none.
  ///
  /// - Throws: that the line is not one of Whorl's, or that an earlier line leaps over it.
  public static func removing(
    from service: String, text before: [UInt8], at path: String, in files: PAMFiles
  ) throws(Refusal) -> WiringEdit? {
    let files = files.with(path, as: before)
    let content = StackText(before)
    let wirings = content.lines.filter { isAuth($0, files) && names($0) }
    guard let line = wirings.first(where: { isMarked(content, $0) }) else {
      if let foreign = wirings.first { throw .foreignLine(foreign.first + 1) }
      return nil
    }
    let text = String(decoding: content.raw[line.first], as: UTF8.self)
    let edit = WiringEdit(
      path: path, before: before, after: content.bytes(removing: line.first), line: line.first + 1, text: text,
      service: service, files)
    let with = PAMStack(service: service, in: files)
    let added = with.steps.indices.filter { with.steps[$0].file == path && with.steps[$0].line == line.first + 1 }
    guard
      Simulator(stack: edit.verdict.stack).comesToTheSame(as: with, added: Set(added), saying: PAMScene.noMatchAtAll)
    else { throw .leapedOver(line.first + 1) }
    return edit
  }

  /// The number of the line that Whorl put into the file; nil where there is none.
  static func markedLine(in content: StackText) -> Int? {
    content.lines.first { names($0) && isMarked(content, $0) }.map { $0.first + 1 }
  }

  private static func names(_ line: StackText.Line) -> Bool {
    // What stands behind the lines that let in asks for no finger, and belongs to the distribution's profile.
    line.words.dropFirst(2).first?.split(separator: "/").last.map(String.init) == ModuleTable.finger
      && !line.words.dropFirst(3).contains("login")
  }

  private static func isMarked(_ content: StackText, _ line: StackText.Line) -> Bool {
    guard line.first == line.last else { return false }
    var text = content.raw[line.first][...]
    while text.last == 0x20 || text.last == 0x09 { text.removeLast() }
    return text.suffix(marker.utf8.count).elementsEqual(marker.utf8)
  }

  private static func isAuth(_ line: StackText.Line, _ files: PAMFiles) -> Bool {
    var word = line.words[0].lowercased()
    if word.hasPrefix("-") { word.removeFirst() }
    return !["account", "password", "session"].contains(word)
  }
}
