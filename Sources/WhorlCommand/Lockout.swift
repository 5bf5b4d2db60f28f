import GLibLoop
import WhorlClient

extension Commands {
  /// Before a finger is asked for: where the caller's fingers do not count after too many misses, the passcode ends
  /// that first. Only the caller's own state can be seen.
  func endLockout(of user: TargetUser) async throws(CommandFailure) {
    // A daemon without an answer, such as fprintd, knows no lockout.
    guard user.isCaller, let status = try? await service.status(), status.biometry == "locked-out" else { return }
    guard console.hasTerminal else {
      throw CommandFailure(
        .lockedOut,
        "fingers are locked out after too many misses; run whorl verify on a terminal and give your password")
    }
    if let obstacle = PasscodeDialog.obstacle(status, "lockout") { throw obstacle }
    await console.tell("Your fingers are locked out after too many misses; your password ends that.")
    let context: WhorlContext
    do throws(WhorlError) { context = try await service.openContext() } catch { throw failure(error, "lockout") }
    do throws(CommandFailure) {
      try await PasscodeDialog(console: console, service: service)
        .provide(to: context, for: "use your fingers again", subject: "lockout")
    } catch {
      await service.closeContext(context)
      throw error
    }
    await service.closeContext(context)
  }
}
