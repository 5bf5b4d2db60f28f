import GLibLoop
import WhorlClient
import SecretMemory

/// One authentication context, and the conversation that satisfies what an item requires in it: the touch, and where
/// that does not do, the passcode.
@GLibActor
final class Authorization {
  typealias Progress = @GLibActor (WhorlProgress) -> Void

  private let item: ItemListing
  private let deed: String
  private let console: any Console
  private let service: any Service
  private let context: WhorlContext
  /// Whether Enter leads to the passcode while the finger is awaited.
  private let offersPasscode: Bool

  private init(
    _ item: ItemListing, _ deed: String, _ console: any Console, _ service: any Service, _ context: WhorlContext,
    offersPasscode: Bool
  ) {
    self.offersPasscode = offersPasscode
    self.item = item
    self.deed = deed
    self.console = console
    self.service = service
    self.context = context
  }

  /// A new context for one deed ("read", "replace") on one item. Close it.
  static func open(
    _ item: ItemListing, deed: String, _ console: any Console, _ service: any Service
  ) async throws(CommandFailure) -> Authorization {
    do throws(WhorlError) {
      let context = try await service.openContext()
      var offers = item.constraints == Requirement.presence.constraints && console.isForeground
      // An account without a password has nothing to type there.
      if offers, let status = try? await service.status(), status.passcode == "not-set" { offers = false }
      return Authorization(item, deed, console, service, context, offersPasscode: offers)
    } catch {
      throw Task.isCancelled ? .cancelled : error.failure(about: Escaping.quoted(item.name))
    }
  }

  func close() async { await service.closeContext(context) }

  /// The request's result, once the item's requirement is met.
  func run<R: ~Copyable>(
    _ request: (WhorlContext, String, @escaping Progress) async throws(WhorlError) -> R
  ) async throws(CommandFailure) -> R {
    var hasGivenPasscode = false
    while true {
      let prompt = TouchPrompt(promptText, console) { [service, context] in
        await service.preferPasscode(in: context)
      }
      let problem: WhorlError
      do throws(WhorlError) {
        let result = try await request(context, reason) { prompt.show($0) }
        await prompt.end()
        return result
      } catch {
        problem = error
      }
      await prompt.end()
      try await answer(problem, declined: prompt.wasDeclined, &hasGivenPasscode)
    }
  }

  // MARK: - Parts

  private var reason: String { "\(deed) the secret \(Escaping.quoted(item.name))" }

  private var takesPasscode: Bool { item.constraints == Requirement.presence.constraints }

  private var promptText: TouchPrompt.Text {
    TouchPrompt.Text(deed: reason, offersPasscode: offersPasscode && console.isForeground)
  }

  /// The failure for a problem, with the remedies that the daemon cannot name in it.
  private func failure(_ problem: WhorlError, _ subject: String) async -> CommandFailure {
    guard problem.code == .biometryLockout || (problem.code == .passcodeNotSet && takesPasscode),
      let status = try? await service.status(), status.passcode == "not-set"
    else { return problem.failure(about: subject) }
    return withoutAnything(problem.exitCode, subject, "", status)
  }

  /// Neither a finger nor a passcode will do.
  private func withoutAnything(
    _ code: ExitCode, _ subject: String, _ detail: String, _ status: WhorlStatus
  ) -> CommandFailure {
    // Another finger would not count either.
    if status.isLockedOut { return .lockedOutWithoutPassword(subject) }
    let reason = detail.isEmpty ? "no finger can be used" : Escaping.parts(detail).what
    return CommandFailure(
      code,
      "\(subject): \(reason), and your account has no password; enrol a finger with whorl enroll, "
        + "or set a password with passwd")
  }

  /// Collects the passcode where that is what is missing; throws for everything else.
  private func answer(
    _ problem: WhorlError, declined: Bool, _ hasGivenPasscode: inout Bool
  ) async throws(CommandFailure) {
    let subject = Escaping.quoted(item.name)
    if Task.isCancelled { throw .cancelled }
    let wanted = problem.code == .passcodeNeeded || (declined && problem.code == .userFallback)
    // Once: a daemon that is never content must not make an endless loop.
    guard wanted, !hasGivenPasscode else { throw await failure(problem, subject) }
    let detail = Escaping.clause(problem.message, limit: 200)
    if takesPasscode, let status = try? await service.status(), status.passcode == "not-set" {
      throw withoutAnything(console.hasTerminal ? .failed : .noTerminal, subject, detail, status)
    }
    guard console.hasTerminal else {
      let detail = detail.isEmpty ? "" : " (\(detail))"
      throw CommandFailure(
        .noTerminal, "\(subject): the passcode is needed and there is no terminal to ask on; run whorl on one\(detail)")
    }
    // The question itself says what the passcode is for; why a finger does not do is told where one would have.
    if takesPasscode, !declined, !detail.isEmpty { await console.tell("\(subject): \(detail).") }
    try await PasscodeDialog(console: console, service: service).provide(to: context, for: reason, subject: subject)
    hasGivenPasscode = true
  }
}
