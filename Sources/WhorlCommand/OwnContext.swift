import WhorlClient

/// What commands that ask for the password themselves have in common.
extension Commands {
  /// - Throws: where there is no terminal to ask for the password on.
  func requireTerminal(for subject: String) throws(CommandFailure) {
    guard console.hasTerminal else {
      throw CommandFailure(
        .noTerminal, "\(subject): your password is needed and there is no terminal to ask on; run whorl on one")
    }
  }

  /// Runs something in an authentication context of the command's own, which ends with it.
  /// - Parameters:
  ///   - seconds: for how long what is shown covers further requests; 0: for one.
  ///   - failure: what to say where there can be no context.
  func inOwnContext(
    lasting seconds: UInt32 = 0, failure: (WhorlError) async -> CommandFailure,
    _ body: (WhorlContext) async throws(CommandFailure) -> Void
  ) async throws(CommandFailure) {
    let context: WhorlContext
    do throws(WhorlError) { context = try await service.openContext(promptsItself: true, lasting: seconds) } catch {
      throw await failure(error)
    }
    do throws(CommandFailure) { try await body(context) } catch {
      await service.closeContext(context)
      throw error
    }
    await service.closeContext(context)
  }
}
