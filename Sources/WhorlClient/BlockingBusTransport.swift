internal import Bus
package import SecretMemory

/// The daemon on the bus, org.whorl, for threads that wait. Connects at the first request, and again after the daemon or
/// the bus has gone, or in a fork.
package final class BlockingBusTransport: BlockingTransport {
  private let link: BlockingLink

  /// - Parameter address: of the bus; nil is the system bus, wherever DBUS_SYSTEM_BUS_ADDRESS says that is.
  package init(address: String? = nil) { link = BlockingLink(address: address) }

  package func status() throws(WhorlError) -> WhorlStatus {
    guard let values = try link.call(.status).arguments[0].asOptions else {
      throw WhorlError(.badAnswer, "The daemon's answer makes no sense: a key comes twice in GetStatus.")
    }
    return WhorlStatus(values)
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
    try prompting(.evaluate(policy, context, prompt.reason, prompt.options), in: context, token: token).constraints
  }

  package func provideApplicationPassword(
    _ password: borrowing SecretBytes, to context: WhorlContext
  ) throws(WhorlError) {
    let file = try seal(password)
    _ = try link.call(
      .provide("ProvideApplicationPassword", context), file: file, daemon: context.daemon,
      timeoutMilliseconds: WhorlCall.passcodeTimeout)
  }

  /// A call that may ask a person: lasts for as long as that takes, and ends with its token.
  private func prompting(
    _ call: WhorlCall, file: BusDescriptor? = nil, in context: WhorlContext, token: CallToken?
  ) throws(WhorlError) -> BusReply {
    let token = token ?? CallToken()
    return try token.run { () throws(WhorlError) in
      try link.call(call, file: file, daemon: context.daemon, timeoutMilliseconds: nil) { peer in
        token.sent { BlockingLink.send(.cancel(context, .app), to: peer) }
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
    try prompting(.secret(query, context, prompt.reason, prompt.options), in: context, token: token).secret()
  }

  package func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) {
    let call = WhorlCall.update(
      query, changes, accessControl, hasSecret: false, context, prompt.reason, prompt.options)
    _ = try prompting(call, in: context, token: token)
  }

  package func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    secret: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) {
    let call = WhorlCall.update(
      query, changes, accessControl, hasSecret: true, context, prompt.reason, prompt.options)
    let file = try seal(secret)
    _ = try prompting(call, file: file, in: context, token: token)
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
    try prompting(.sign(query, algorithm, data, context, prompt.reason, prompt.options), in: context, token: token)
      .bytes
  }

  package func agree(
    with peer: [UInt8], matching query: WhorlAttributes, by algorithm: WhorlKeyAgreementAlgorithm,
    in context: WhorlContext, prompt: WhorlPrompt, token: CallToken?
  ) throws(WhorlError) -> SecretBytes {
    try prompting(.agree(query, algorithm, peer, context, prompt.reason, prompt.options), in: context, token: token)
      .secret()
  }
}
