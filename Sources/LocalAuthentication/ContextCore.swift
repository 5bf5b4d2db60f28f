internal import SecretMemory
internal import Synchronization
internal import WhorlClient

/// What stays of an LAContext while something runs in it: the enclave's context and the program's settings. It ends with
/// the last of the two, so that a program may let an LAContext go while its evaluation runs.
final class ContextCore: Sendable {
  /// What the program set, and what was found out.
  struct Settings: Sendable {
    var localizedReason = ""
    var localizedFallbackTitle: String?
    var localizedCancelTitle: String?
    var interactionNotAllowed = false
    var reuseDuration: TimeInterval = 0
    var maxBiometryFailures: Int?
    var domainState: Data?
    var biometryType: LABiometryType?
  }

  /// The program's own password, which a Mutex cannot hold by itself.
  private final class Password: Sendable {
    let secret: SecretBytes
    init(_ secret: consuming SecretBytes) { self.secret = secret }
  }

  private struct Made {
    let context: WhorlContext
    let reuse: UInt32
    var password: Password?
  }

  private struct State {
    var made: Made?
    var password: Password?
    var isInvalidated = false
    /// How many calls are under way in the enclave's context.
    var running = 0
    /// How many evaluations were cancelled.
    var cancellations = 0
  }

  /// The most bytes of a password of a program's own.
  private static let passwordLimit = 4096

  let transport: any BlockingTransport
  let settings = Mutex(Settings())
  private let state = Mutex(State())
  /// Held while the enclave's context is made.
  private let making = Mutex(())

  init(transport: any BlockingTransport) { self.transport = transport }

  deinit {
    if let made = state.withLock({ $0.made }) { transport.invalidate(made.context) }
  }

  var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

  /// Ends everything; never waits.
  func invalidate() {
    let made = state.withLock { state in
      defer {
        state.isInvalidated = true
        state.made = nil
        state.password = nil
      }
      return state.made
    }
    if let made { transport.invalidate(made.context) }
  }

  // MARK: The enclave's context

  /// Calls `body` with the enclave's context, and once more where that context has ended with its daemon.
  func with<R: ~Copyable>(_ body: (WhorlContext) throws(WhorlError) -> R) throws(WhorlError) -> R {
    var isLast = false
    while true {
      let context = try current()
      defer { state.withLock { $0.running -= 1 } }
      do throws(WhorlError) {
        return try body(context)
      } catch {
        guard error.code == .invalidContext else { throw error }
        // What began before ended by the program's wish, not by its mistake.
        guard !isInvalidated else { throw Self.ended }
        guard !isLast else { throw error }
        isLast = true
        forget(context)
      }
    }
  }

  static let ended = WhorlError(.appCancel, "The program ended the request.")
  private static let invalidated = WhorlError(
    .invalidContext, "The authentication context was invalidated; make a new one.")

  /// The enclave's context with everything that the program set, counted as running.
  private func current() throws(WhorlError) -> WhorlContext {
    let seconds = Self.seconds(settings.withLock { $0.reuseDuration })
    return try making.withLock { (_) throws(WhorlError) in
      if let context = try usable(seconds) { return context }
      var made = Made(context: try transport.createContext(reuseSeconds: seconds), reuse: seconds)
      let password = state.withLock { $0.password }
      do throws(WhorlError) {
        if let password { try transport.provideApplicationPassword(password.secret, to: made.context) }
      } catch {
        transport.invalidate(made.context)
        throw error
      }
      made.password = password
      let (before, isInvalidated) = state.withLock { state in
        guard !state.isInvalidated else { return (made as Made?, true) }
        defer {
          state.made = made
          state.running += 1
        }
        return (state.made, false)
      }
      if let before { transport.invalidate(before.context) }
      guard !isInvalidated else { throw Self.invalidated }
      return made.context
    }
  }

  /// The context that there is, where it fits.
  private func usable(_ seconds: UInt32) throws(WhorlError) -> WhorlContext? {
    enum Found { case none, ready(WhorlContext), lacksPassword(WhorlContext, Password), invalidated }
    let found = state.withLock { state -> Found in
      guard !state.isInvalidated else { return .invalidated }
      // What runs in it is not ended for a setting that was changed meanwhile.
      guard let made = state.made, made.reuse == seconds || state.running > 0 else { return .none }
      if made.password !== state.password {
        guard let password = state.password else { return .none }
        return .lacksPassword(made.context, password)
      }
      state.running += 1
      return .ready(made.context)
    }
    switch found {
    case .none: return nil
    case .invalidated: throw Self.invalidated
    case .ready(let context): return context
    case .lacksPassword(let context, let password):
      do throws(WhorlError) {
        try transport.provideApplicationPassword(password.secret, to: context)
      } catch {
        guard error.code == .invalidContext, !isInvalidated else { throw error }
        return nil
      }
      state.withLock { state in
        if state.made?.context == context { state.made?.password = password }
        state.running += 1
      }
      return context
    }
  }

  private func forget(_ context: WhorlContext) {
    state.withLock { state in
      if state.made?.context == context { state.made = nil }
    }
  }

  /// How long what is shown counts: for the program's time, else as long as there is, since on Apple's systems it counts
  /// until the context is invalidated.
  static func seconds(_ duration: TimeInterval) -> UInt32 {
    guard duration > 0, duration < LATouchIDAuthenticationMaximumAllowableReuseDuration else {
      return UInt32(LATouchIDAuthenticationMaximumAllowableReuseDuration)
    }
    return UInt32(duration.rounded(.up))
  }

  // MARK: The program's own password

  /// Whether there is one.
  var hasPassword: Bool { state.withLock { $0.password != nil } }

  /// Keeps it for the enclave's context; nil lets it go.
  /// - Returns: false where it cannot be one.
  func setPassword(_ bytes: Data?) -> Bool {
    var password: Password?
    if let bytes {
      guard (1...Self.passwordLimit).contains(bytes.count) else { return false }
      do { password = Password(try SecretBytes(copying: bytes.bytes)) } catch { return false }
    }
    return state.withLock { state in
      guard !state.isInvalidated else { return false }
      state.password = password
      return true
    }
  }

  // MARK: Cancellations

  /// How many evaluations were cancelled so far.
  var cancellations: Int { state.withLock { $0.cancellations } }

  /// One more is about to be.
  func countCancellation() { state.withLock { $0.cancellations += 1 } }
}
