import GLibLoop
import PAMStacks

extension Commands {
  func perform(_ invocation: PAMInvocation) async throws(CommandFailure) {
    let root = invocation.root ?? surroundings.pamRoot
    let wirer = PAMWirer(root: root)
    switch invocation.deed {
    case .status: try await pamStatus(wirer)
    case .check(let services): try await pamCheck(wirer, services)
    case .enable(let service, let isDry):
      try requireRoot(invocation, isDry, "enable \(service)")
      try await enable(service, isDry: isDry, wirer)
    case .disable(let service, let isDry, let restores):
      try requireRoot(invocation, isDry, "disable \(service)")
      if restores {
        try await restore(service, isDry: isDry, wirer)
      } else {
        try await disable(service, isDry: isDry, wirer)
      }
    }
  }

  private func requireRoot(_ invocation: PAMInvocation, _ isDry: Bool, _ words: String) throws(CommandFailure) {
    guard invocation.root == nil, !isDry, !isRoot else { return }
    throw CommandFailure(.notAllowed, "PAM's files are root's: sudo whorl pam \(words)")
  }

  // MARK: - enable

  private func enable(_ service: String, isDry: Bool, _ wirer: PAMWirer) async throws(CommandFailure) {
    let file = try wirer.file(of: service)
    let verdict = ServiceVerdict(service: service, in: wirer.files)
    if verdict.hasFinger, !verdict.stack.isOthers {
      let place = PAMTexts.place(of: verdict)
      await console.tell("\(Escaping.quoted(service)) asks for a finger already: \(place). Nothing was changed.")
      return
    }
    let edit = try wirer.adding(to: file)
    if edit.verdict.faults.contains(.moduleIsMissing) {
      throw CommandFailure(
        .failed, "\(ServiceVerdict.module) is not installed; install Whorl's PAM module first, then enable it again")
    }
    if isDry {
      for line in LineDiff.lines(edit) { try await console.print(Escaping.line(line, limit: 4096)) }
      return
    }
    do throws(ServiceFile.Problem) { try file.replace(by: edit.after, keepsBackup: true) } catch {
      throw PAMTexts.failure(error, service)
    }
    try await console.print(
      "\(Escaping.quoted(service)) takes a finger from now on: line \(edit.line) of \(edit.path).")
    await console.tell(
      file.isDistributions
        ? "\(edit.path) is a copy of \(file.source) with that line, and goes before it until whorl pam disable."
        : "A copy of how it was: \(file.backup).")
  }

  // MARK: - disable

  private func disable(_ service: String, isDry: Bool, _ wirer: PAMWirer) async throws(CommandFailure) {
    let file = try wirer.file(of: service)
    guard let edit = try wirer.removing(from: file) else {
      let verdict = ServiceVerdict(service: service, in: wirer.files)
      guard verdict.hasFinger, !verdict.stack.isOthers else {
        await console.tell("\(Escaping.quoted(service)) does not ask for a finger. Nothing was changed.")
        return
      }
      throw CommandFailure(
        .failed,
        "\(Escaping.quoted(service)): the finger is asked for by \(PAMTexts.place(of: verdict)), which whorl pam "
          + "did not put there; \(PAMTexts.takeOut(verdict))")
    }
    if isDry {
      for line in LineDiff.lines(edit) { try await console.print(Escaping.line(line, limit: 4096)) }
      return
    }
    var theirs: String?
    do throws(ServiceFile.Problem) {
      theirs = try file.yieldToDistribution(edit.after, in: wirer.files.places)
      if theirs == nil { try file.replace(by: edit.after, keepsBackup: false) }
    } catch { throw PAMTexts.failure(error, service) }
    try await console.print(
      "\(Escaping.quoted(service)) asks for no finger any more: line \(edit.line) of \(edit.path).")
    if let theirs { await console.tell("\(edit.path) said no more than \(theirs) and is gone; that serves again.") }
    if edit.verdict.hasFinger, !edit.verdict.stack.isOthers {
      await console.tell("It still does through \(PAMTexts.place(of: edit.verdict)).")
    }
  }

  private func restore(_ service: String, isDry: Bool, _ wirer: PAMWirer) async throws(CommandFailure) {
    let file = try wirer.file(of: service)
    do throws(ServiceFile.Problem) {
      let old = try file.kept()
      guard old != file.text else {
        await console.tell("\(file.path) is as it was already. Nothing was changed.")
        return
      }
      if isDry {
        await console.tell("\(file.path) would be put back to \(file.backup).")
        return
      }
      if try file.yieldToDistribution(old, in: wirer.files.places) == nil {
        try file.replace(by: old, keepsBackup: false)
      }
    } catch { throw PAMTexts.failure(error, service) }
    try await console.print("\(file.path) is as it was before whorl pam enable.")
  }
}

/// Reads and plans what the commands do, below one root.
struct PAMWirer {
  let files: PAMFiles
  private let backups: String

  init(root: String) {
    files = PAMFiles(PAMPlaces(root: root))
    backups = (root.hasSuffix("/") ? String(root.dropLast()) : root) + "/var/lib/whorl/pam"
  }

  func file(of service: String) throws(CommandFailure) -> ServiceFile {
    do throws(ServiceFile.Problem) {
      return try ServiceFile(service: service, in: files.places, backups: backups)
    } catch { throw PAMTexts.failure(error, service) }
  }

  func adding(to file: ServiceFile) throws(CommandFailure) -> WiringEdit {
    // Sudo before 1.9.16 asks every module to be silent.
    let options = file.service.hasPrefix("sudo") ? ["always-prompt"] : []
    do throws(WiringEdit.Refusal) {
      return try WiringEdit.adding(to: file.service, options: options, text: file.text, at: file.path, in: files)
    } catch { throw PAMTexts.failure(error, file.service) }
  }

  func removing(from file: ServiceFile) throws(CommandFailure) -> WiringEdit? {
    guard !file.isDistributions else { return nil }
    do throws(WiringEdit.Refusal) {
      return try WiringEdit.removing(from: file.service, text: file.text, at: file.path, in: files)
    } catch { throw PAMTexts.failure(error, file.service) }
  }
}
