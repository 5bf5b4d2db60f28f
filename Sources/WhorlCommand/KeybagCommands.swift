import GLibLoop
import SecretMemory
import WhorlClient

/// Unlocking, locking, and the recovery key.
extension Commands {
  private static let subject = "secrets"
  /// How often a wrong former password or recovery key may be typed.
  private static let tries = 3

  /// - Parameter purpose: what the password is asked for, after "Your password, to".
  func unlock(
    withRecoveryKey recovery: Bool, purpose: String = "unlock your secrets"
  ) async throws(CommandFailure) {
    let before = try await keybag()
    if before == "unlocked", !recovery { return await console.tell("Your secrets are unlocked already.") }
    try requireTerminal(for: Self.subject)
    try await inOwnContext(failure: { failure($0, Self.subject) }) { context throws(CommandFailure) in
      if recovery {
        try await giveRecoveryKey(to: context)
      } else {
        try await PasscodeDialog(console: console, service: service)
          .provide(to: context, for: purpose, subject: Self.subject)
        if try await keybag() == "former-passcode-needed" { try await giveFormerPassword(to: context) }
      }
    }
    switch try await keybag() {
    case "unlocked": await console.tell("Your secrets are unlocked.")
    case "session-locked":
      await console.tell("Your secrets are unlocked; those for unlocked sessions wait until your session is.")
    default:
      throw CommandFailure(.locked, "\(Self.subject): still locked; whorl status and journalctl -u whorld say more")
    }
  }

  func lock() async throws(CommandFailure) {
    do throws(WhorlError) { try await service.lockKeys() } catch { throw failure(error, Self.subject) }
    await console.tell("Locked: secrets that are not always accessible take your password again (whorl unlock).")
  }

  func recover(withRecoveryKey recovery: Bool) async throws(CommandFailure) {
    let status: WhorlStatus
    do throws(WhorlError) { status = try await service.status() } catch { throw failure(error, Self.subject) }
    guard !status.storeError.isEmpty else {
      return await console.tell("Your secrets can be had; there is nothing to bring back.")
    }
    guard !status.recoverableBy.isEmpty else {
      throw CommandFailure(.storeUnavailable, "\(Self.subject): \(Escaping.clause(status.storeError))")
    }
    let byPassword = status.recoverableBy.contains("passcode") && !recovery
    guard byPassword || status.recoverableBy.contains("recovery-key") else {
      throw CommandFailure(.failed, "\(Self.subject): there is no recovery key; leave out --recovery")
    }
    try requireTerminal(for: Self.subject)
    for left in (0..<Self.tries).reversed() {
      let answer = try await console.ask(byPassword ? "Your password, to bring your secrets back: " : "Recovery key: ")
      guard answer.count > 0 else {
        throw CommandFailure(.cancelled, "\(Self.subject): nothing given, so nothing was changed; run it again")
      }
      do throws(WhorlError) {
        if byPassword {
          try await service.recover(passcode: answer)
        } else {
          try await service.recover(recoveryKey: answer)
        }
        await console.tell("Your secrets are back, and unlocked.")
      } catch {
        guard error.code == .authenticationFailed, left > 0 else { throw failure(error, Self.subject) }
        await console.tell("Not accepted: \(Escaping.clause(error.message)); try again.")
        continue
      }
      return byPassword ? () : await renewPasscode()
    }
  }

  /// After the recovery key: the password's part of the keybag was under the key that is lost, and is made anew with the
  /// password. The secrets are back without it.
  private func renewPasscode() async {
    do throws(CommandFailure) {
      var isGiven = false
      try await inOwnContext(failure: { failure($0, Self.subject) }) { context throws(CommandFailure) in
        isGiven = try await PasscodeDialog(console: console, service: service)
          .provide(to: context, for: "unlock them from now on", subject: Self.subject, skip: "not now")
      }
      if isGiven { return await console.tell("Your password unlocks them from now on.") }
    } catch {
      if !error.message.isEmpty { await console.tell(error.message) }
    }
    await console.tell(
      "Until your password was given for a secret, the recovery key is needed again after a logout or restart (whorl unlock "
        + "--recovery).")
  }

  func recoveryKey(_ deed: RecoveryKeyDeed) async throws(CommandFailure) {
    let subject = "recovery key"
    let status: WhorlStatus
    do throws(WhorlError) { status = try await service.status() } catch { throw failure(error, subject) }
    switch deed {
    case .make where status.hasRecoveryKey:
      throw CommandFailure(
        .failed,
        "\(subject): there is one already, which cannot be shown again; another takes its place with: "
          + "whorl recovery-key --replace")
    case .revoke where !status.hasRecoveryKey:
      throw CommandFailure(.notFound, "\(subject): there is none; make one with: whorl recovery-key")
    default: break
    }
    try requireTerminal(for: Self.subject)
    try await inOwnContext(failure: { failure($0, Self.subject) }) { context throws(CommandFailure) in
      try await PasscodeDialog(console: console, service: service)
        .provide(
          to: context, for: deed == .revoke ? "revoke the recovery key" : "make a recovery key", subject: subject)
      if try await keybag() == "former-passcode-needed" { try await giveFormerPassword(to: context) }
      guard deed != .revoke else {
        do throws(WhorlError) { _ = try await service.revokeRecoveryKey(in: context) } catch {
          throw failure(error, subject)
        }
        return await console.tell("The recovery key opens nothing any more.")
      }
      // The context's password may have been used up by an attempt that the daemon refused.
      let key: SecretBytes
      do throws(WhorlError) { key = try await service.makeRecoveryKey(in: context) } catch {
        throw failure(error, subject)
      }
      await console.tell(
        "Write this down and keep it away from the machine; it is shown this once and opens all your secrets:")
      try await console.emit(key)
      if deed == .replace { await console.tell("The recovery key from before opens nothing any more.") }
    }
  }

  // MARK: - Parts

  private func keybag() async throws(CommandFailure) -> String {
    let status: WhorlStatus
    do throws(WhorlError) { status = try await service.status() } catch { throw failure(error, Self.subject) }
    guard status.storeError.isEmpty else {
      throw CommandFailure(.storeUnavailable, "\(Self.subject): \(Escaping.clause(status.storeError))")
    }
    return status.keybag
  }

  private func giveFormerPassword(to context: WhorlContext) async throws(CommandFailure) {
    await console.tell(
      "Your login password was changed since it last unlocked your secrets; the one from before is needed once.")
    for left in (0..<Self.tries).reversed() {
      let former = try await console.ask("Your former password (nothing: use the recovery key): ")
      guard former.count > 0 else { return try await giveRecoveryKey(to: context) }
      do throws(WhorlError) { return try await service.provideFormerPasscode(former, to: context) } catch {
        guard error.code == .authenticationFailed, left > 0 else { throw failure(error, Self.subject) }
        await console.tell("That is not the password that last unlocked your secrets; try again.")
      }
    }
  }

  private func giveRecoveryKey(to context: WhorlContext) async throws(CommandFailure) {
    for left in (0..<Self.tries).reversed() {
      let key = try await console.ask("Recovery key: ")
      guard key.count > 0 else {
        throw CommandFailure(.cancelled, "\(Self.subject): nothing given, so nothing was changed; run it again")
      }
      do throws(WhorlError) { return try await service.provideRecoveryKey(key, to: context) } catch {
        guard error.code == .authenticationFailed, left > 0 else { throw failure(error, Self.subject) }
        await console.tell("Not accepted: \(Escaping.clause(error.message)); try again.")
      }
    }
  }
}
