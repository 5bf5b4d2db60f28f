import GLibLoop
import WhorlClient

extension Commands {
  /// Before a finger is asked for, or the reader: where fingers do not count after too many misses, the passcode ends
  /// that first, which needs neither a reader, nor an enrolled finger, nor polkit. Only the account's owner can end it.
  ///
  /// - Parameter seconds: for how long the passcode is to count for more; nil: it does not.
  /// - Returns: where it counts then, to be closed; nil where there was no lockout, or nothing more is wanted.
  @discardableResult
  func endLockout(of user: TargetUser, lasting seconds: UInt32? = nil) async throws(CommandFailure) -> WhorlContext? {
    guard user.isCaller else {
      if let account = await account(of: user), account.isLockedOut { throw lockedOut(user) }
      return nil
    }
    // A daemon without an answer is told of where it is needed.
    guard let status = try? await service.status(), status.isLockedOut else { return nil }
    if status.passcode == "not-set" { throw .lockedOutWithoutPassword("fingers") }
    guard console.hasTerminal else {
      throw CommandFailure(
        .lockedOut,
        "fingers are locked out after too many misses; run whorl verify on a terminal and give your password")
    }
    if let obstacle = PasscodeDialog.obstacle(status, "lockout") { throw obstacle }
    await console.tell("Your fingers are locked out after too many misses; your password ends that.")
    let context: WhorlContext
    do throws(WhorlError) {
      context = try await service.openContext(promptsItself: true, lasting: seconds ?? 0)
    } catch { throw failure(error, "lockout") }
    do throws(CommandFailure) {
      try await PasscodeDialog(console: console, service: service)
        .provide(to: context, for: "use your fingers again", subject: "lockout")
    } catch {
      await service.closeContext(context)
      throw error
    }
    await console.tell("Your fingers count again.")
    if seconds != nil { return context }
    await service.closeContext(context)
    return nil
  }

  /// What whorld tells root about another account; nil for others, and where there is nothing to tell.
  func account(of user: TargetUser) async -> WhorlAccountStatus? {
    guard isRoot, !user.isCaller, !user.name.isEmpty else { return nil }
    return try? await service.accountStatus(.name(user.name))
  }

  /// That somebody's fingers do not count, and who ends that how.
  func lockedOut(_ user: TargetUser) -> CommandFailure {
    guard !user.isCaller else {
      return CommandFailure(
        .lockedOut, "fingers are locked out after too many misses; end that with your password: whorl verify")
    }
    return CommandFailure(
      .lockedOut,
      "fingers of \(user.shown) are locked out after too many misses; \(user.shown) can end that with the login "
        + "password: whorl verify (without sudo)")
  }

  /// After a miss: what it means for the next ones; empty where that is not known.
  func missesLeft(of user: TargetUser) async -> (isLockedOut: Bool, words: String) {
    let (misses, allowed, isLockedOut): (Int, Int, Bool)
    if user.isCaller {
      guard let status = try? await service.status() else { return (false, "") }
      (misses, allowed, isLockedOut) = (status.misses, status.missesAllowed, status.isLockedOut)
    } else {
      guard let status = await account(of: user) else { return (false, "") }
      (misses, allowed, isLockedOut) = (status.misses, status.missesAllowed, status.isLockedOut)
    }
    let left = allowed - misses
    guard !isLockedOut, misses > 0, left > 0 else { return (isLockedOut, "") }
    return (false, "\(left) more miss\(left == 1 ? "" : "es") in a row and fingers are locked out")
  }
}

extension CommandFailure {
  /// Neither a finger nor a passcode will do: one text and one code, whatever the command.
  static func lockedOutWithoutPassword(_ subject: String) -> CommandFailure {
    CommandFailure(
      .lockedOut,
      "\(subject): locked out after too many misses, and your account has no password to end that; "
        + "set one with passwd, then run whorl verify")
  }
}
