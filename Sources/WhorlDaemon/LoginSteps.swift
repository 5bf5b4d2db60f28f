internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import SecretMemory

/// What login programs' PAM modules call for: who they may name, and the steps after a finger or a password was taken.
@GLibActor
struct LoginSteps {
  let frame: CallFrame

  /// The account that a login program names: root may name everybody, others themselves (screen lockers run as the user).
  /// - Throws: `Denied`, `NoSuchUser`.
  func account(_ name: String, _ caller: Caller) async throws(BusMethodError) -> Account {
    let found: Account?
    do {
      found = try await frame.accounts.named(name, for: caller.user)
    } catch {
      throw .whorl("Failed", error.line)
    }
    guard let account = found else {
      // Others learn nothing about which accounts there are.
      guard caller.user.rawValue == 0 else { throw .whorl("Denied", "You may authenticate yourself only.") }
      throw .whorl("NoSuchUser", "There is no user of that name.")
    }
    guard caller.user.rawValue == 0 || caller.user == account.user else {
      throw .whorl("Denied", "You may authenticate yourself only.")
    }
    return account
  }

  /// The option "transaction" of a call; root's alone.
  static func transaction(
    _ options: inout StrictOptions, _ caller: Caller
  ) throws(BusMethodError) -> LoginTransaction? {
    guard let bytes = try options.bytes("transaction") else { return nil }
    guard caller.user.rawValue == 0 else {
      throw .whorl("Denied", "Only a login program of root's has steps after the finger; leave \"transaction\" out.")
    }
    guard let transaction = LoginTransaction(bytes) else {
      throw .whorl("Param", "The option \"transaction\" has \(bytes.count) bytes; it must have 16.")
    }
    return transaction
  }

  /// CompleteLogin.
  func complete(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    var options = try StrictOptions(call.arguments[3], what: "option")
    let transaction = try Self.transaction(&options, caller)
    let wantsKeyring = try options.flag("keyring") ?? false
    try options.finish()
    guard !wantsKeyring || caller.user.rawValue == 0 else {
      throw BusMethodError.whorl(
        "Denied", "Only a login program of root's is given the keyring's secret; use: whorl keyring unlock")
    }
    let passcode = try CallFrame.optionalSecret(
      call, call.arguments[2], limit: AuthenticationFace.passcodeLimit, what: "password")
    let account = try await account(call.arguments[0].asString ?? "", caller)
    await frame.enclave.learn(account.user, .named(account.name))
    let owner = ContextOwner(connection: caller.connection, user: account.user)
    guard let passcode else {
      return try Self.answer(
        try await frame.enclave.completeLogin(
          owner, transaction: transaction, passcode: nil, wantsKeyring: wantsKeyring))
    }
    guard await frame.enclave.wantsLoginPasscode(of: account.user, forKeyring: wantsKeyring) else {
      lookLater(at: passcode, owner)
      return BusAnswer([.options(["proven": .boolean(false), "unlocked": .boolean(true)]), .array(element: "h", [])])
    }
    return try Self.answer(
      try await frame.enclave.completeLogin(
        owner, transaction: transaction, passcode: passcode, wantsKeyring: wantsKeyring))
  }

  /// ChangePasscode.
  func changePasscode(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    let limit = AuthenticationFace.passcodeLimit
    let passcode = try CallFrame.secret(call, call.arguments[1], limit: limit)
    let former = try CallFrame.optionalSecret(call, call.arguments[2], limit: limit, what: "former password")
    let account = try await account(call.arguments[0].asString ?? "", caller)
    await frame.enclave.learn(account.user, .named(account.name))
    try await frame.enclave.passcodeChanged(of: account.user, to: passcode, former: former)
    return BusAnswer()
  }

  /// Nothing waits for that password, and it may be another one than the keychain knows: nobody is held up for it.
  private func lookLater(at passcode: consuming SecretBytes, _ owner: ContextOwner) {
    let passcode = RepeatedSecret(passcode)
    let enclave = frame.enclave
    Task {
      _ = try? await enclave.completeLogin(
        owner, transaction: nil, passcode: try passcode.copy(), wantsKeyring: false, counts: false)
    }
  }

  private static func answer(_ completion: consuming LoginCompletion) throws(BusMethodError) -> BusAnswer {
    let values: [String: BusValue] = [
      "proven": .boolean(completion.isProven), "unlocked": .boolean(completion.isUnlocked),
    ]
    switch completion.keyringSecret {
    case .some(let secret):
      return BusAnswer(
        [.options(values), .array(element: "h", [.handle(0)])], descriptors: [try CallFrame.seal(secret)])
    case .none:
      return BusAnswer([.options(values), .array(element: "h", [])])
    }
  }
}
