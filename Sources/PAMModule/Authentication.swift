import CPAM
import CSystemd

/// One pam_sm_authenticate.
struct Authentication: ~Copyable {
  let host: whorl_pam_host
  let options: ModuleOptions
  var budget: TimeBudget
  private var promptsLeft = 64

  /// Names of users longer than this belong to nobody: it is what LOGIN_NAME_MAX leaves.
  static let longestName = 255

  init(host: whorl_pam_host) {
    self.host = host
    options = ModuleOptions(host.argv, count: host.argc) { argument in
      withTextLine { line in
        line.append("unknown or malformed option ignored: ")
        line.append(printable: argument)
        line.withText { host.log(host.handle, LOG_WARNING, $0) }
      }
    }
    budget = TimeBudget(now: csystemd_monotonic_usec())
  }

  mutating func run() -> Outcome {
    let outcome: Outcome
    do {
      outcome = options.login ? try completeLogin() : try authenticate()
    } catch {
      switch error {
      case .late: outcome = .silentDaemon
      case .broken: outcome = .noDaemon
      }
    }
    if outcome == .untrustedDaemon {
      log(LOG_ERR, outcome.text)
    } else if options.debug {
      log(LOG_DEBUG, outcome.text)
    }
    return outcome
  }

  private mutating func authenticate() throws(BusFailure) -> Outcome {
    if let remote = host.remote_host, isElsewhere(remote) { return .remote }
    guard let service = host.service, isPlainText(service, limit: Authentication.longestName) else {
      return .notOffered
    }
    var name: CText?
    guard host.get_user(host.handle, &name) == PAM_SUCCESS, let name else { return .conversationFailed }
    guard isPlainText(name, limit: Authentication.longestName) else { return .unknownUser }
    // Asking for the name may have taken its time, which is the user's.
    budget = TimeBudget(now: csystemd_monotonic_usec())
    return try authenticate(user: name, service: service, over: BusConnection())
  }

  /// Whether PAM_RHOST says that the person is not at this machine. Only the name "localhost" is this machine: what
  /// comes from a loopback address comes through the network, perhaps through a tunnel.
  private func isElsewhere(_ remote: CText) -> Bool { remote[0] != 0 && !equals(remote, "localhost") }

  // MARK: The daemon

  private mutating func authenticate(
    user: CText, service: CText, over bus: borrowing BusConnection
  ) throws(BusFailure) -> Outcome {
    // The unique name stays valid while the answer that holds it does, which is until the end of this function.
    let owner = try findOwner(bus)
    guard owner.hasSignature("s"), let daemon = owner.readText() else { return .noDaemon }
    guard try isTrusted(daemon, bus) else { return .untrustedDaemon }
    let operation = csystemd_monotonic_usec()
    let seconds = options.timeout(silent: host.silent)
    // To the unique name that was checked, not to the name that another process may own by now.
    let call = try bus.newCall(daemon, "/org/whorl", "org.whorl.Authentication1", "Authenticate")
    guard
      call.append(text: user), call.append(text: service), call.open(.array, "{sv}"),
      call.append(option: "operation", uint64: operation), call.append(option: "timeout", uint32: seconds),
      call.append(option: "max-tries", uint32: options.maxTries),
      !options.trustedReaders || call.append(option: "trusted-readers", flag: true), append(transactionTo: call),
      call.close()
    else { return .noDaemon }
    let cookie = try bus.send(call)
    budget.requestSent(now: csystemd_monotonic_usec(), seconds: seconds)
    let outcome = try awaitAnswer(to: cookie, operation: operation, from: daemon, service: service, over: bus)
    extendLifetime(owner)
    return outcome
  }

  /// The bus's answer to who owns whorld's name, for which it starts whorld where it must.
  mutating func findOwner(_ bus: borrowing BusConnection) throws(BusFailure) -> BusMessage {
    let owner = try askAboutWhorld("GetNameOwner", bus)
    guard let error = owner.errorName else { return owner }
    guard equals(error, "org.freedesktop.DBus.Error.NameHasNoOwner") else { throw .broken }
    budget.daemonIsStarting()
    guard try askAboutWhorld("StartServiceByName", flags: 0, bus).errorName == nil else { throw .broken }
    return try askAboutWhorld("GetNameOwner", bus)
  }

  private func askAboutWhorld(
    _ method: StaticString, flags: UInt32? = nil, _ bus: borrowing BusConnection
  ) throws(BusFailure) -> BusMessage {
    let call = try withCString("org.whorl") { (name) throws(BusFailure) in try bus.newBusCall(method, about: name) }
    if let flags, !call.append(uint32: flags) { throw .broken }
    return try bus.ask(call, until: budget.deadline)
  }

  /// Whether the process with that unique name runs as root, or as this very user where that is enough.
  func isTrusted(_ daemon: CText, _ bus: borrowing BusConnection) throws(BusFailure) -> Bool {
    let answer = try bus.ask(bus.newBusCall("GetConnectionUnixUser", about: daemon), until: budget.deadline)
    guard answer.hasSignature("u"), let user = answer.readUInt32() else { return false }
    return user == 0 || (host.own_user_is_trusted && user == host.own_user)
  }

  /// Shows progress until the answer or the deadline.
  private mutating func awaitAnswer(
    to cookie: UInt64, operation: UInt64, from daemon: CText, service: CText, over bus: borrowing BusConnection
  ) throws(BusFailure) -> Outcome {
    // When to tell that the request stands in the queue; nil where there is nothing to tell.
    var queueHint: UInt64?
    while true {
      let deadline = budget.deadline
      guard let message = try bus.next(until: min(deadline, queueHint ?? deadline)) else {
        guard csystemd_monotonic_usec() < deadline else { return .silentDaemon }
        queueHint = nil
        if !show(.queued, service) { return .conversationFailed }
        continue
      }
      // When whorld goes away, the bus answers in its place.
      if message.answers(cookie), message.isFrom(daemon) || message.isFrom("org.freedesktop.DBus") {
        return judge(message, from: daemon, service)
      }
      guard message.isFrom(daemon), let progress = Progress(message, of: operation) else { continue }
      budget.heardDaemon()
      queueHint = nil
      switch progress {
      case .queued: queueHint = csystemd_monotonic_usec() + TimeBudget.queueHint
      case .prompt(let prompt): if !show(prompt, service) { return .conversationFailed }
      case .other: break
      }
    }
  }

  /// What whorld's answer means. Success is one thing alone: a method return from whorld with a finger's name.
  private mutating func judge(_ answer: borrowing BusMessage, from daemon: CText, _ service: CText) -> Outcome {
    if let error = answer.errorName {
      if options.debug {
        withTextLine { line in
          line.append("whorld answered ")
          line.append(printable: error)
          line.withText { host.log(host.handle, LOG_DEBUG, $0) }
        }
      }
      let outcome = Outcome(errorName: error)
      let isLockout = equals(error, "org.whorl.Error.BiometryLockout")
      // What the conversation makes of these last words changes nothing.
      if isLockout { _ = show(.lockedOut, service) } else if outcome == .timedOut { _ = show(.timedOut, service) }
      return outcome
    }
    guard
      sd_bus_message_is_method_error(answer.raw, nil) == 0, answer.isFrom(daemon), answer.hasSignature("s"),
      let finger = answer.readText(), FingerName(name: finger) != nil
    else { return .garbage }
    return .match
  }

  /// Shows a prompt, or does not where the program wants silence; false where the conversation failed.
  private mutating func show(_ prompt: Prompt, _ service: CText) -> Bool {
    guard !host.silent || options.alwaysPrompt else { return true }
    // A daemon gone wild must not flood the screen.
    guard promptsLeft > 0 else { return true }
    promptsLeft -= 1
    return withTextLine { line in
      prompt.write(to: &line, service: service)
      return line.withText { host.show(host.handle, $0) == PAM_SUCCESS } ?? false
    }
  }

  func log(_ priority: Int32, _ text: StaticString) {
    withCString(text) { host.log(host.handle, priority, $0) }
  }
}

/// pam_sm_authenticate, called by the C shim.
@c(whorl_pam_authenticate)
func whorlPAMAuthenticate(_ host: UnsafePointer<whorl_pam_host>) -> CInt {
  var authentication = Authentication(host: host.pointee)
  return authentication.run().code
}
