import GLibLoop
import WhorlClient
import SecretMemory

/// One authentication context, and the conversation that satisfies what an item requires in it: the touch, and where
/// that does not do, the passcode.
@GLibActor
final class Authorization {
  typealias Progress = @GLibActor (WhorlProgress) -> Void
  /// The failure for a problem with what it is about.
  typealias Explain = @GLibActor (WhorlError, _ subject: String) async -> CommandFailure

  /// What the person is asked for, such as `read the secret "mail"`.
  private let reason: String
  /// What a failure is about.
  private let subject: String
  /// What may be required.
  private let constraints: [String]
  private let console: any Console
  private let service: any Service
  private let context: WhorlContext
  private let explain: Explain
  /// Whether Enter leads to the passcode while the finger is awaited.
  private let offersPasscode: Bool
  /// Who uses the reader now, in a line for people; nil once that was told.
  private var holder: String?

  private init(
    _ reason: String, _ subject: String, _ constraints: [String], _ console: any Console, _ service: any Service,
    _ context: WhorlContext, offersPasscode: Bool, holder: String?, _ explain: @escaping Explain
  ) {
    self.offersPasscode = offersPasscode
    self.holder = holder
    self.explain = explain
    self.reason = reason
    self.subject = subject
    self.constraints = constraints
    self.console = console
    self.service = service
    self.context = context
  }

  /// A new context for one deed ("read", "replace") on one item, a "secret" or another noun. Close it.
  static func open(
    _ item: ItemListing, deed: String, noun: String = "secret", _ console: any Console, _ service: any Service,
    explain: @escaping Explain
  ) async throws(CommandFailure) -> Authorization {
    let subject = Escaping.quoted(item.name)
    return try await open(
      reason: "\(deed) the \(noun) \(subject)", subject: subject, constraints: item.constraints, console, service,
      explain: explain)
  }

  /// A new context for something that may require these constraints. Close it.
  /// - Parameters:
  ///   - reason: what the person is asked for, after "Touch the reader to".
  ///   - subject: what a failure is about.
  static func open(
    reason: String, subject: String, constraints: [String], _ console: any Console, _ service: any Service,
    explain: @escaping Explain
  ) async throws(CommandFailure) -> Authorization {
    do throws(WhorlError) {
      let context = try await service.openContext(promptsItself: console.hasTerminal)
      let takesFinger = ![Requirement.none, .passcode].map(\.constraints).contains(constraints)
      let status = takesFinger ? try? await service.status() : nil
      // An account without a password has nothing to type there, and during a pause none is looked at.
      let offers =
        constraints == Requirement.presence.constraints && console.isForeground
        && status?.passcode != "not-set" && (status?.passcodeDelay ?? 0) == 0
      return Authorization(
        reason, subject, constraints, console, service, context, offersPasscode: offers,
        holder: status.flatMap(holder), explain)
    } catch {
      throw await explain(error, subject)
    }
  }

  /// Who has the only readers that could see a finger of the caller's.
  private static func holder(_ status: WhorlStatus) -> String? {
    let readers = status.readers.filter { !$0.enrolled.isEmpty }
    guard let first = readers.first, readers.allSatisfy({ $0.state == "busy" }) else { return nil }
    let who = Escaping.clause(first.stateDetail, limit: 200)
    let name = Escaping.shown(first.name, limit: 64)
    return "Waiting for the reader (\(name)), which is in use\(who.isEmpty ? "" : " by \(who)")."
  }

  func close() async { await service.closeContext(context) }

  /// The request's result, once the item's requirement is met.
  func run<R: ~Copyable>(
    _ request: (WhorlContext, String, @escaping Progress) async throws(WhorlError) -> R
  ) async throws(CommandFailure) -> R {
    var hasGivenPasscode = false
    // Where Enter was pressed and nobody asks for the passcode any more.
    defer { console.unhush() }
    while true {
      let prompt = TouchPrompt(promptText, console, isBusy: holder != nil) { [service] in
        // Who cannot give a password now must not lose his turn for the finger.
        if let status = try? await service.status(), status.passcodeDelay > 0 {
          return "After wrong passwords none is looked at for \(status.passcodeDelay) more seconds; the finger counts."
        }
        return nil
      } decline: { [service, context] in
        await service.preferPasscode(in: context)
      }
      if let holder { await console.tell(holder) }
      holder = nil
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

  private var takesPasscode: Bool { constraints == Requirement.presence.constraints }

  private var promptText: TouchPrompt.Text {
    TouchPrompt.Text(deed: reason, offersPasscode: offersPasscode && console.isForeground)
  }

  /// The failure for a problem, with the remedies that the daemon cannot name in it.
  private func failure(_ problem: WhorlError, _ subject: String) async -> CommandFailure {
    guard problem.code == .biometryLockout || (problem.code == .passcodeNotSet && takesPasscode),
      let status = try? await service.status(), status.passcode == "not-set"
    else { return await explain(problem, subject) }
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
