internal import Enclave
internal import Glibc
public import Keychain
internal import Synchronization

/// The machine's accounts, asked for without holding anybody up: the name service may be a directory that takes half a
/// minute, or never answers.
///
/// Each question has a thread of its own while it runs; equal ones share it. There are a few at most, and nobody waits
/// longer than `patience`; a thread that the name service keeps is left to it.
public final class AccountDirectory: Sendable {
  /// How names and uids are looked up; the name service but in tests. Blocking.
  struct Source: Sendable {
    var named: @Sendable (String) throws(AccountsError) -> Account? = { name throws(AccountsError) in
      try Accounts.named(name)
    }
    var with: @Sendable (UserID) throws(AccountsError) -> Account? = { user throws(AccountsError) in
      try Accounts.with(user)
    }
    var passcodeState: @Sendable (String) -> PasscodeState = Accounts.passcodeState
    var isExpired: @Sendable (String) -> Bool = { Accounts.isExpired($0) }
    var homeState: @Sendable (Account) -> HomeState? = { HomeLock().state(of: $0) }
  }

  private enum Question: Hashable {
    /// Names are compared by bytes: Swift takes differently composed accents for the same text, folders do not.
    case name([UInt8], forRoot: Bool)
    case user(UserID)
    case password([UInt8])
    case expiry([UInt8])
    case home(Account)

    /// Questions of one lane share its threads: names that ordinary users make up cannot keep root's from being asked.
    var lane: Int {
      switch self {
      case .name(_, forRoot: true): 0
      case .name(_, forRoot: false): 1
      case .user: 2
      case .password, .expiry: 3
      case .home: 4
      }
    }
  }

  private enum Answer: Sendable {
    case account(Result<Account?, AccountsError>)
    case password(PasscodeState)
    case expiry(Bool)
    case home(HomeState?)
    case none(AccountsError)
  }

  private struct State {
    var lastNumber: UInt64 = 0
    var waiting: [Question: [UInt64: CheckedContinuation<Answer, Never>]] = [:]
  }

  /// The seconds that anybody waits for an answer.
  public static let patience = 10
  /// The milliseconds that a login waits to hear whether the home is closed; one on a network that hangs is none that asks
  /// for the password.
  static let homePatience = 1000
  /// Threads of one lane.
  static let threadsPerLane = 8
  /// Those who wait for one answer.
  static let waitersPerQuestion = 1024

  private let source: Source
  private let patience: Duration
  private let state = Mutex(State())

  /// The machine's name service.
  public convenience init() { self.init(source: Source()) }

  init(source: Source, patience: Duration = .seconds(AccountDirectory.patience)) {
    self.source = source
    self.patience = patience
  }

  /// The account of that name, in the name service's spelling; nil where there is none. A name of digits is a name.
  /// - Parameter caller: who asks, by uid: root's questions do not wait behind others'.
  /// - Throws: where that cannot be found out, which does not mean that there is none.
  public func named(_ name: String, for caller: UserID) async throws(AccountsError) -> Account? {
    try account(await answer(.name(Array(name.utf8), forRoot: caller.rawValue == 0)))
  }

  /// The account with that uid; nil where there is none.
  /// - Throws: where that cannot be found out, which does not mean that there is none.
  public func with(_ user: UserID) async throws(AccountsError) -> Account? {
    try account(await answer(.user(user)))
  }

  /// Whether the account of that name has a password.
  func passcodeState(_ name: String) async -> PasscodeState {
    if case .password(let state) = await answer(.password(Array(name.utf8))) { state } else { .unknown }
  }

  /// Whether the account with that uid has expired, by the machine's own files; false where nobody knows.
  func isExpired(_ user: UserID) async -> Bool {
    guard let account = (try? await with(user)) ?? nil else { return false }
    if case .expiry(let isExpired) = await answer(.expiry(Array(account.name.utf8))) { return isExpired }
    return false
  }

  /// What keeps the account's home closed, and whether it is now; nil for an ordinary home, and where nobody knows.
  func homeState(of account: Account) async -> HomeState? {
    if case .home(let state) = await answer(.home(account), milliseconds: Self.homePatience) { return state }
    return nil
  }

  /// How many questions are being asked of the name service.
  var questionCount: Int { state.withLock { $0.waiting.count } }

  // MARK: Parts

  private func account(_ answer: Answer) throws(AccountsError) -> Account? {
    switch answer {
    case .account(let result): try result.get()
    case .none(let error): throw error
    case .password, .expiry, .home: throw .failed(EINVAL)
    }
  }

  private func answer(_ question: Question, milliseconds limit: Int = .max) async -> Answer {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let seconds = max(1, Int(patience.components.seconds))
    let usual = Int(patience.components.seconds * 1000 + patience.components.attoseconds / 1_000_000_000_000_000)
    let milliseconds = min(usual, limit)
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
    return await withCheckedContinuation { continuation in
      enum Next { case wait, start, refuse }
      let next = state.withLock { state -> Next in
        if let others = state.waiting[question] {
          // An empty list is a question that everybody has given up: its thread still hangs.
          guard others.count < Self.waitersPerQuestion else { return .refuse }
          state.waiting[question]?[number] = continuation
          return .wait
        }
        guard state.waiting.keys.count(where: { $0.lane == question.lane }) < Self.threadsPerLane else {
          return .refuse
        }
        state.waiting[question] = [number: continuation]
        return .start
      }
      switch next {
      case .wait: break
      case .start: if !startThread(question) { return finish(question, .none(.overloaded)) }
      case .refuse: return continuation.resume(returning: .none(.overloaded))
      }
      timer = Timeout.start(milliseconds: milliseconds) {
        let waiter = self.state.withLock { $0.waiting[question]?.removeValue(forKey: number) }
        waiter?.resume(returning: .none(.slow(seconds: seconds)))
      }
    }
  }

  private func finish(_ question: Question, _ answer: Answer) {
    let waiters = state.withLock { $0.waiting.removeValue(forKey: question) } ?? [:]
    for waiter in waiters.values { waiter.resume(returning: answer) }
  }

  private func ask(_ question: Question) -> Answer {
    switch question {
    case .name(let bytes, _): .account(Self.result { () throws(AccountsError) in try canonical(Self.text(bytes)) })
    case .user(let user): .account(Self.result { () throws(AccountsError) in try source.with(user) })
    case .password(let bytes): .password(source.passcodeState(Self.text(bytes)))
    case .expiry(let bytes): .expiry(source.isExpired(Self.text(bytes)))
    case .home(let account): .home(source.homeState(account))
    }
  }

  /// The account of a name as its uid gives it: however a name was typed, one uid has one name here.
  private func canonical(_ name: String) throws(AccountsError) -> Account? {
    guard let account = try source.named(name) else { return nil }
    return try source.with(account.user) ?? account
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func result(
    _ body: () throws(AccountsError) -> Account?
  ) -> Result<Account?, AccountsError> {
    do throws(AccountsError) { return .success(try body()) } catch { return .failure(error) }
  }

  // MARK: Threads

  /// What a thread is started with.
  private final class Errand: Sendable {
    let directory: AccountDirectory
    let question: Question
    init(_ directory: AccountDirectory, _ question: Question) {
      self.directory = directory
      self.question = question
    }
  }

  private func startThread(_ question: Question) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let errand = Unmanaged.passRetained(Errand(self, question))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { context in
        // Signals are for the threads that expect them.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        guard let context else { return nil }
        // Given by `startThread`, to this thread alone.
        let errand = Unmanaged<Errand>.fromOpaque(context).takeRetainedValue()
        errand.directory.finish(errand.question, errand.directory.ask(errand.question))
        return nil
      }, errand.toOpaque())
    if code != 0 { errand.release() }
    return code == 0
  }
}
