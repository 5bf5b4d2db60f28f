import CPAM
import CSystemd

/// The lines of a stack after the finger and the password: `login` in the auth stack, and the password stack.
extension Authentication {
  /// How long whorld may take for a password: Argon2 and a child process of PAM's.
  static let passwordTime: UInt32 = 8

  /// Joins this line to the later ones. Only a program that whorld takes for root's has later ones.
  func append(transactionTo call: borrowing BusMessage) -> Bool {
    guard geteuid() == 0, let transaction = host.transaction(host.handle) else { return true }
    return call.append(option: "transaction", bytes: transaction, count: 16)
  }

  // MARK: auth

  /// Gives whorld what this login was let in by: the password, or the touch that whorld remembers.
  mutating func loginStep() -> Outcome {
    do throws(BusFailure) {
      return try completeLogin()
    } catch {
      switch error {
      case .late: return .silentDaemon
      case .broken: return .noDaemon
      }
    }
  }

  private mutating func completeLogin() throws(BusFailure) -> Outcome {
    try withNames { (user, service, self) throws(BusFailure) in
      let file = self.host.seal_token(self.host.handle, false)
      defer { if file >= 0 { close(file) } }
      return try self.completeLogin(user: user, service: service, password: file)
    }
  }

  private mutating func completeLogin(user: CText, service: CText, password: CInt) throws(BusFailure) -> Outcome {
    let bus = try BusConnection()
    let owner = try findOwner(bus)
    guard owner.hasSignature("s"), let daemon = owner.readText() else { return .noDaemon }
    guard try isTrusted(daemon, bus) else { return .untrustedDaemon }
    let call = try bus.newCall(daemon, "/org/whorl", "org.whorl.Authentication1", "CompleteLogin")
    let wantsKeyring = options.keyring && geteuid() == 0
    guard
      call.append(text: user), call.append(text: service), call.append(handles: password), call.open(.array, "{sv}"),
      append(transactionTo: call), !wantsKeyring || call.append(option: "keyring", flag: true), call.close()
    else { return .noDaemon }
    let answer = try ask(call, of: daemon, bus)
    extendLifetime(owner)
    if let error = answer.errorName { return Outcome(errorName: error) }
    guard answer.isFrom(daemon), answer.hasSignature("a{sv}ah"), let isProven = readProven(answer) else {
      return .garbage
    }
    guard answer.enter(.array, "h") else { return .garbage }
    // Never without a proof, and never an empty one: the modules after us would take it for the password.
    if isProven, wantsKeyring, let file = answer.readHandle(), host.take_token(host.handle, file) != PAM_SUCCESS {
      log(LOG_WARNING, "the keyring's secret cannot be handed on")
    }
    return isProven ? .proven : .nothingToDo
  }

  /// The value of "proven" in the a{sv} at which the answer stands; nil where it cannot be read.
  private func readProven(_ answer: borrowing BusMessage) -> Bool? {
    guard answer.enter(.array, "{sv}") else { return nil }
    var isProven = false
    while answer.enter(.entry, "sv") {
      guard let key = answer.readText() else { return nil }
      if equals(key, "proven"), answer.nextVariantHolds("b") {
        guard answer.enter(.variant, "b"), let value = answer.readFlag(), answer.exit() else { return nil }
        isProven = value
      } else if !answer.skipVariant() {
        return nil
      }
      guard answer.exit() else { return nil }
    }
    return answer.exit() ? isProven : nil
  }

  // MARK: password

  /// Gives whorld the new password, so that it opens the keychain from now on.
  mutating func passwordChanged() {
    do throws(BusFailure) {
      try withNames { (user, _, self) throws(BusFailure) in
        let new = self.host.seal_token(self.host.handle, false)
        defer { if new >= 0 { close(new) } }
        guard new >= 0 else { return .nothingToDo }
        let former = self.host.seal_token(self.host.handle, true)
        defer { if former >= 0 { close(former) } }
        return try self.passwordChanged(user: user, new: new, former: former)
      }
    } catch {
      log(LOG_NOTICE, "whorld could not be told of the new password; the keychain may ask for the former one once")
    }
  }

  private mutating func passwordChanged(user: CText, new: CInt, former: CInt) throws(BusFailure) -> Outcome {
    let bus = try BusConnection()
    let owner = try findOwner(bus)
    guard owner.hasSignature("s"), let daemon = owner.readText(), try isTrusted(daemon, bus) else { throw .broken }
    let call = try bus.newCall(daemon, "/org/whorl", "org.whorl.Authentication1", "ChangePasscode")
    guard call.append(text: user), call.append(handle: new), call.append(handles: former) else { throw .broken }
    let answer = try ask(call, of: daemon, bus)
    extendLifetime(owner)
    guard let error = answer.errorName else { return .proven }
    guard equals(error, "org.whorl.Error.FormerPasscodeNeeded") else { throw .broken }
    if !host.silent {
      withTextLine { line in
        Text.formerPasswordNeeded.write(to: &line, in: Words(host))
        _ = line.withText { host.show(host.handle, $0) }
      }
    }
    return .nothingToDo
  }

  // MARK: Both

  /// Runs `body` with the names of user and service, once both are fit for the bus.
  @discardableResult
  private mutating func withNames(
    _ body: (CText, CText, inout Authentication) throws(BusFailure) -> Outcome
  ) throws(BusFailure) -> Outcome {
    guard let service = host.service, isPlainText(service, limit: Authentication.longestName) else {
      return .nothingToDo
    }
    var name: CText?
    guard host.get_user(host.handle, &name) == PAM_SUCCESS, let name else { return .conversationFailed }
    guard isPlainText(name, limit: Authentication.longestName) else { return .unknownUser }
    budget = TimeBudget(now: csystemd_monotonic_usec())
    return try body(name, service, &self)
  }

  /// Sends a call to whorld and gives its answer, or the bus's in its place.
  private mutating func ask(
    _ call: borrowing BusMessage, of daemon: CText, _ bus: borrowing BusConnection
  ) throws(BusFailure) -> BusMessage {
    let cookie = try bus.send(call)
    budget.requestSent(now: csystemd_monotonic_usec(), seconds: Authentication.passwordTime)
    budget.heardDaemon()
    while let message = try bus.next(until: budget.deadline) {
      if message.answers(cookie), message.isFrom(daemon) || message.isFrom("org.freedesktop.DBus") { return message }
    }
    throw .late
  }
}

/// What pam_sm_chauthtok does after the change, called by the C shim.
@c(whorl_pam_password_changed)
func whorlPAMPasswordChanged(_ host: UnsafePointer<whorl_pam_host>) -> CInt {
  var authentication = Authentication(host: host.pointee)
  authentication.passwordChanged()
  return PAM_IGNORE
}
