import GLibLoop
import SecretMemory
import WhorlClient

/// Collects the passcode on the terminal and gives it to a context.
@GLibActor
struct PasscodeDialog {
  /// How often a wrong one may be typed.
  private static let tries = 3

  let console: any Console
  let service: any Service

  /// - Parameters:
  ///   - reason: what the passcode is for, after "Your password, to".
  ///   - subject: what a failure is about.
  ///   - skip: what Enter alone means, where it means something; it cancels otherwise.
  /// - Returns: whether it was given; false only for `skip`.
  @discardableResult
  func provide(
    to context: WhorlContext, for reason: String, subject: String, skip: String? = nil
  ) async throws(CommandFailure) -> Bool {
    switch try await collect(to: context, for: reason, subject: subject, skip: skip) {
    case .some: true
    case .none: false
    }
  }

  /// As ``provide(to:for:subject:skip:)``, for whoever needs the passcode itself, too; nil only for `skip`.
  func collect(
    to context: WhorlContext, for reason: String, subject: String, skip: String? = nil
  ) async throws(CommandFailure) -> SecretBytes? {
    if let status = try? await service.status(), let obstacle = Self.obstacle(status, subject) { throw obstacle }
    for left in (0..<Self.tries).reversed() {
      let passcode = try await console.ask("Your password, to \(reason)\(skip.map { " (Enter alone: \($0))" } ?? ""): ")
      if passcode.count == 0, skip != nil { return nil }
      guard passcode.count > 0 else {
        throw CommandFailure(.cancelled, "\(subject): no password given, so nothing was done; run it again")
      }
      do throws(WhorlError) {
        try await service.providePasscode(passcode, to: context)
        return passcode
      } catch {
        if Task.isCancelled { throw .cancelled }
        guard error.code == .authenticationFailed else { throw error.failure(about: subject) }
        let delay = (try? await service.status())?.passcodeDelay ?? 0
        if left == 0 {
          let next = delay > 0 ? "try again in \(Self.seconds(delay))" : "try again"
          throw CommandFailure(.authenticationFailed, "\(subject): \(Self.tries) wrong passwords; \(next)")
        }
        // Nobody types one that is not looked at.
        if delay > 0 {
          throw CommandFailure(
            .lockedOut, "\(subject): that is not your password, as others before; try again in \(Self.seconds(delay))")
        }
        await console.tell("That is not your password; try again.")
      }
    }
    return nil
  }

  /// Why there is no point in asking for the passcode now; nil where there is.
  static func obstacle(_ status: WhorlStatus, _ subject: String) -> CommandFailure? {
    if status.passcode == "not-set" {
      return WhorlError(.passcodeNotSet, "").failure(about: subject)
    }
    guard status.passcodeDelay > 0 else { return nil }
    return CommandFailure(
      .lockedOut,
      "\(subject): too many wrong passwords, none is looked at now; try again in \(seconds(status.passcodeDelay))")
  }

  private static func seconds(_ count: Int) -> String { "\(count) second\(count == 1 ? "" : "s")" }
}
