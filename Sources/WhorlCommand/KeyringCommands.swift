import GLibLoop
import LoginKeyring
import SecretMemory
import WhorlClient

/// The login keyring of the desktop: a finger opens it, too.
extension Commands {
  private static let subject = "login keyring"
  /// How often a wrong password of the keyring's may be typed.
  private static let tries = 3
  /// A passcode serves all steps of one command: the conversation in between takes its time.
  private static let contextSeconds: UInt32 = 300

  func keyring(_ deed: KeyringDeed) async throws(CommandFailure) {
    switch deed {
    case .enable: try await enableKeyring()
    case .disable: try await disableKeyring()
    case .status: try await keyringStatus()
    case .unlock: try await unlockKeyring()
    }
  }

  // MARK: - enable

  /// Each step can be the last one: a secret is kept before the keyring gets it, and armed when the keyring proved it.
  private func enableKeyring() async throws(CommandFailure) {
    let keyring = try await existingKeyring()
    let known = try await keyringItem()
    try requireTerminal(for: Self.subject)
    try await inOwnContext(
      lasting: Self.contextSeconds, failure: { await secretFailure($0, Self.subject) }
    ) { context throws(CommandFailure) in
      let password = try await loginPassword(for: "let your finger open the login keyring", context)
      if known != nil {
        let secret = try await keptSecret(context)
        if try await !accepts(keyring, secret) {
          await console.tell("The login keyring has another password than the secret that is kept for it.")
          try await rekey(keyring, password, to: secret)
        }
        try await arm(keyring, secret, context)
      } else {
        let secret = try await newSecret(keyring, password)
        try await arm(keyring, secret, context)
      }
    }
    await console.tell(
      "A finger opens the login keyring from now on, and so does your password, at each login that hands the secret on."
    )
    for line in loginLines() { await console.tell(line) }
    await console.tell(
      "Nothing but Whorl has the keyring's secret: before Whorl or its data is removed, run whorl keyring disable.")
  }

  /// Gives the keyring a new secret, which is kept before that.
  private func newSecret(
    _ keyring: LoginKeyring, _ password: borrowing SecretBytes
  ) async throws(CommandFailure) -> SecretBytes {
    let secret: SecretBytes
    do throws(SecretMemoryError) { secret = try KeyringSecret.make() } catch {
      throw CommandFailure(.failed, "\(Self.subject): \(error.description)")
    }
    // Before anything is kept it is known what the keyring's password is.
    let old = try await oldPassword(keyring, password)
    try await keep(secret)
    try await change(keyring, from: old, to: secret)
    return secret
  }

  /// Gives the keyring a secret that is kept already.
  private func rekey(
    _ keyring: LoginKeyring, _ password: borrowing SecretBytes, to secret: borrowing SecretBytes
  ) async throws(CommandFailure) {
    let old = try await oldPassword(keyring, password)
    try await change(keyring, from: old, to: secret)
  }

  /// What the keyring opens with now: the login password, nothing at all (as people choose who log in without a password), or
  /// a password of its own, which is asked for.
  private func oldPassword(
    _ keyring: LoginKeyring, _ login: borrowing SecretBytes
  ) async throws(CommandFailure) -> SecretBytes {
    if try await accepts(keyring, login) { return try prefix(of: login, login.count) }
    let nothing = try prefix(of: login, 0)
    if try await accepts(keyring, nothing) { return nothing }
    return try await keyringPassword(keyring)
  }

  private func prefix(of secret: borrowing SecretBytes, _ count: Int) throws(CommandFailure) -> SecretBytes {
    do throws(SecretMemoryError) { return try secret.prefix(count) } catch {
      throw CommandFailure(.failed, "\(Self.subject): \(error.description)")
    }
  }

  private func keep(_ secret: borrowing SecretBytes) async throws(CommandFailure) {
    do throws(WhorlError) { try await service.addKeyringSecret(secret) } catch {
      throw await secretFailure(error, Self.subject)
    }
  }

  /// Marks the secret as one for logins, once it has opened the keyring after a locking of it.
  private func arm(
    _ keyring: LoginKeyring, _ secret: borrowing SecretBytes, _ context: WhorlContext
  ) async throws(CommandFailure) {
    let isProved: Bool
    do throws(LoginKeyringError) { isProved = try await keyring.proves(secret) } catch { throw failure(error) }
    guard isProved else {
      throw CommandFailure(
        .failed, "\(Self.subject): it does not open with its new secret; put it back: whorl keyring disable")
    }
    do throws(WhorlError) { try await service.armKeyringSecret(in: context) } catch {
      throw await secretFailure(error, Self.subject)
    }
  }

  /// The keyring's own password, where that is not the login password.
  private func keyringPassword(_ keyring: LoginKeyring) async throws(CommandFailure) -> SecretBytes {
    await console.tell("The login keyring has another password than your login.")
    for left in (0..<Self.tries).reversed() {
      let answer = try await console.ask("Password of the login keyring: ")
      guard answer.count > 0 else {
        throw CommandFailure(.cancelled, "\(Self.subject): no password given, so nothing was changed; run it again")
      }
      if try await accepts(keyring, answer) { return answer }
      if left > 0 { await console.tell("That is not the keyring's password; try again.") }
    }
    throw CommandFailure(
      .authenticationFailed,
      "\(Self.subject): it does not open with these passwords; nothing was changed (a keyring whose password nobody knows "
        + "can be deleted in the desktop's password manager)")
  }

  // MARK: - disable

  private func disableKeyring() async throws(CommandFailure) {
    guard try await keyringItem() != nil else { throw Self.notEnabled }
    let keyring = try await findKeyring()
    guard try await state(of: keyring) != .absent else {
      try await forgetSecret()
      return await console.tell("There is no login keyring any more; the secret that was kept for it was deleted.")
    }
    try requireTerminal(for: Self.subject)
    try await inOwnContext(
      lasting: Self.contextSeconds, failure: { await secretFailure($0, Self.subject) }
    ) { context throws(CommandFailure) in
      let password = try await loginPassword(for: "give the login keyring your password again", context)
      let secret = try await keptSecret(context)
      guard try await accepts(keyring, secret) else {
        try await forgetSecret()
        return await console.tell(
          "The login keyring has another password than the secret that was kept for it: it was left as it is, and the "
            + "secret was deleted.")
      }
      try await change(keyring, from: secret, to: password)
      let isProved: Bool
      do throws(LoginKeyringError) { isProved = try await keyring.proves(password) } catch { throw failure(error) }
      guard isProved else {
        throw CommandFailure(
          .failed, "\(Self.subject): it does not open with your password; its secret is still kept, try again")
      }
      try await forgetSecret()
      await console.tell("Your login password opens the login keyring again; a finger does not any more.")
    }
  }

  private func forgetSecret() async throws(CommandFailure) {
    do throws(WhorlError) { try await service.removeKeyringSecret() } catch {
      throw await secretFailure(error, Self.subject)
    }
  }

  // MARK: - unlock

  private func unlockKeyring() async throws(CommandFailure) {
    let keyring = try await existingKeyring()
    guard try await state(of: keyring) == .locked else {
      return await console.tell("The login keyring is open already.")
    }
    guard try await keyringItem() != nil else { throw Self.notEnabled }
    let authorization = try await Authorization.open(
      reason: "unlock the login keyring", subject: Self.subject, constraints: Requirement.presence.constraints, console,
      service, explain: { await secretFailure($0, $1) })
    let secret: SecretBytes
    do throws(CommandFailure) {
      secret = try await authorization.run { context, reason, progress throws(WhorlError) in
        try await service.keyringSecret(in: context, reason: reason, progress: progress)
      }
    } catch {
      await authorization.close()
      throw error
    }
    await authorization.close()
    do throws(LoginKeyringError) { try await keyring.unlock(with: secret) } catch .denied {
      throw CommandFailure(
        .failed,
        "\(Self.subject): it has another password than the secret that is kept for it; put that right: "
          + "whorl keyring enable")
    } catch { throw failure(error) }
    await console.tell("The login keyring is open.")
  }

  // MARK: - Parts

  private static let notEnabled = CommandFailure(
    .notFound, "\(subject): no finger opens it yet; let one: whorl keyring enable")

  /// The session's gnome-keyring.
  private func findKeyring() async throws(CommandFailure) -> LoginKeyring {
    do throws(LoginKeyringError) { return try await LoginKeyring.find(environment: surroundings.environment) } catch {
      throw failure(error)
    }
  }

  private func existingKeyring() async throws(CommandFailure) -> LoginKeyring {
    let keyring = try await findKeyring()
    guard try await state(of: keyring) != .absent else { throw failure(.noKeyring) }
    return keyring
  }

  private func state(of keyring: LoginKeyring) async throws(CommandFailure) -> LoginKeyring.State {
    do throws(LoginKeyringError) { return try await keyring.state() } catch { throw failure(error) }
  }

  /// Whether this is the keyring's password, without locking or unlocking it.
  private func accepts(
    _ keyring: LoginKeyring, _ password: borrowing SecretBytes
  ) async throws(CommandFailure) -> Bool {
    do throws(LoginKeyringError) {
      try await keyring.change(from: password, to: password)
      return true
    } catch .denied {
      return false
    } catch { throw failure(error) }
  }

  private func change(
    _ keyring: LoginKeyring, from old: borrowing SecretBytes, to new: borrowing SecretBytes
  ) async throws(CommandFailure) {
    do throws(LoginKeyringError) { try await keyring.change(from: old, to: new) } catch { throw failure(error) }
  }

  func keyringItem() async throws(CommandFailure) -> KeyringItem? {
    do throws(WhorlError) { return try await service.keyringItem() } catch {
      throw await secretFailure(error, Self.subject)
    }
  }

  /// The secret that is kept, in a context that was given the passcode.
  private func keptSecret(_ context: WhorlContext) async throws(CommandFailure) -> SecretBytes {
    do throws(WhorlError) {
      return try await service.keyringSecret(in: context, reason: "use the login keyring's secret", progress: { _ in })
    } catch { throw await secretFailure(error, Self.subject) }
  }

  private func loginPassword(
    for reason: String, _ context: WhorlContext
  ) async throws(CommandFailure) -> SecretBytes {
    guard
      let password = try await PasscodeDialog(console: console, service: service)
        .collect(to: context, for: reason, subject: Self.subject)
    else { throw .cancelled }
    return password
  }

  func failure(_ problem: LoginKeyringError) -> CommandFailure {
    Task.isCancelled ? .cancelled : CommandFailure(.failed, "\(Self.subject): \(problem.line)")
  }
}
