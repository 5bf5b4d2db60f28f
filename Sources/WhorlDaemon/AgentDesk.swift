internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import SecretMemory

/// Has the user's agent show what waits for a person, and ask for the passcode where that is wanted: the program that
/// made the request never does, and never sees it. Contexts that prompt by themselves (`whorl` on a terminal) are left
/// alone.
///
/// One question at a time is put to a user; what else of his wants the passcode waits for its turn. Everything ends with
/// the caller, and at the latest after the request's time.
@GLibActor
final class AgentDesk {
  /// How many passcodes one request may use up.
  static let tries = 3

  private let bus: BusConnection
  private let enclave: Enclave
  private let registry: AgentRegistry
  private let clients: ClientTasks
  private let lines = AccountLines(atOnce: 1)
  private var requests: [UInt64: PromptedRequest] = [:]
  private var lastNumber: UInt64 = 0
  /// The contexts that prompt by themselves, by connection.
  private var prompting: [String: Set<ContextID>] = [:]

  init(bus: BusConnection, enclave: Enclave, registry: AgentRegistry, clients: ClientTasks) {
    self.bus = bus
    self.enclave = enclave
    self.registry = registry
    self.clients = clients
    clients.onVanish { [weak self] in self?.prompting[$0] = nil }
  }

  // MARK: Contexts

  /// The program behind that context is the person's own terminal.
  func promptsItself(_ context: ContextID, of connection: String) {
    // Of one that is gone already nobody would tell us.
    guard clients.isFollowed(connection) else { return }
    prompting[connection, default: []].insert(context)
  }

  /// A context has ended.
  func forget(_ context: ContextID, of connection: String) {
    prompting[connection]?.remove(context)
    if prompting[connection]?.isEmpty == true { prompting[connection] = nil }
    end(context, of: connection, with: .appCancel)
  }

  /// Ends what runs in a context as its program wants; what waits for a finger ends in the enclave by itself.
  func cancel(_ context: ContextID, of connection: String, how: CancelKind) {
    switch how {
    case .user: end(context, of: connection, with: .userCancel)
    case .app: end(context, of: connection, with: .appCancel)
    case .system: end(context, of: connection, with: .systemCancel)
    // Where the passcode is asked for, it is what the person wants already.
    case .fallback: break
    }
  }

  private func end(_ context: ContextID, of connection: String, with error: EnclaveError) {
    for request in requests.values where request.subject.context == context && request.caller.connection == connection {
      request.end(error)
    }
  }

  /// An agent ends a request for its person.
  /// - Throws: `Denied` for one that was not shown to it.
  func cancel(_ number: UInt64, by agent: Caller) throws(BusMethodError) {
    guard let request = requests[number], request.isShown(to: agent.connection), request.caller.user == agent.user
    else {
      throw .whorl("Denied", "No request of that number is shown to you; it may have ended.")
    }
    request.end(.userCancel)
  }

  /// An agent has a request go on to the passcode, in the place of the finger that it waits for, for its person.
  /// - Throws: `Denied` for one that was not shown to it, or that waits for nothing in whose place the passcode would do.
  func fallBack(_ number: UInt64, by agent: Caller) async throws(BusMethodError) {
    guard let request = requests[number], request.isShown(to: agent.connection), request.caller.user == agent.user
    else {
      throw .whorl("Denied", "No request of that number is shown to you; it may have ended.")
    }
    guard let scope = request.scope, await enclave.fallBack(scope.context, owner: scope.owner) else {
      throw .whorl("Denied", "That request does not wait for a finger in whose place the password would do.")
    }
  }

  // MARK: Requests

  /// Runs a request of a caller's; where that comes to want the passcode, has it asked for and runs the request again.
  func run<R: Sendable>(
    _ subject: PromptSubject, _ verification: VerificationRequest, for caller: Caller,
    progress: @escaping ProgressHandler,
    _ body: @escaping @GLibActor (PromptScope, @escaping ProgressHandler) async throws -> R
  ) async throws -> R {
    let scope = PromptScope(
      context: subject.context, owner: ContextOwner(connection: caller.connection, user: caller.user))
    if prompting[caller.connection]?.contains(subject.context) == true { return try await body(scope, progress) }
    lastNumber += 1
    let request = PromptedRequest(number: lastNumber, caller: caller, subject: subject)
    requests[request.number] = request
    defer { requests[request.number] = nil }
    return try await request.run {
      (request.reuse, request.mayPrompt) = try await self.enclave.prompts(of: scope.context, owner: scope.owner)
      request.mayPrompt = request.mayPrompt && verification.options.allowsInteraction
      // Before anything is asked for: what is shown, for a finger or the passcode, is what the request gets.
      try await subject.item?.find()
      return try await self.complete(request, verification.passcodeSeconds, scope, progress, body)
    }
  }

  private func complete<R: Sendable>(
    _ request: PromptedRequest, _ seconds: Int, _ own: PromptScope, _ progress: @escaping ProgressHandler,
    _ body: @escaping @GLibActor (PromptScope, @escaping ProgressHandler) async throws -> R
  ) async throws -> R {
    let handler: ProgressHandler = { event in
      progress(event)
      switch event {
      // Not while others have the reader: the touch would be theirs.
      case .waiting: Task { @GLibActor in await self.show(request, .finger) }
      case .queued, .retry, .noMatch, .matched: break
      }
    }
    var scope = own
    request.scope = own
    var left = TriesLeft(passcode: Self.tries, former: Self.tries)
    do {
      while true {
        do {
          let result = try await body(scope, handler)
          await drop(scope, unlike: own)
          return result
        } catch EnclaveError.passcodeNeeded(let reason) {
          // Another request of the same context may have used up what was given for this one.
          guard left.passcode > 0 else {
            throw EnclaveError.failed("other requests of the program used the password up each time; ask again")
          }
          if scope.context == own.context, request.subject.deed.isForItselfAlone,
            request.reuse == 0 || request.subject.deed.isAboutKeys
          {
            let (id, owner) = try await enclave.contextForRequest(request.number, of: own.context, owner: own.owner)
            scope = PromptScope(context: id, owner: owner)
            request.scope = scope
          }
          try await ask(for: .passcode, request, scope, seconds, EnclaveError.passcodeNeeded(reason).message, &left)
        } catch EnclaveError.formerPasscodeNeeded {
          guard left.former > 0 else {
            throw EnclaveError.failed("the password was changed again meanwhile; ask again")
          }
          try await ask(for: .formerPasscode, request, scope, seconds, Self.whyFormer, &left)
        }
      }
    } catch {
      await drop(scope, unlike: own)
      throw error
    }
  }

  /// Ends the context that was made for the request alone.
  private func drop(_ scope: PromptScope, unlike own: PromptScope) async {
    guard scope.context != own.context else { return }
    // It has ended already where the connection is gone.
    try? await enclave.invalidate(scope.context, owner: scope.owner)
  }

  private func show(_ request: PromptedRequest, _ wants: PromptedRequest.Wants) async {
    // Where nobody would show it, nothing is looked up for that.
    guard registry.serves(request.caller.user) else { return }
    await request.show(
      wants, agents: { await registry.agents(for: request.caller) },
      fallback: {
        guard wants == .finger, let scope = request.scope else { return nil }
        return await enclave.fallback(in: scope.context, owner: scope.owner)
      }, program: program(request))
  }

  private func program(_ request: PromptedRequest) -> @GLibActor () async -> ClaimedProgram {
    { [bus] in await ClaimedProgram.find(request.caller.connection, on: bus) }
  }

  // MARK: The passcode

  /// How many more of each one request may use up.
  private struct TriesLeft {
    var passcode: Int
    var former: Int

    /// Uses one up, and gives how many are left then.
    mutating func take(_ wants: PromptedRequest.Wants) -> Int {
      if wants == .formerPasscode {
        former -= 1
        return former
      }
      passcode -= 1
      return passcode
    }
  }

  /// Has the person give the passcode to the request's context, or the former one; a wrong one is asked for again.
  private func ask(
    for wants: PromptedRequest.Wants, _ request: PromptedRequest, _ scope: PromptScope, _ seconds: Int, _ why: String,
    _ tries: inout TriesLeft
  ) async throws {
    guard request.mayPrompt else { throw EnclaveError.notInteractive }
    let user = request.caller.user
    let deadline = DaemonClock.machine.now() + Int64(seconds) * 1000
    // Nobody waits for a turn who has nobody to be asked by.
    guard await !registry.agents(for: request.caller).isEmpty else { throw Self.noAgent }
    await show(request, wants)
    guard await turn(of: user, until: deadline) else {
      try Task.checkCancellation()
      throw Self.tooLate
    }
    defer { lines.leave(user) }
    var details = await request.known(program(request))
    details["wants"] = .string(wants.rawValue)
    details["why"] = .string(why)
    while true {
      let left = tries.take(wants)
      details["tries-left"] = .uint32(UInt32(max(0, left)))
      let passcode = try await answer(request, details, until: deadline)
      do {
        guard wants == .passcode else {
          return try await enclave.provideFormerPasscodeOrRecoveryKey(
            scope.context, owner: scope.owner, answer: passcode)
        }
        return try await enclave.providePasscode(
          scope.context, owner: scope.owner, passcode: passcode,
          isForItemsOnly: scope.context == request.subject.context)
      } catch {
        try Task.checkCancellation()
        switch error {
        case .authenticationFailed, .parameter:
          guard left > 0 else { throw error }
          // Nobody types one that is not looked at.
          let delay = await enclave.status(user: user).passcodeDelay
          guard delay == 0 else { throw EnclaveError.passcodeDelayed(seconds: delay) }
          details["error"] = .string(error.message)
        default: throw error
        }
      }
    }
  }

  /// Waits until no other question is put to the user; false where the time ran out or the task was cancelled.
  private func turn(of user: UserID, until deadline: Int64) async -> Bool {
    let waiting = Task { @GLibActor in await lines.enter(user) }
    let timer = Timeout.start(milliseconds: Self.left(until: deadline)) { waiting.cancel() }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
  }

  private static func left(until deadline: Int64) -> Int { Int(clamping: max(0, deadline - DaemonClock.machine.now())) }

  /// What an agent of the user's gives; one that cannot be asked is passed over for the next.
  private func answer(
    _ request: PromptedRequest, _ details: [String: BusValue], until deadline: Int64
  ) async throws -> SecretBytes {
    var tried: Set<String> = []
    while true {
      try Task.checkCancellation()
      let left = Self.left(until: deadline)
      guard left > 0 else { throw Self.tooLate }
      let agents = await registry.agents(for: request.caller)
      guard let agent = agents.first(where: { !tried.contains($0.connection) }) else {
        throw tried.isEmpty ? Self.noAgent : Self.uselessAgent
      }
      tried.insert(agent.connection)
      await request.move(to: agent, program: program(request))
      do throws(BusError) {
        let reply = try await bus.call(
          destination: agent.connection, path: WhorlNames.agentPath, interface: WhorlNames.agent,
          method: "RequestPasscode", arguments: [.uint64(request.number), .options(details)], expecting: "h",
          timeoutMilliseconds: left, options: .noAutoStart)
        if let passcode = try passcode(in: reply, from: agent) { return passcode }
      } catch {
        switch error {
        case .cancelled, .closed: throw CancellationError()
        case .timedOut: throw Self.tooLate
        case .remote("org.whorl.Error.UserCancel", _): throw EnclaveError.userCancel
        case .remote("org.whorl.Error.NotInteractive", _): break
        default: Log.warning("the agent of uid \(agent.user.rawValue) could not ask for a password (\(error))")
        }
      }
    }
  }

  /// Nil where what came is no sealed memory file.
  private func passcode(in reply: BusReply, from agent: Agent) throws(BusError) -> SecretBytes? {
    let descriptor = try reply.descriptor(reply.arguments.first)
    do {
      return try descriptor.withDescriptor { file throws(SecretMemoryError) in
        try SecretFile.take(file, limit: AuthenticationFace.passcodeLimit)
      }
    } catch {
      Log.warning("what the agent of uid \(agent.user.rawValue) gave for a password cannot be taken: \(error)")
      return nil
    }
  }

  private static let whyFormer =
    "your login password was changed since it last opened your secrets; give the one from before, or your recovery key, "
    + "this once"
  private static let noAgent = BusMethodError.whorl(
    "NotInteractive", "This needs your login password and nobody can ask you for it; start whorl agent in your desktop."
  )
  private static let uselessAgent = BusMethodError.whorl(
    "NotInteractive",
    "This needs your login password and your agent could not ask you for it; start whorl agent in your desktop anew.")
  private static let tooLate = BusMethodError.whorl("TimedOut", "Nobody gave the login password in time; ask again.")
}
