import GLibLoop
import WhorlClient

extension Commands {
  func forget(_ target: ForgetTarget, confirmed: Bool) async throws(CommandFailure) -> ExitCode {
    let (words, wire): (String, WhorlForgetTarget) =
      switch target {
      case .name(let name): (Escaping.quoted(name), .name(name))
      case .uid(let uid): ("uid \(uid)", .uid(uid))
      }
    if !confirmed {
      // Nobody is asked about an account that is not there; who is not root is told when polkit has let him.
      if isRoot {
        do throws(WhorlError) { _ = try await service.accountStatus(wire) } catch {
          if error.code == .noSuchUser || error.code == .noDaemon { throw nobody(error, words, target) }
        }
      }
      guard console.hasTerminal, console.inputIsTerminal else {
        throw CommandFailure(.usage, "forget asks first and there is no terminal to ask on; give --yes to go on")
      }
      let question = "Remove the fingers and secrets of \(words) for good?"
      guard try await console.confirm(question) else { throw .cancelled }
    }
    let done: WhorlForgotten
    do throws(WhorlError) { done = try await service.forget(wire) } catch { throw nobody(error, words, target) }
    guard done.prints > 0 || done.items > 0 || done.unreadKeychains > 0 || !done.remains.isEmpty else {
      throw CommandFailure(
        .notFound, "\(words): there was no finger and no secret; if there was a lockout, that is gone now")
    }
    for line in Self.report(done, words) { try await console.print(line) }
    guard !done.remains.isEmpty else { return .ok }
    for line in done.remains { await console.tell("Not removed: \(Escaping.line(line, limit: 400))") }
    throw CommandFailure(.failed, "\(words): not all was removed; put that right, then run whorl forget again")
  }

  func renameUser(from old: String, to new: String) async throws(CommandFailure) {
    let words = "\(Escaping.quoted(old)) to \(Escaping.quoted(new))"
    let done: WhorlRenamed
    do throws(WhorlError) { done = try await service.renameUser(from: old, to: new) } catch {
      throw failure(error, words)
    }
    let what = [done.prints ? "fingers" : nil, done.keychain ? "secrets" : nil].compactMap { $0 }
    guard !what.isEmpty else {
      throw CommandFailure(
        .notFound,
        "\(words): nothing is kept under the old name, or it was handed over before; whorl status tells the account")
    }
    try await console.print("Handed over from \(words): \(what.joined(separator: " and ")).")
  }

  /// Digits are a name: who meant a uid is told how to say so.
  private func nobody(_ problem: WhorlError, _ words: String, _ target: ForgetTarget) -> CommandFailure {
    let failure = failure(problem, words)
    guard case .name(let name) = target, problem.code == .noSuchUser, let uid = UInt32(name) else { return failure }
    return CommandFailure(failure.code, "\(failure.message); for the uid: whorl forget --uid \(uid)")
  }

  /// What was removed, for people.
  private static func report(_ done: WhorlForgotten, _ words: String) -> [String] {
    func count(_ number: Int, _ one: String) -> String { "\(number) \(one)\(number == 1 ? "" : "s")" }
    var items = count(done.items, "secret")
    if done.unreadKeychains > 0 {
      items =
        done.items > 0
        ? "\(items) and those of a store that cannot be read" : "the secrets of a store that cannot be read"
    }
    let chip = done.chipPrints > 0 ? " (\(done.chipPrints) of them on a reader's chip as well)" : ""
    var lines = ["Removed of \(words): \(count(done.prints, "finger"))\(chip), \(items)."]
    if !done.absentReaders.isEmpty {
      let readers = done.absentReaders.map { Escaping.shown($0, limit: 64) }.joined(separator: ", ")
      lines.append("Not plugged in: \(readers). What their chips may still hold is nobody's and opens nothing.")
    }
    return lines
  }
}
