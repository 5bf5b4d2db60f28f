internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import SecretMemory

/// What Whorl's own bus faces do around each call: find out who calls, end with the caller, and name errors.
@GLibActor
struct CallFrame {
  let bus: BusConnection
  let clients: ClientTasks
  let accounts: AccountDirectory
  let enclave: Enclave
  let limits: CallLimits
  let desk: AgentDesk

  /// The methods that take a reader, look at all of them, or take a passcode or an administrator's word.
  private static let readerMethods: Set<String> = [
    "Authenticate", "CompleteLogin", "ChangePasscode", "EvaluatePolicy", "ProvidePasscode", "GetStatus", "ForgetUser",
    "RenameUser", "AdoptFingers",
    "ListReaders", "TrustReader", "DistrustReader",
  ]

  /// Runs `body` for a call, in a task that is cancelled when the caller goes.
  func answer(
    _ call: BusCall, _ body: @escaping @GLibActor (Caller) async throws -> BusAnswer
  ) async throws -> BusAnswer {
    let caller = try await Caller(of: call, on: bus)
    do {
      return try await limits.run(for: caller.user, wantsReader: Self.readerMethods.contains(call.method)) {
        try await clients.run(for: call.sender) {
          await self.learn(caller.user)
          return try await body(caller)
        }
      }
    } catch let error as EnclaveError {
      throw BusMethodError(name: error.busName, message: error.message)
    } catch let error as KeychainError {
      let wrapped = EnclaveError.keychain(error)
      throw BusMethodError(name: wrapped.busName, message: wrapped.message)
    } catch is CancellationError {
      throw BusMethodError.whorl("AppCancel", "The program that asked is gone.")
    }
  }

  /// Refuses what a finger would open to a caller whose account has expired: logins have PAM's account phase for that,
  /// and so has the passcode.
  func requireUsableAccount(_ caller: Caller) async throws(BusMethodError) {
    guard await accounts.isExpired(caller.user) else { return }
    throw .whorl("Denied", "Your account has expired; have the administrator extend it.")
  }

  /// Tells the enclave whose uid that is now: a keychain opens for the account that it was made for alone.
  private func learn(_ user: UserID) async {
    do {
      let account = try await accounts.with(user)
      await enclave.learn(user, account.map { .named($0.name) } ?? .nameless)
    } catch {
      await enclave.learn(user, .unknown(error.line))
    }
  }

  /// As ``withProgress(_:for:_:)``, for what an agent shows and has the passcode asked for. `body` may run more than once,
  /// each time in the context that it is given.
  func withPrompts<R: Sendable>(
    _ request: VerificationRequest, for caller: Caller, about subject: PromptSubject,
    _ body: @escaping @GLibActor (PromptScope, @escaping ProgressHandler) async throws -> R
  ) async throws -> R {
    try await withProgress(request, for: caller) { progress in
      try await desk.run(subject, request, for: caller, progress: progress, body)
    }
  }

  /// Runs `body` with a handler for its progress, all of which has gone to the caller when this returns.
  func withProgress<R: Sendable>(
    _ request: VerificationRequest, for caller: Caller, _ body: (@escaping ProgressHandler) async throws -> R
  ) async throws -> R {
    try await requireUsableAccount(caller)
    let signals = ProgressSignals(bus: bus, receiver: caller.connection, operation: request.operation)
    do {
      let result = try await body(signals.handler)
      await signals.finish()
      return result
    } catch {
      await signals.finish()
      throw error
    }
  }

  /// The number of a context in a call's argument.
  static func context(_ value: BusValue) throws(BusMethodError) -> ContextID {
    guard let number = value.asUInt32 else { throw .whorl("Param", "A context is a number.") }
    return ContextID(rawValue: number)
  }

  /// The secret in a descriptor that came with a call.
  static func secret(_ call: BusCall, _ handle: BusValue, limit: Int) throws -> SecretBytes {
    let descriptor = try call.descriptor(handle)
    do {
      return try descriptor.withDescriptor { file throws(SecretMemoryError) in
        try SecretFile.take(file, limit: limit)
      }
    } catch .tooLarge {
      throw BusMethodError.whorl(
        "TooLarge", "The secret is longer than \(limit) bytes, which is the most there can be.")
    } catch {
      throw BusMethodError.whorl("Param", "The secret that came along cannot be taken: \(error)")
    }
  }

  /// The secret behind the one descriptor of an array; nil where the array is empty.
  static func optionalSecret(
    _ call: BusCall, _ value: BusValue, limit: Int, what: String
  ) throws -> SecretBytes? {
    guard let handles = value.asArray, handles.count <= 1 else {
      throw BusMethodError.whorl("Param", "There can be one \(what) only.")
    }
    guard let handle = handles.first else { return nil }
    return try secret(call, handle, limit: limit)
  }

  /// A descriptor with a secret, for an answer.
  static func seal(_ secret: borrowing SecretBytes) throws(BusMethodError) -> Int32 {
    do {
      return try SecretFile.seal(secret, name: "whorl-secret")
    } catch {
      throw .whorl("Failed", "The secret cannot be handed over: \(error)")
    }
  }
}
