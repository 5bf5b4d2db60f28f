internal import Bus
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import ReaderLink
internal import SecretMemory

/// `org.whorl.Authentication1`: hands each call to the enclave, with the caller that the bus names.
@GLibActor
final class AuthenticationFace: BusHandler {
  /// The most bytes of a passcode.
  static let passcodeLimit = 4096

  private let frame: CallFrame
  private let enclave: Enclave
  private let status: StatusReport
  private let removal: AccountRemoval
  private let notes: EnrollmentNotes
  private let logins: Logins
  private let trust: ReaderTrust
  private let agents: AgentRegistry
  private let releases: Releases

  init(
    frame: CallFrame, enclave: Enclave, status: StatusReport, removal: AccountRemoval, notes: EnrollmentNotes,
    logins: Logins, trust: ReaderTrust, agents: AgentRegistry, releases: Releases
  ) {
    self.trust = trust
    self.releases = releases
    self.agents = agents
    self.logins = logins
    self.removal = removal
    self.notes = notes
    self.frame = frame
    self.enclave = enclave
    self.status = status
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    try await frame.answer(call) { try await self.answer(call, $0) }
  }

  private func answer(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    let arguments = call.arguments
    let owner = ContextOwner(connection: caller.connection, user: caller.user)
    switch (call.method, arguments.count) {
    case ("GetStatus", 0):
      var values = await status.values(for: caller.user)
      values["login-refusals"] = logins.refusals(
        of: caller.user, isLockedOut: values["locked-out"]?.asBool ?? true)
      return BusAnswer([.options(values.merging(await agents.status(for: caller)) { old, _ in old })])

    case ("GetAccountStatus", 2):
      var options = try StrictOptions(arguments[1], what: "option")
      let uid = try options.number("uid")
      try options.finish()
      let survey = AccountSurvey(removal: removal)
      return BusAnswer([.options(try await survey.values(of: arguments[0].asString ?? "", uid: uid, caller))])

    case ("CreateContext", 1):
      var options = try StrictOptions(arguments[0], what: "option")
      let reuse = try options.number("reuse-duration") ?? 0
      let notAllowed = try options.flag("interaction-not-allowed") ?? false
      let promptsItself = try options.flag("prompts-itself") ?? false
      try options.finish()
      let context = try await enclave.createContext(
        owner: owner, reuse: Int(reuse), interactionNotAllowed: notAllowed)
      if promptsItself { frame.desk.promptsItself(context, of: caller.connection) }
      return BusAnswer([.uint32(context.rawValue)])

    case ("InvalidateContext", 1):
      let context = try CallFrame.context(arguments[0])
      try await enclave.invalidate(context, owner: owner)
      frame.desk.forget(context, of: caller.connection)
      return BusAnswer()

    case ("EvaluatePolicy", 4):
      guard let name = arguments[1].asString, let policy = Policy(rawValue: name) else {
        throw BusMethodError.whorl(
          "Unsupported", "This version of Whorl has no such policy; use \"biometrics\", \"owner\" or \"passcode\".")
      }
      let request = try VerificationRequest(arguments[3])
      let context = try CallFrame.context(arguments[0])
      let subject = PromptSubject(
        context: context, deed: .authenticate,
        reason: request.reason.isEmpty ? arguments[2].asString ?? "" : request.reason)
      let satisfied = try await frame.withPrompts(request, for: caller, about: subject) { scope, progress in
        try await self.enclave.evaluate(
          scope.context, owner: scope.owner, policy: policy, options: request.options, progress: progress)
      }
      return BusAnswer([.strings(satisfied.map(\.rawValue).sorted())])

    case ("ProvidePasscode", 2):
      let secret = try CallFrame.secret(call, arguments[1], limit: Self.passcodeLimit)
      try await enclave.providePasscode(try CallFrame.context(arguments[0]), owner: owner, passcode: secret)
      return BusAnswer()

    case ("ProvideFormerPasscode", 2):
      let secret = try CallFrame.secret(call, arguments[1], limit: Self.passcodeLimit)
      try await enclave.provideFormerPasscode(try CallFrame.context(arguments[0]), owner: owner, passcode: secret)
      return BusAnswer()

    case ("ProvideRecoveryKey", 2):
      let secret = try CallFrame.secret(call, arguments[1], limit: Self.passcodeLimit)
      try await enclave.provideRecoveryKey(try CallFrame.context(arguments[0]), owner: owner, key: secret)
      return BusAnswer()

    case ("ProvideApplicationPassword", 2):
      let context = try CallFrame.context(arguments[0])
      let secret = try CallFrame.secret(call, arguments[1], limit: Self.passcodeLimit)
      try await enclave.provideApplicationPassword(context, owner: owner, password: secret)
      return BusAnswer()

    case ("MakeRecoveryKey", 1):
      let subject = PromptSubject(context: try CallFrame.context(arguments[0]), deed: .makeRecoveryKey)
      let file = try await frame.withPrompts(try VerificationRequest(), for: caller, about: subject) { scope, _ in
        try CallFrame.seal(try await self.enclave.makeRecoveryKey(scope.context, owner: scope.owner))
      }
      return BusAnswer([.handle(0)], descriptors: [file])

    case ("RevokeRecoveryKey", 1):
      let subject = PromptSubject(context: try CallFrame.context(arguments[0]), deed: .revokeRecoveryKey)
      let existed = try await frame.withPrompts(try VerificationRequest(), for: caller, about: subject) { scope, _ in
        try await self.enclave.revokeRecoveryKey(scope.context, owner: scope.owner)
      }
      return BusAnswer([.boolean(existed)])

    case ("RecoverWithKey", 1):
      let secret = try CallFrame.secret(call, arguments[0], limit: Self.passcodeLimit)
      try await enclave.recover(owner: owner, recoveryKey: secret)
      return BusAnswer()

    case ("RecoverWithPasscode", 1):
      let secret = try CallFrame.secret(call, arguments[0], limit: Self.passcodeLimit)
      try await enclave.recover(owner: owner, passcode: secret)
      return BusAnswer()

    case ("LockKeys", 0):
      await enclave.lockKeys(of: caller.user)
      return BusAnswer()

    case ("Cancel", 2):
      guard let name = arguments[1].asString, let how = CancelKind(rawValue: name), how != .system else {
        throw BusMethodError.whorl("Param", "Cancel takes \"user\", \"app\" or \"fallback\".")
      }
      let context = try CallFrame.context(arguments[0])
      try await enclave.cancel(context, owner: owner, how: how)
      frame.desk.cancel(context, of: caller.connection, how: how)
      return BusAnswer()

    case ("GetLog", 1):
      var options = try StrictOptions(arguments[0], what: "option")
      let limit = try options.number("limit") ?? 200
      try options.finish()
      let entries = try await frame.limits.runAtStore(for: caller.user) {
        await releases.entries(of: caller.user, limit: Int(limit), enclave)
      }
      return BusAnswer([.array(element: "a{sv}", entries)])

    case ("RegisterAgent", 1):
      var options = try StrictOptions(arguments[0], what: "option")
      let process = try options.number("process")
      try options.finish()
      try await agents.register(caller, for: process)
      return BusAnswer()

    case ("UnregisterAgent", 0):
      agents.unregister(caller)
      return BusAnswer()

    case ("CancelRequest", 1):
      try frame.desk.cancel(arguments[0].asUInt64 ?? 0, by: caller)
      return BusAnswer()

    case ("FallBack", 1):
      try await frame.desk.fallBack(arguments[0].asUInt64 ?? 0, by: caller)
      return BusAnswer()

    case ("Authenticate", 3):
      return try await logins.authenticate(arguments, caller)

    case ("CompleteLogin", 4):
      return try await LoginSteps(frame: frame).complete(call, caller)

    case ("ChangePasscode", 3):
      return try await LoginSteps(frame: frame).changePasscode(call, caller)

    case ("ExplainEnrollment", 0):
      return BusAnswer([.string(notes.note(for: caller.connection))])

    case ("AdoptFingers", 2):
      var options = try StrictOptions(arguments[1], what: "option")
      let fingers = try options.texts("fingers")
      let reader = try options.path("reader")
      try options.finish()
      let context = try CallFrame.context(arguments[0])
      let prints = try await trust.enrolled(caller.user, fingers: fingers, reader: reader)
      let subject = PromptSubject(
        context: context, deed: .adoptFingers, details: await trust.details(of: prints, caller.user))
      let adopted = try await frame.withPrompts(try VerificationRequest(), for: caller, about: subject) { scope, _ in
        try await self.trust.adopt(scope.context, scope.owner, fingers: fingers, reader: reader, shown: prints)
      }
      return BusAnswer([.options(adopted)])

    case ("ListReaders", 0):
      return BusAnswer([.array(element: "a{sv}", try await trust.list(for: caller.user))])

    case ("TrustReader", 2):
      let context = try CallFrame.context(arguments[0])
      let reader = try await trust.candidate(arguments[1].asString ?? "")
      let subject = PromptSubject(context: context, deed: .trustReader, details: reader.details)
      try await frame.withPrompts(try VerificationRequest(), for: caller, about: subject) { scope, _ in
        try await self.trust.trust(scope.context, scope.owner, reader)
      }
      return BusAnswer()

    case ("DistrustReader", 1):
      try await trust.distrust(arguments[0].asString ?? "", for: caller.user)
      return BusAnswer()

    case ("ForgetUser", 2):
      var options = try StrictOptions(arguments[1], what: "option")
      let uid = try options.number("uid")
      try options.finish()
      return BusAnswer([.options(try await removal.forget(arguments[0].asString ?? "", uid: uid, caller))])

    case ("RenameUser", 2):
      return BusAnswer([
        .options(try await removal.rename(arguments[0].asString ?? "", arguments[1].asString ?? "", caller))
      ])

    default:
      throw BusMethodError.whorl("Unsupported", "This version of Whorl has no method \(call.method).")
    }
  }
}

/// What the options of a call that may prompt say.
struct VerificationRequest: Sendable {
  let options: VerificationOptions
  let operation: UInt64
  let reason: String
  /// So long a passcode may be asked for: as long as the caller waits, where it says so.
  let passcodeSeconds: Int

  /// The seconds that a person has for the passcode where the caller says nothing of time.
  private static let usualPasscodeSeconds = 120

  /// One of a call without options.
  init() throws { try self.init(.options([:])) }

  init(_ value: BusValue) throws {
    var keys = try StrictOptions(value, what: "option")
    try self.init(&keys)
    try keys.finish()
  }

  init(_ keys: inout StrictOptions) throws {
    operation = try keys.bigNumber("operation") ?? 0
    reason = try keys.text("reason") ?? ""
    let timeout = try keys.number("timeout").map { Int($0) }
    passcodeSeconds = timeout ?? Self.usualPasscodeSeconds
    options = try VerificationOptions(
      timeout: timeout ?? 30, maxTries: Int(try keys.number("max-tries") ?? 3),
      noWait: try keys.flag("no-wait") ?? false,
      allowsInteraction: try keys.flag("interaction-not-allowed").map { !$0 } ?? true,
      offersFallback: try keys.flag("fallback") ?? false)
  }
}
