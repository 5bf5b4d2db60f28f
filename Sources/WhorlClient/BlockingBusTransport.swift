internal import Bus
package import SecretMemory

/// The daemon on the bus, org.whorl, for threads that wait. Connects at the first request, and again after the daemon or
/// the bus has gone. In a fork of a process that has connected before every request fails (BlockingBus).
package final class BlockingBusTransport: BlockingTransport {
  private let link: BlockingLink
  /// Nil: nobody is asked on this process's terminal.
  private let agent: TerminalAgent?

  /// - Parameters:
  ///   - address: of the bus; nil is the system bus, wherever DBUS_SYSTEM_BUS_ADDRESS says that is.
  ///   - asksOnTerminal: whether the person may be asked on this process's terminal, where no agent is there.
  ///   - agentProgram: the command `whorl` that asks there, of an enclave of this program's own; nil is the installed one.
  package init(address: String? = nil, asksOnTerminal: Bool = true, agentProgram: String? = nil) {
    link = BlockingLink(address: address)
    agent = asksOnTerminal ? TerminalAgent(address: address, program: agentProgram) : nil
  }

  package func status() throws(WhorlError) -> WhorlStatus {
    WhorlStatus(try link.call(.status).arguments[0].options(of: "GetStatus"))
  }

  // MARK: Contexts

  package func createContext(reuseSeconds: UInt32) throws(WhorlError) -> WhorlContext {
    try link.call(
      .createContext(reuseSeconds: reuseSeconds, interactionNotAllowed: false, promptsItself: false)
    ).context
  }

  package func invalidate(_ context: WhorlContext) { link.send(.invalidate(context), to: context.daemon) }

  package func cancel(_ context: WhorlContext, how: WhorlCancelKind) {
    link.send(.cancel(context, how), to: context.daemon)
  }

  package func evaluate(
    _ policy: WhorlPolicy, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> [WhorlConstraint] {
    try prompting(prompt, in: context, token: token) { .evaluate(policy, context, prompt.reason, $0) }.constraints
  }

  package func provideApplicationPassword(
    _ password: borrowing SecretBytes, to context: WhorlContext
  ) throws(WhorlError) {
    let file = try seal(password)
    _ = try link.call(
      .provide("ProvideApplicationPassword", context), file: file, daemon: context.daemon,
      timeoutMilliseconds: WhorlCall.passcodeTimeout)
  }

  /// A call that may ask a person: lasts for as long as that takes, and ends with its token. On a terminal it is first made
  /// without asking anybody, since most need not; then the person is asked there, where no other agent would ask.
  /// - Parameter file: makes what goes along; the daemon empties it each time.
  private func prompting(
    _ prompt: WhorlPrompt, in context: WhorlContext, token: CallToken?,
    file: () throws(WhorlError) -> BusDescriptor? = { () throws(WhorlError) in nil },
    _ call: ([String: BusValue]) -> WhorlCall
  ) throws(WhorlError) -> BusReply {
    let token = token ?? CallToken()
    func send(_ prompt: WhorlPrompt) throws(WhorlError) -> BusReply {
      try link.call(call(prompt.options), file: file(), daemon: context.daemon, timeoutMilliseconds: nil) { peer in
        token.sent { BlockingLink.send(.cancel(context, .app), to: peer) }
      }
    }
    return try token.run { () throws(WhorlError) in
      guard !prompt.interactionNotAllowed, let agent, agent.isPossible else { return try send(prompt) }
      var quiet = prompt
      quiet.interactionNotAllowed = true
      do throws(WhorlError) {
        return try send(quiet)
      } catch  where error.code != .notInteractive {
        throw error
      } catch {}
      return try agent.run(status: status, isCancelled: { token.isCancelled }) { () throws(WhorlError) in
        guard !token.isCancelled else { throw WhorlError(.cancelled, "The request was cancelled.") }
        return try send(prompt)
      }
    }
  }

  // MARK: Items

  package func add(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?,
    secret: borrowing SecretBytes
  ) throws(WhorlError) {
    let file = try seal(secret)
    _ = try link.call(.add(attributes, accessControl, context), file: file, daemon: context?.daemon)
  }

  package func items(
    matching query: WhorlAttributes, limit: UInt32, includingInvalidated: Bool, after reference: [UInt8]?
  ) throws(WhorlError) -> [WhorlItem] {
    try link.call(.items(query, limit, includingInvalidated, reference)).items
  }

  package func secret(
    matching query: WhorlAttributes, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> SecretBytes {
    try prompting(prompt, in: context, token: token) { .secret(query, context, prompt.reason, $0) }.secret()
  }

  package func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) {
    _ = try prompting(prompt, in: context, token: token) { options in
      .update(query, changes, accessControl, hasSecret: false, context, prompt.reason, options)
    }
  }

  package func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    secret: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) {
    _ = try prompting(prompt, in: context, token: token, file: { () throws(WhorlError) in try seal(secret) }) {
      options in
      .update(query, changes, accessControl, hasSecret: true, context, prompt.reason, options)
    }
  }

  package func delete(matching query: WhorlAttributes, all: Bool) throws(WhorlError) -> Int {
    try link.call(.delete(query, all: all)).count
  }

  // MARK: Keys

  package func generateKey(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?
  ) throws(WhorlError) -> [UInt8] {
    try link.call(.generateKey(attributes, accessControl, context), daemon: context?.daemon).bytes
  }

  package func sign(
    _ data: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlSignatureAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> [UInt8] {
    try prompting(prompt, in: context, token: token) { options in
      .sign(query, algorithm, data, context, prompt.reason, options)
    }.bytes
  }

  package func agree(
    with peer: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlKeyAgreementAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> SecretBytes {
    try prompting(prompt, in: context, token: token) { options in
      .agree(query, algorithm, peer, context, prompt.reason, options)
    }.secret()
  }
}
