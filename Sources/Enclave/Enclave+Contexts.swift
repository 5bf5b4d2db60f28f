internal import Keychain
public import SecretMemory

extension Enclave {
  /// A new authentication context of that caller.
  /// - Parameters:
  ///   - reuse: seconds (0 to 300, on a clock that counts sleep) for which a touch or passcode covers further requests
  ///     of the context. 0: each request is asked for by itself; see `Grant` for what that means exactly.
  ///   - interactionNotAllowed: requests that would need a prompt fail with `.notInteractive`.
  /// - Throws: `.parameter` for a reuse time out of range; `.busy` where the user has too many contexts;
  ///   `.invalidContext` where the connection is closed already.
  public func createContext(
    owner: ContextOwner, reuse: Int = 0, interactionNotAllowed: Bool = false
  ) throws(EnclaveError) -> ContextID {
    guard (0...Limits.reuseSeconds).contains(reuse) else {
      throw .parameter("reuse-duration is \(reuse); it must be 0 to \(Limits.reuseSeconds) seconds")
    }
    guard !closedConnections.contains(owner.connection) else { throw .invalidContext }
    let count = contexts.values.count { $0.owner.user == owner.user }
    guard count < Limits.contextsPerUser, lastContext < .max else {
      throw .busy("user \(owner.user) has \(count) authentication contexts; invalidate those not needed any more")
    }
    lastContext += 1
    let id = ContextID(rawValue: lastContext)
    contexts[id] = AuthenticationContext(owner: owner, reuse: reuse, interactionNotAllowed: interactionNotAllowed)
    return id
  }

  /// Ends a context; what runs in it fails with `.appCancel`.
  /// - Throws: `.invalidContext`.
  public func invalidate(_ context: ContextID, owner: ContextOwner) throws(EnclaveError) {
    try requireContext(context, owner)
    contexts[context] = nil
    endOperations(.appCancel) { $0.context == context }
  }

  /// Gives the program's own password to a context, for items that have one (Apple: LACredentialType.applicationPassword);
  /// kept there until the context ends, or nil is given.
  /// - Throws: `.invalidContext`; `.parameter` for an empty one or one of more than 4096 bytes.
  public func provideApplicationPassword(
    _ context: ContextID, owner: ContextOwner, password: consuming SecretBytes?
  ) throws(EnclaveError) {
    try requireContext(context, owner)
    guard let password else {
      contexts[context]?.applicationPassword = nil
      return
    }
    guard (1...Limits.applicationPasswordBytes).contains(password.count) else {
      throw .parameter(
        "the program's password has \(password.count) bytes; it must have 1 to \(Limits.applicationPasswordBytes)")
    }
    contexts[context]?.applicationPassword = HeldSecret(password)
  }

  /// A bus connection is gone: so are its contexts and what runs in them. A connection nobody knows is fine.
  public func connectionClosed(_ name: String) {
    closedConnections.insert(name)
    let ended = Set(contexts.filter { $0.value.owner.connection == name }.keys)
    for id in ended { contexts[id] = nil }
    endOperations(.appCancel) { operation in operation.context.map(ended.contains) ?? false }
  }

  /// Ends what runs in a context; the context stays. Nothing running is fine.
  /// - Throws: `.invalidContext`.
  public func cancel(_ context: ContextID, owner: ContextOwner, how: CancelKind) throws(EnclaveError) {
    try requireContext(context, owner)
    endOperations(how.error) { $0.context == context }
  }

  /// Ends all that waits for a touch, logins too: before sleep and at the daemon's end.
  public func cancelAll(how: CancelKind = .system) {
    endOperations(how.error) { _ in true }
  }

  /// The context, if it is there and that caller's.
  @discardableResult
  func requireContext(_ id: ContextID, _ owner: ContextOwner) throws(EnclaveError) -> AuthenticationContext {
    guard let context = contexts[id], context.owner == owner else { throw .invalidContext }
    return context
  }

  /// Touches of that user no longer count in any context, nor in the next step of a login.
  func forgetTouches(of user: UserID) {
    logins.forget(user)
    for (id, context) in contexts where context.owner.user == user { contexts[id]?.forgetTouch() }
  }
}
