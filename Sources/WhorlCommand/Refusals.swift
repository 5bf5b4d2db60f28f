import GLibLoop
import WhorlClient

/// What is behind an error of net.reactivated.Fprint, whose words say neither why nor what to do.
extension Commands {
  /// The failure for a problem with a reader or with a user's fingers.
  func refusal(
    _ problem: WhorlError, _ subject: String, _ user: TargetUser, _ reader: ReaderListing? = nil
  ) async -> CommandFailure {
    if Task.isCancelled { return .cancelled }
    switch problem.code {
    case .fprint(.permissionDenied):
      // The interface has this one error for two things; polkit's no is told in fprintd's own words.
      if let action = Self.refusedAction(problem.message) { return await notAuthorized(action, subject, user) }
      if problem.message.contains("misses") || problem.message.contains("whorl verify") { return lockedOut(user) }
      if let trouble = await storeTrouble(of: user) { return trouble }
    case .fprint(.alreadyInUse):
      guard Escaping.parts(Escaping.clause(problem.message)).remedy == nil,
        let holder = await state(of: reader).flatMap({ $0.state == "busy" ? $0.stateDetail : nil }), !holder.isEmpty
      else { break }
      return CommandFailure(
        .busy, "\(subject): in use by \(Escaping.clause(holder, limit: 200)); try again when that is done")
    default: break
    }
    return failure(problem, subject)
  }

  /// The polkit action that a refusal names; nil where it was not polkit that refused.
  private static func refusedAction(_ message: String) -> String? {
    let mark = "Not Authorized"
    // Another daemon may say nothing at all.
    guard !message.isEmpty else { return "" }
    guard message.hasPrefix(mark) else { return nil }
    return String(message.dropFirst(mark.count).drop { $0 == ":" || $0 == " " })
  }

  private func notAuthorized(_ action: String, _ subject: String, _ user: TargetUser) async -> CommandFailure {
    guard await service.hasPolkit() else {
      return CommandFailure(
        .notAllowed,
        "\(subject): not allowed, for polkit, which would have to allow it, is not installed; install it "
          + "(Debian package polkitd), then try again")
    }
    let name = action.isEmpty ? "" : " (\(Escaping.line(action, limit: 150)))"
    if isRoot {
      return CommandFailure(
        .notAllowed, "\(subject): polkit refuses it even to root\(name); look for the rule in /etc/polkit-1/rules.d")
    }
    guard user.isCaller else {
      return CommandFailure(
        .notAllowed,
        "\(subject): polkit does not allow it\(name): another account's fingers take an administrator, whose password its "
          + "dialog asks for on a desktop; else run it with sudo and --user \(user.shown)")
    }
    return CommandFailure(
      .notAllowed,
      "\(subject): polkit does not allow it here\(name): over SSH it never does, and on a desktop its dialog needs your "
        + "password; else run it with sudo, which stays about you")
  }

  /// What is the matter with a reader that failed, as whorld knows it; `failure` where it knows no more.
  func readerTrouble(_ reader: ReaderListing, _ failure: CommandFailure) async -> CommandFailure {
    if Task.isCancelled { return .cancelled }
    guard let status = try? await service.status() else { return failure }
    let name = "the reader \(Escaping.shown(reader.name, limit: 64))"
    guard let now = status.readers.first(where: { $0.path == reader.path }) else {
      return CommandFailure(
        .noReader,
        "\(name) is gone; plug it in again, or where it is built in, restart the machine and see journalctl -k")
    }
    let (what, remedy) = Escaping.parts(Escaping.clause(now.stateDetail, limit: 300))
    switch now.state {
    case "too-hot":
      // whorld's own sentence says it already.
      let hot =
        what.contains("too hot") ? "\(name): \(what)" : "\(name) is too hot\(what.isEmpty ? "" : " (\(what))")"
      return CommandFailure(.noReader, "\(hot); \(remedy ?? "try again in some minutes")")
    case "blocked":
      return CommandFailure(.noReader, "\(name) is blocked\(what.isEmpty ? "" : " (\(what))"); whorl status says more")
    case "failed":
      return CommandFailure(
        failure.code,
        "\(name) failed\(what.isEmpty ? "" : " (\(what))"); \(remedy ?? "try again; journalctl -u whorld says more")")
    default: return failure
    }
  }

  private func state(of reader: ReaderListing?) async -> WhorlStatus.Reader? {
    guard let reader, let status = try? await service.status() else { return nil }
    return status.readers.first { $0.path == reader.path }
  }
}
