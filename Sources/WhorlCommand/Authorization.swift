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

  private init(
    _ item: ItemListing, _ deed: String, _ console: any Console, _ service: any Service, _ context: WhorlContext
  ) {
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
      return Authorization(item, deed, console, service, try await service.openContext())
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
    TouchPrompt.Text(deed: reason, offersPasscode: takesPasscode && console.isForeground)
  }

  /// Collects the passcode where that is what is missing; throws for everything else.
  private func answer(
    _ problem: WhorlError, declined: Bool, _ hasGivenPasscode: inout Bool
  ) async throws(CommandFailure) {
    let subject = Escaping.quoted(item.name)
    if Task.isCancelled { throw .cancelled }
    let wanted = problem.code == .passcodeNeeded || (declined && problem.code == .userFallback)
    // Once: a daemon that is never content must not make an endless loop.
    guard wanted, !hasGivenPasscode else { throw problem.failure(about: subject) }
    guard console.hasTerminal else {
      let detail = problem.message.isEmpty ? "" : " (\(Escaping.line(problem.message, limit: 200)))"
      throw CommandFailure(
        .noTerminal, "\(subject): the passcode is needed and there is no terminal to ask on; run whorl on one\(detail)")
    }
    if !declined, !problem.message.isEmpty { await console.tell(Escaping.line(problem.message, limit: 200)) }
    try await PasscodeDialog(console: console, service: service).provide(to: context, for: reason, subject: subject)
    hasGivenPasscode = true
  }
}
