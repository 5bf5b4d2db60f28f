internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import ReaderLink

/// `Authenticate`: one verification for a PAM stack. Where no finger can, or should, be asked for, the answer is there at
/// once, for the stack goes on to the password.
@GLibActor
final class Logins {
  private let frame: CallFrame
  private let enclave: Enclave
  private let sessions: Sessions
  private let hall: ReaderHall
  private let clock: DaemonClock
  private var delays = LoginDelays()
  private var refusals = LoginRefusals()

  init(frame: CallFrame, enclave: Enclave, sessions: Sessions, hall: ReaderHall, clock: DaemonClock = .machine) {
    self.frame = frame
    self.enclave = enclave
    self.sessions = sessions
    self.hall = hall
    self.clock = clock
  }

  /// At which services a user was asked for no finger the last time, and why.
  func refusals(of user: UserID, isLockedOut: Bool) -> BusValue {
    .array(
      element: "a{sv}",
      refusals.of(user, isLockedOut: isLockedOut).map {
        .options(["service": .string($0.service), "reason": .string($0.reason)])
      })
  }

  /// Root may ask about everybody, others about themselves (screen lockers run as the user).
  func authenticate(_ arguments: [BusValue], _ caller: Caller) async throws -> BusAnswer {
    var options = try StrictOptions(arguments[2], what: "option")
    let demandsTrust = try options.flag("trusted-readers") ?? false
    let transaction = try LoginSteps.transaction(&options, caller)
    let wantsPasscode = try options.flag("passcode-after-boot") ?? false
    let request = try VerificationRequest(&options)
    try options.finish()
    guard request.options.allowsInteraction, !request.options.offersFallback else {
      throw BusMethodError.whorl(
        "Param", "Authenticate asks for a finger and nothing else; leave interaction-not-allowed and fallback out.")
    }
    let account = try await LoginSteps(frame: frame).account(arguments[0].asString ?? "", caller)
    let key = LoginKey(
      user: account.user, service: arguments[1].asString ?? "", asker: await sessions.person(of: caller.connection))
    await enclave.learn(account.user, .named(account.name))
    do {
      try await requirePerson(key, caller)
      try await requireOpenHome(of: account, request, caller)
      if wantsPasscode { try await requirePasscodeSinceBoot(account.user) }
      let finger = try await frame.withProgress(request, for: caller) { progress in
        // A sign of life at once: opening a reader may take longer than the module waits for a silent daemon.
        progress(.queued)
        try await self.awaitReader(of: account, request)
        return try await self.enclave.authenticate(
          user: account.user, for: caller.connection, demandsTrust: demandsTrust, transaction: transaction,
          options: request.options, progress: progress)
      }
      delays.succeeded(key)
      refusals.clear(key)
      return BusAnswer([.string(finger)])
    } catch {
      note(error, key, account.name)
      throw error
    }
  }

  /// Whoever touches the reader sits at the machine, and may mean something else by it.
  private func requirePerson(_ key: LoginKey, _ caller: Caller) async throws(BusMethodError) {
    guard await !sessions.isRemote(caller.connection) else {
      throw .whorl("BiometryNotAvailable", "A finger cannot be given from a remote session; use your password.")
    }
    guard await !sessions.isInBackground(caller.connection) else {
      throw .whorl(
        "BiometryNotAvailable", "The session that asks is not the one that the screen shows; use your password.")
    }
    let wait = delays.wait(key, at: clock.now())
    guard wait == 0 else {
      throw .whorl(
        "BiometryNotAvailable",
        "\(key.service) has asked for a finger too often in vain; it may again in \((wait + 999) / 1000) s.")
    }
  }

  /// A finger would let somebody in whose home is not there.
  private func requireOpenHome(
    of account: Account, _ request: VerificationRequest, _ caller: Caller
  ) async throws(BusMethodError) {
    guard await frame.accounts.homeState(of: account)?.isLocked == true else { return }
    ProgressSignals.tellHomeClosed(request.operation, to: caller.connection, on: frame.bus)
    throw .whorl(
      "BiometryNotAvailable",
      "The home of \(account.name.printable) is encrypted and opens with the password alone; use your password for the "
        + "first login.")
  }

  /// A reader that is only just starting is waited for, for a moment. Where it does not come, the enclave says what is
  /// missing.
  private func awaitReader(of account: Account, _ request: VerificationRequest) async throws(BusMethodError) {
    guard await !enclave.isLockedOut(user: account.user) else { return }
    let user = FprintUser(name: account.name, account: account)
    guard await hall.awaitReader(of: user, atMost: Int64(request.options.timeout) * 1000) else {
      throw .whorl("BiometryNotAvailable", "The fingerprint readers are still being set up; use your password.")
    }
  }

  private func requirePasscodeSinceBoot(_ user: UserID) async throws(BusMethodError) {
    guard await !enclave.passcodeGivenSinceBoot(user) else { return }
    throw .whorl(
      "BiometryNotAvailable",
      "The password has to be given once since the machine started; give it to whorl verify or whorl unlock.")
  }

  /// What an end means for the next time.
  private func note(_ error: any Error, _ key: LoginKey, _ name: String) {
    let reason: String
    switch error as? EnclaveError {
    case .authenticationFailed, .timedOut, .sensor, .busy:
      // A finger was asked for, in vain.
      delays.failed(key, at: clock.now())
      return refusals.clear(key)
    case .appCancel, .userCancel, .userFallback, .systemCancel: return refusals.clear(key)
    case let failure?: reason = failure.message
    case nil:
      guard let failure = error as? BusMethodError else { return }
      reason = failure.message
    }
    // Once, and not at each try.
    if refusals.note(key, reason, at: clock.now()) {
      Log.notice("no finger for \(name.printable) at \(key.service): \(reason)")
    }
  }
}
