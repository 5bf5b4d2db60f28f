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
  func provide(to context: WhorlContext, for reason: String, subject: String) async throws(CommandFailure) {
    for left in (0..<Self.tries).reversed() {
      let passcode = try await console.ask("Your password, to \(reason): ")
      guard passcode.count > 0 else { throw CommandFailure(.cancelled, "\(subject): no password given, cancelled") }
      do throws(WhorlError) {
        return try await service.providePasscode(passcode, to: context)
      } catch {
        if Task.isCancelled { throw .cancelled }
        guard error.code == .authenticationFailed else { throw error.failure(about: subject) }
        if left > 0 { await console.tell("That is not your password; try again.") }
      }
    }
    throw CommandFailure(
      .authenticationFailed, "\(subject): \(Self.tries) wrong passwords; try again, or with your finger")
  }
}
