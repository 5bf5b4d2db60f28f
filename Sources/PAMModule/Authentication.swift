import CPAM
import CSystemd

/// One pam_sm_authenticate.
struct Authentication: ~Copyable {
  let host: whorl_pam_host
  let options: ModuleOptions
  var budget: TimeBudget

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
    let outcome =
      options.login
      ? loginStep() : withUnsafeTemporaryAllocation(of: CChar.self, capacity: TypedLine.capacity) { authenticate($0) }
    if let priority = outcome.priority, host.is_news(host.handle, outcome.rawValue) {
      log(priority, outcome.text)
    } else if options.debug {
      log(LOG_DEBUG, outcome.text)
    }
    return outcome
  }

  /// - Parameter memory: for what is typed.
  private mutating func authenticate(_ memory: UnsafeMutableBufferPointer<CChar>) -> Outcome {
    if let remote = host.remote_host, isElsewhere(remote) { return .remote }
    guard let service = host.service, isPlainText(service, limit: Authentication.longestName) else {
      return .notOffered
    }
    var conversation = Conversation(host, service: service, options, memory: memory)
    guard conversation.lane != .unattended else { return .unattended }
    var name: CText?
    guard host.get_user(host.handle, &name) == PAM_SUCCESS, let name else { return .conversationFailed }
    guard isPlainText(name, limit: Authentication.longestName) else { return .unknownUser }
    let outcome = authenticate(user: name, service: service, &conversation)
    // Part of a password must not reach the shell.
    conversation.end(droppingInput: outcome == .match)
    return outcome
  }

  /// Asks until there is an answer, again after the program was stopped.
  private mutating func authenticate(user: CText, service: CText, _ conversation: inout Conversation) -> Outcome {
    // Asking for the name may have taken its time, which is the user's.
    let start = csystemd_monotonic_usec()
    var seconds = options.timeout(silent: host.silent)
    while true {
      switch step(user: user, service: service, seconds: seconds, &conversation) {
      case .answer(let outcome):
        guard outcome != .match, conversation.isTyping else { return outcome }
        guard conversation.show(.type) else { return .passedOver }
        return .init(conversation.finishTyping(), or: outcome)
      case .left(.suspended):
        conversation.forgetLine()
        conversation.end(droppingInput: true)
        let passed = (csystemd_monotonic_usec() - start) / TimeBudget.second
        guard passed < seconds, conversation.isPossible else { return .passedOver }
        seconds = options.timeout(silent: host.silent) - UInt32(truncatingIfNeeded: passed)
      case .left(let end): return .init(end, or: .passedOver)
      }
    }
  }

  /// How one request ends.
  private enum Step {
    case answer(Outcome)
    case left(Conversation.End)
  }

  /// One request to whorld, on a bus connection of its own: when this returns, whorld waits for no finger any more.
  private mutating func step(
    user: CText, service: CText, seconds: UInt32, _ conversation: inout Conversation
  ) -> Step {
    budget = TimeBudget(now: csystemd_monotonic_usec())
    do {
      return try ask(user: user, service: service, seconds: seconds, &conversation, over: BusConnection())
    } catch {
      return .answer(error == .late ? .silentDaemon : .noDaemon)
    }
  }

  /// Whether PAM_RHOST says that the person is not at this machine. Only the name "localhost" is this machine: what
  /// comes from a loopback address comes through the network, perhaps through a tunnel.
  private func isElsewhere(_ remote: CText) -> Bool { remote[0] != 0 && !equals(remote, "localhost") }

  // MARK: The daemon

  private mutating func ask(
    user: CText, service: CText, seconds: UInt32, _ conversation: inout Conversation,
    over bus: borrowing BusConnection
  ) throws(BusFailure) -> Step {
    // The unique name stays valid while the answer that holds it does, which is until the end of this function.
    let owner = try findOwner(bus)
    guard owner.hasSignature("s"), let daemon = owner.readText() else { return .answer(.noDaemon) }
    guard try isTrusted(daemon, bus) else { return .answer(.untrustedDaemon) }
    let operation = csystemd_monotonic_usec()
    // To the unique name that was checked, not to the name that another process may own by now.
    let call = try bus.newCall(daemon, "/org/whorl", "org.whorl.Authentication1", "Authenticate")
    guard
      call.append(text: user), call.append(text: service), call.open(.array, "{sv}"),
      call.append(option: "operation", uint64: operation), call.append(option: "timeout", uint32: seconds),
      call.append(option: "max-tries", uint32: options.maxTries),
      !options.trustedReaders || call.append(option: "trusted-readers", flag: true),
      !options.passcodeAfterBoot || call.append(option: "passcode-after-boot", flag: true), append(transactionTo: call),
      call.close()
    else { return .answer(.noDaemon) }
    let cookie = try bus.send(call)
    budget.requestSent(now: csystemd_monotonic_usec(), seconds: seconds)
    let step = try awaitAnswer(to: cookie, operation: operation, from: daemon, &conversation, over: bus)
    extendLifetime(owner)
    return step
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

  /// Shows progress until the answer, the deadline, or until the person does something else.
  private mutating func awaitAnswer(
    to cookie: UInt64, operation: UInt64, from daemon: CText, _ conversation: inout Conversation,
    over bus: borrowing BusConnection
  ) throws(BusFailure) -> Step {
    // When to tell that the request stands in the queue; nil where there is nothing to tell.
    var queueHint: UInt64?
    while true {
      let deadline = budget.deadline
      var watch = conversation.watch
      guard let message = try bus.next(until: min(deadline, queueHint ?? deadline), or: &watch) else {
        if watch.hasSomething {
          if let end = conversation.attend(watch) { return .left(end) }
          continue
        }
        guard csystemd_monotonic_usec() < deadline else { return .answer(.silentDaemon) }
        queueHint = nil
        if !conversation.show(.queued) { return .left(.failed) }
        continue
      }
      // When whorld goes away, the bus answers in its place.
      if message.answers(cookie), message.isFrom(daemon) || message.isFrom("org.freedesktop.DBus") {
        // What came while the program was stopped was meant for something else.
        if conversation.wasStopped { return .left(.suspended) }
        return .answer(judge(message, from: daemon, &conversation))
      }
      guard message.isFrom(daemon), let progress = Progress(message, of: operation) else { continue }
      budget.heardDaemon()
      queueHint = nil
      switch progress {
      case .queued: queueHint = csystemd_monotonic_usec() + TimeBudget.queueHint
      case .prompt(let prompt): if !conversation.show(prompt) { return .left(.failed) }
      case .other: break
      }
    }
  }

  /// What whorld's answer means. Success is one thing alone: a method return from whorld with a finger's name.
  private func judge(
    _ answer: borrowing BusMessage, from daemon: CText, _ conversation: inout Conversation
  ) -> Outcome {
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
      if isLockout {
        _ = conversation.show(.lockedOut)
      } else if outcome == .timedOut {
        _ = conversation.show(.timedOut)
      }
      return outcome
    }
    guard
      sd_bus_message_is_method_error(answer.raw, nil) == 0, answer.isFrom(daemon), answer.hasSignature("s"),
      let finger = answer.readText(), FingerName(name: finger) != nil
    else { return .garbage }
    return .match
  }

  func log(_ priority: Int32, _ text: StaticString) {
    withCString(text) { host.log(host.handle, priority, $0) }
  }
}

extension Outcome {
  /// What it comes to that the person waits no longer; `outcome` where that is nothing of its own.
  fileprivate init(_ end: Conversation.End, or outcome: Outcome) {
    switch end {
    case .passedOver, .suspended: self = outcome
    case .failed: self = .conversationFailed
    }
  }
}

/// pam_sm_authenticate, called by the C shim.
@c(whorl_pam_authenticate)
func whorlPAMAuthenticate(_ host: UnsafePointer<whorl_pam_host>) -> CInt {
  var authentication = Authentication(host: host.pointee)
  return authentication.run().code
}
