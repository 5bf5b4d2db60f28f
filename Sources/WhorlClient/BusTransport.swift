internal import Bus
public import GLibLoop
internal import Glibc
public import SecretMemory

/// The daemon on the bus, org.whorl.
///
/// Connects at the first request, and again after the daemon or the bus has gone. Nothing is sent unless the name
/// belongs to root or to this process's own user (private mode): `.impostor` otherwise.
@GLibActor
public final class BusTransport: WhorlTransport {
  /// The most bytes that a secret may have on its way here.
  public nonisolated static let secretLimit = WhorlCall.secretLimit

  /// How long a cancelled request waits for the daemon to end it.
  private static let endingTimeout = 3_000
  private static let path = WhorlCall.path
  private static let authentication = WhorlCall.authentication
  static let keychain = WhorlCall.keychain

  private let address: String?
  private let link: ServiceLink
  private var lastOperation: UInt64 = 0

  /// - Parameter address: of the bus; nil is the system bus, wherever DBUS_SYSTEM_BUS_ADDRESS says that is.
  public nonisolated init(address: String? = nil) {
    self.address = address
    link = ServiceLink(service: "org.whorl", address: address)
  }

  /// GetStatus.
  public func status() async throws(WhorlError) -> WhorlStatus {
    let reply = try await call(Self.authentication, "GetStatus", expecting: "a{sv}")
    return WhorlStatus(try reply.arguments[0].options(of: "GetStatus"))
  }

  /// GetLog.
  public func log(limit: UInt32) async throws(WhorlError) -> [WhorlLogEntry] {
    let reply = try await call(
      Self.authentication, "GetLog", [.options(limit == 0 ? [:] : ["limit": .uint32(limit)])], expecting: "aa{sv}")
    var entries: [WhorlLogEntry] = []
    for value in reply.arguments[0].asArray ?? [] {
      entries.append(WhorlLogEntry(try value.options(of: "GetLog")))
    }
    return entries
  }

  /// How long a removal may take: polkit may ask, and readers may be slow.
  private static let removalTimeout = 300_000

  /// Told when polkit is about to ask a person before a call goes on; the action is polkit's. To be set before the first
  /// request.
  public var onAuthorizing: (@GLibActor (_ action: String) -> Void)? {
    get { link.onAuthorizing }
    set { link.onAuthorizing = newValue }
  }

  /// GetAccountStatus.
  public func accountStatus(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlAccountStatus {
    let reply = try await call(Self.authentication, "GetAccountStatus", Self.arguments(target), expecting: "a{sv}")
    return WhorlAccountStatus(try reply.arguments[0].options(of: "GetAccountStatus"))
  }

  private static func arguments(_ target: WhorlForgetTarget) -> [BusValue] {
    switch target {
    case .name(let name): [.string(name), .options([:])]
    case .uid(let uid): [.string(""), .options(["uid": .uint32(uid)])]
    }
  }

  /// ForgetUser.
  public func forget(_ target: WhorlForgetTarget) async throws(WhorlError) -> WhorlForgotten {
    let reply = try await link.call(
      Self.path, Self.authentication, "ForgetUser", Self.arguments(target), expecting: "a{sv}",
      timeoutMilliseconds: Self.removalTimeout, options: .interactive)
    return WhorlForgotten(try reply.arguments[0].options(of: "ForgetUser"))
  }

  /// RenameUser.
  public func renameUser(from old: String, to new: String) async throws(WhorlError) -> WhorlRenamed {
    let reply = try await call(Self.authentication, "RenameUser", [.string(old), .string(new)], expecting: "a{sv}")
    return WhorlRenamed(try reply.arguments[0].options(of: "RenameUser"))
  }

  // MARK: Contexts

  /// CreateContext.
  public func createContext(
    reuseSeconds: UInt32, interactionNotAllowed: Bool, promptsItself: Bool
  ) async throws(WhorlError) -> WhorlContext {
    let reply = try await call(
      .createContext(
        reuseSeconds: reuseSeconds, interactionNotAllowed: interactionNotAllowed, promptsItself: promptsItself))
    return reply.context
  }

  /// InvalidateContext.
  public func invalidate(_ context: WhorlContext) async throws(WhorlError) {
    _ = try await call(.invalidate(context), daemon: context.daemon)
  }

  /// EvaluatePolicy.
  public func evaluate(
    _ policy: WhorlPolicy, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [WhorlConstraint] {
    let reply = try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      try await self.call(
        .evaluate(policy, context, prompt.reason, options), daemon: context.daemon, timeoutMilliseconds: nil)
    }
    return reply.constraints
  }

  /// ProvidePasscode.
  public func providePasscode(_ passcode: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try await provide("ProvidePasscode", passcode, context)
  }

  /// ProvideFormerPasscode.
  public func provideFormerPasscode(
    _ passcode: borrowing SecretBytes, to context: WhorlContext
  ) async throws(WhorlError) {
    try await provide("ProvideFormerPasscode", passcode, context)
  }

  /// ProvideRecoveryKey.
  public func provideRecoveryKey(_ key: borrowing SecretBytes, to context: WhorlContext) async throws(WhorlError) {
    try await provide("ProvideRecoveryKey", key, context)
  }

  /// ProvideApplicationPassword.
  public func provideApplicationPassword(
    _ password: borrowing SecretBytes, to context: WhorlContext
  ) async throws(WhorlError) {
    try await provide("ProvideApplicationPassword", password, context)
  }

  private func provide(
    _ method: String, _ secret: borrowing SecretBytes, _ context: WhorlContext
  ) async throws(WhorlError) {
    let file = try seal(secret)
    _ = try await call(
      .provide(method, context), file: file, daemon: context.daemon, timeoutMilliseconds: WhorlCall.passcodeTimeout)
  }

  /// AdoptFingers.
  public func adopt(
    fingers: [String]?, on reader: String?, in context: WhorlContext
  ) async throws(WhorlError) -> WhorlAdoption {
    var options: [String: BusValue] = [:]
    if let fingers { options["fingers"] = .strings(fingers) }
    if let reader { options["reader"] = .objectPath(reader) }
    let reply = try await call(
      Self.authentication, "AdoptFingers", [.uint32(context.number), .options(options)], expecting: "a{sv}",
      daemon: context.daemon, timeoutMilliseconds: nil)
    return WhorlAdoption(try reply.arguments[0].options(of: "AdoptFingers"))
  }

  /// ListReaders.
  public func readers() async throws(WhorlError) -> [WhorlReader] {
    let reply = try await call(Self.authentication, "ListReaders", expecting: "aa{sv}")
    var readers: [WhorlReader] = []
    for value in (reply.arguments[0].asArray ?? []).prefix(256) {
      readers.append(WhorlReader(try value.options(of: "ListReaders")))
    }
    return readers
  }

  /// TrustReader.
  public func trust(reader: String, in context: WhorlContext) async throws(WhorlError) {
    _ = try await call(
      Self.authentication, "TrustReader", [.uint32(context.number), .string(reader)], expecting: "",
      daemon: context.daemon)
  }

  /// DistrustReader.
  public func distrust(reader: String?) async throws(WhorlError) {
    _ = try await call(Self.authentication, "DistrustReader", [.string(reader ?? "")], expecting: "")
  }

  /// MakeRecoveryKey.
  public func makeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> SecretBytes {
    let reply = try await call(
      Self.authentication, "MakeRecoveryKey", [.uint32(context.number)], expecting: "h", daemon: context.daemon)
    return try reply.secret()
  }

  /// RevokeRecoveryKey.
  public func revokeRecoveryKey(in context: WhorlContext) async throws(WhorlError) -> Bool {
    let reply = try await call(
      Self.authentication, "RevokeRecoveryKey", [.uint32(context.number)], expecting: "b", daemon: context.daemon)
    return reply.arguments[0].asBool ?? false
  }

  /// RecoverWithKey.
  public func recover(recoveryKey: borrowing SecretBytes) async throws(WhorlError) {
    let file = try seal(recoveryKey)
    _ = try await call(Self.authentication, "RecoverWithKey", [.handle(0)], file: file, expecting: "")
  }

  /// RecoverWithPasscode.
  public func recover(passcode: borrowing SecretBytes) async throws(WhorlError) {
    let file = try seal(passcode)
    _ = try await call(
      Self.authentication, "RecoverWithPasscode", [.handle(0)], file: file, expecting: "",
      timeoutMilliseconds: 120_000)
  }

  /// LockKeys.
  public func lockKeys() async throws(WhorlError) {
    _ = try await call(Self.authentication, "LockKeys", expecting: "")
  }

  /// Cancel.
  public func cancel(_ context: WhorlContext, how: WhorlCancelKind) async throws(WhorlError) {
    _ = try await call(.cancel(context, how), daemon: context.daemon)
  }

  /// Authenticate.
  public func authenticate(
    user: String, service: String, prompt: WhorlPrompt, noWait: Bool, demandsTrust: Bool,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> String {
    // Without a context there is nothing to cancel by: a connection of its own, which ends the request with it.
    let link = ServiceLink(service: "org.whorl", address: address)
    defer { link.close() }
    let reply = try await prompting(in: nil, over: link, prompt, progress) { (options) throws(WhorlError) in
      var options = options
      if noWait { options["no-wait"] = .boolean(true) }
      if demandsTrust { options["trusted-readers"] = .boolean(true) }
      return try await link.call(
        Self.path, Self.authentication, "Authenticate", [.string(user), .string(service), .options(options)],
        expecting: "s", timeoutMilliseconds: nil)
    }
    return printable(reply.arguments[0].asString ?? "")
  }

  // MARK: Items

  /// Add.
  public func add(
    _ attributes: WhorlAttributes, accessControl: WhorlAccessControl, context: WhorlContext?,
    secret: borrowing SecretBytes
  ) async throws(WhorlError) {
    let file = try seal(secret)
    _ = try await call(.add(attributes, accessControl, context), file: file, daemon: context?.daemon)
  }

  /// CopyMatching.
  public func items(
    matching query: WhorlAttributes, limit: UInt32, includingInvalidated: Bool, after reference: [UInt8]?
  ) async throws(WhorlError) -> [WhorlItem] {
    try await call(.items(query, limit, includingInvalidated, reference)).items
  }

  /// CopySecret.
  public func secret(
    matching query: WhorlAttributes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> SecretBytes {
    let reply = try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      try await self.call(
        .secret(query, context, prompt.reason, options), daemon: context.daemon, timeoutMilliseconds: nil)
    }
    return try reply.secret()
  }

  /// Update without a new secret.
  public func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    in context: WhorlContext, prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) {
    try await update(query, changes, accessControl, file: nil, context, prompt, progress)
  }

  /// Update with a new secret.
  public func update(
    matching query: WhorlAttributes, changes: WhorlAttributes, accessControl: WhorlAccessControl?,
    secret: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) {
    let file = try seal(secret)
    try await update(query, changes, accessControl, file: file, context, prompt, progress)
  }

  private func update(
    _ query: WhorlAttributes, _ changes: WhorlAttributes, _ accessControl: WhorlAccessControl?, file: BusDescriptor?,
    _ context: WhorlContext, _ prompt: WhorlPrompt, _ progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) {
    _ = try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      try await self.call(
        .update(query, changes, accessControl, hasSecret: file != nil, context, prompt.reason, options), file: file,
        daemon: context.daemon, timeoutMilliseconds: nil)
    }
  }

  /// How long a look at everything, or new keys for it, may take.
  private static let upkeepTimeout = 600_000

  /// Check.
  public func checkKeychain() async throws(WhorlError) -> WhorlKeychainReport {
    let reply = try await call(Self.keychain, "Check", expecting: "a{sv}", timeoutMilliseconds: Self.upkeepTimeout)
    return WhorlKeychainReport(try reply.arguments[0].options(of: "Check"))
  }

  /// Rekey.
  public func rekey(passcode: borrowing SecretBytes, in context: WhorlContext) async throws(WhorlError) -> Int {
    let file = try seal(passcode)
    let reply = try await call(
      Self.keychain, "Rekey", [.uint32(context.number), .handle(0)], file: file, expecting: "u",
      daemon: context.daemon, timeoutMilliseconds: Self.upkeepTimeout)
    return Int(reply.arguments[0].asUInt32 ?? 0)
  }

  /// Delete.
  public func delete(matching query: WhorlAttributes, all: Bool) async throws(WhorlError) -> Int {
    try await call(.delete(query, all: all)).count
  }

  // MARK: Calls

  /// A call to the keychain that lasts for as long as it takes; the descriptors stay the caller's.
  func keychainCall(
    _ method: String, _ arguments: [BusValue], descriptors: [Int32], expecting: String, daemon: String
  ) async throws(WhorlError) -> BusReply {
    try await link.call(
      Self.path, Self.keychain, method, arguments, descriptors: descriptors, expecting: expecting, daemon: daemon,
      timeoutMilliseconds: nil)
  }

  func call(
    _ call: WhorlCall, file: BusDescriptor? = nil, daemon: String? = nil,
    timeoutMilliseconds: Int? = BusConnection.usualTimeout
  ) async throws(WhorlError) -> BusReply {
    try await self.call(
      call.interface, call.method, call.arguments, file: file, expecting: call.expecting, daemon: daemon,
      timeoutMilliseconds: timeoutMilliseconds)
  }

  func call(
    _ interface: String, _ method: String, _ arguments: [BusValue] = [], file: BusDescriptor? = nil,
    expecting: String, daemon: String? = nil, timeoutMilliseconds: Int? = BusConnection.usualTimeout
  ) async throws(WhorlError) -> BusReply {
    // The file is kept until the call is over, then closed with its owner.
    let descriptors = file.map { file in file.withDescriptor { [$0] } } ?? []
    defer { file?.close() }
    return try await link.call(
      Self.path, interface, method, arguments, descriptors: descriptors, expecting: expecting, daemon: daemon,
      timeoutMilliseconds: timeoutMilliseconds)
  }

  /// A call that may prompt: reports its progress until it is over, and ends it in the daemon where the task is
  /// cancelled.
  func prompting(
    in context: WhorlContext?, over link: ServiceLink? = nil, _ prompt: WhorlPrompt,
    _ progress: @escaping @GLibActor (WhorlProgress) -> Void,
    _ body: ([String: BusValue]) async throws(WhorlError) -> BusReply
  ) async throws(WhorlError) -> BusReply {
    lastOperation += 1
    let operation = lastOperation
    let options = prompt.options.merging(["operation": .uint64(operation)]) { $1 }

    let peer = try await (link ?? self.link).current()
    let subscription: BusSubscription
    do {
      subscription = try peer.bus.subscribe(
        sender: peer.name, path: Self.path, interface: Self.authentication, member: "Progress"
      ) { signal in
        guard signal.arguments.count == 3, signal.arguments[0] == .uint64(operation),
          let event = signal.arguments[1].asString, let details = signal.arguments[2].asOptions
        else { return }
        progress(WhorlProgress(event, details))
      }
    } catch {
      throw WhorlError(.disconnected, "The connection to the daemon is closed; try again.")
    }
    defer { subscription.cancel() }
    do throws(WhorlError) {
      return try await body(options)
    } catch {
      if error.code == .cancelled, let context {
        // In a task of its own, since this one is cancelled; waited for, so that the reader is free again after.
        await Task { @GLibActor in
          _ = try? await self.call(
            .cancel(context, .app), daemon: context.daemon, timeoutMilliseconds: Self.endingTimeout)
        }.value
      }
      throw error
    }
  }
}
