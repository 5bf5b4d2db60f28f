internal import Bus
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain

/// The sessions that logind knows (org.freedesktop.login1), and in which of them callers are.
///
/// What was learned is kept and follows logind's signals, so ``known(_:)`` costs nothing. Without logind everybody's
/// standing is unknown, and nothing waits for a logind that does not answer for more than a moment.
@GLibActor
final class Sessions {
  private static let name = "org.freedesktop.login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"
  private static let properties = "org.freedesktop.DBus.Properties"
  /// So long, in milliseconds, logind may take for an answer; one that takes longer is not asked for the next while.
  private static let patience = 2_000
  private static let silence: Int64 = 30_000

  /// Where a connection's process is.
  private enum Place {
    case session(String)
    /// In none, as a service of the user's: in any of his.
    case user(UInt32)
    case nowhere
  }

  private struct Entry {
    var place: Place
    let program: String?
    /// Drops it when the connection goes.
    var watch: BusSubscription?
  }

  private let bus: BusConnection
  private var facts: [String: SessionFacts] = [:]
  private var entries: [String: Entry] = [:]
  private var subscriptions: [BusSubscription] = []
  private var listing: Task<Void, Never>?
  private var silentUntil: Int64 = 0
  private var changeHandlers: [@GLibActor () -> Void] = []
  private var activityHandlers: [@GLibActor () -> Void] = []
  private var lockHandlers: [@GLibActor () -> Void] = []
  private var sessionHandlers: [@GLibActor (UserID, SessionLocks) -> Void] = []
  /// What was told of each user's sessions.
  private var told: [UInt32: SessionLocks] = [:]
  /// Whether the lid is closed; false where nobody says so.
  private(set) var isLidClosed = false
  /// Whether all sessions were learnt since logind began.
  private var isListed = false

  init(bus: BusConnection) { self.bus = bus }

  /// Calls `handler` when anybody's standing may have changed.
  func onChange(_ handler: @escaping @GLibActor () -> Void) { changeHandlers.append(handler) }

  /// Calls `handler` when a person has come to the machine: a session ceased to be idle, was locked, unlocked or
  /// switched to, or the lid was opened.
  func onActivity(_ handler: @escaping @GLibActor () -> Void) { activityHandlers.append(handler) }

  /// Calls `handler` when a session was locked.
  func onLock(_ handler: @escaping @GLibActor () -> Void) { lockHandlers.append(handler) }

  /// Calls `handler` when the first session of a user begins, the last one ends, or the last one that was not locked is.
  func onLocks(_ handler: @escaping @GLibActor (UserID, SessionLocks) -> Void) { sessionHandlers.append(handler) }

  /// Listens to logind, and to UPower for the lid. Starts neither.
  func start() throws(BusError) {
    subscriptions = [
      try follow(Self.name, Self.session) { $0.changed($1, $2) },
      try follow(Self.name, Self.manager) { sessions, _, values in
        sessions.lidChanged(values["LidClosed"])
      },
      try follow("org.freedesktop.UPower", "org.freedesktop.UPower") { sessions, _, values in
        sessions.lidChanged(values["LidIsClosed"])
      },
      try bus.subscribe(sender: Self.name, interface: Self.session, member: "Lock") { [weak self] _ in
        for handler in self?.lockHandlers ?? [] { handler() }
      },
      try bus.subscribe(sender: Self.name, interface: Self.manager, member: "SessionNew") { [weak self] signal in
        guard let path = signal.arguments.last?.asObjectPath else { return }
        Task { @GLibActor [weak self] in await self?.load(path) }
      },
      try bus.subscribe(sender: Self.name, interface: Self.manager, member: "SessionRemoved") { [weak self] signal in
        guard let path = signal.arguments.last?.asObjectPath else { return }
        self?.facts[path] = nil
        self?.tellChange()
        self?.tellLocks()
      },
      // What another logind said says nothing any more.
      try bus.subscribe(
        sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged", firstArgument: Self.name
      ) { [weak self] _ in self?.forget() },
    ]
    Task { @GLibActor [weak self] in await self?.list() }
  }

  /// Where the program behind a connection is.
  func standing(of connection: String) async -> Standing {
    _ = await entry(of: connection)
    return known(connection)
  }

  /// As ``standing(of:)-(String)`` by what was learned before, without asking anybody.
  func known(_ connection: String) -> Standing {
    switch entries[connection]?.place {
    case .session(let path): facts[path]?.standing ?? .unknown
    case .user(let user): known(UserID(user))
    case .nowhere, nil: .unknown
    }
  }

  /// Where a program is that asks for a user: in its own session, or, as a service, in any of the user's.
  func standing(of connection: String, for user: UserID) async -> Standing {
    _ = await entry(of: connection)
    await list()
    return known(connection, for: user)
  }

  /// As ``standing(of:for:)`` by what was learned before, without asking anybody.
  func known(_ connection: String, for user: UserID) -> Standing {
    if case .session(let path) = entries[connection]?.place { facts[path]?.standing ?? .unknown } else { known(user) }
  }

  /// Whether a program is in a session that came over the network, or is in none, or left over from one that has ended,
  /// and all the sessions of its user came so (`systemd-run --user`, a terminal multiplexer).
  func isRemote(_ connection: String) async -> Bool {
    let place = await entry(of: connection)?.place
    await list()
    switch place {
    case .session(let path):
      guard let session = facts[path] else { return false }
      guard session.isClosing, let user = session.user else { return session.isRemote }
      return session.isRemote || SessionFacts.isElsewhere(facts.values.filter { $0.user == user })
    case .user(let user): return SessionFacts.isElsewhere(facts.values.filter { $0.user == user })
    case .nowhere, nil: return false
    }
  }

  /// Whether a program is in a session that its seat has switched away from.
  func isInBackground(_ connection: String) async -> Bool {
    guard case .session(let path) = await entry(of: connection)?.place else { return false }
    return facts[path]?.standing == .background
  }

  /// Where a user is, in whichever of his sessions.
  func standing(of user: UserID) async -> Standing {
    await list()
    return known(user)
  }

  /// As ``standing(of:)-(UserID)`` by what was learned before, without asking anybody.
  func known(_ user: UserID) -> Standing {
    SessionFacts.standing(of: facts.values.filter { $0.user == user.rawValue })
  }

  /// The name of the program behind a connection, for people: what the kernel calls it, printable, at most 15 bytes.
  func program(of connection: String) async -> String? { await entry(of: connection)?.program }

  /// The session that a program is in, by logind's name for it; nil where it is in none, as a service of the user's, or
  /// that is not known.
  func session(of connection: String) async -> String? {
    guard case .session(let path) = await entry(of: connection)?.place else { return nil }
    return path
  }

  /// Among whose sessions or services the program behind a connection is, by uid; nil where it is among nobody's, or that is
  /// not known.
  func person(of connection: String) async -> UInt32? {
    switch await entry(of: connection)?.place {
    case .session(let path): facts[path]?.user
    case .user(let user): user
    case .nowhere, nil: nil
    }
  }

  /// Has logind say what it knows, where it has not yet.
  func know() async { await list() }

  /// Where a session is.
  func standing(ofSession path: String) -> Standing { facts[path]?.standing ?? .unknown }

  // MARK: Connections

  private func entry(of connection: String) async -> Entry? {
    if let entry = entries[connection] { return entry }
    guard let credentials = try? await bus.credentials(of: connection) else { return nil }
    let program = credentials.pid.flatMap(Self.program)
    await list()
    let place = await place(credentials)
    if let entry = entries[connection] { return entry }
    var entry = Entry(place: place, program: program)
    // What a silent logind did not say is asked again another time.
    guard DaemonClock.machine.now() >= silentUntil else { return entry }
    entry.watch = try? bus.watchName(connection) { [weak self] in self?.entries[connection] = nil }
    if entry.watch != nil { entries[connection] = entry }
    return entry
  }

  private func place(_ credentials: BusCredentials) async -> Place {
    guard let pid = credentials.pid else { return .nowhere }
    if let path = await ask("GetSessionByPID", [.uint32(pid)], expecting: "o")?.asObjectPath {
      if facts[path] == nil { await load(path) }
      return .session(path)
    }
    guard credentials.uid == 0 else { return .user(credentials.uid) }
    // sudo among a user's services is where he is. A service of root's own is the machine's, whoever else has logged in as
    // root.
    let path = await ask("GetUserByPID", [.uint32(pid)], expecting: "o")?.asObjectPath
    guard let path, let user = await userID(path), user != 0 else { return .nowhere }
    return .user(user)
  }

  /// The uid behind logind's object of a user.
  private func userID(_ path: String) async -> UInt32? {
    let arguments: [BusValue] = [.string("org.freedesktop.login1.User"), .string("UID")]
    return await ask("Get", arguments, expecting: "v", at: path, of: Self.properties)?.unwrapped.asUInt32
  }

  // MARK: logind

  private func follow(
    _ sender: String, _ interface: String,
    _ handler: @escaping @GLibActor (Sessions, _ path: String, _ values: [String: BusValue]) -> Void
  ) throws(BusError) -> BusSubscription {
    try bus.subscribe(
      sender: sender, interface: Self.properties, member: "PropertiesChanged", firstArgument: interface
    ) { [weak self] signal in
      guard let self, signal.arguments.count == 3, let values = signal.arguments[1].asOptions else { return }
      handler(self, signal.path, values)
    }
  }

  private func lidChanged(_ value: BusValue?) {
    guard let isClosed = value?.unwrapped.asBool else { return }
    isLidClosed = isClosed
    if !isClosed { tellActivity() }
  }

  private func changed(_ path: String, _ values: [String: BusValue]) {
    let isActive = values["Active"]?.unwrapped.asBool
    if var known = facts[path] {
      if let isActive, isActive != known.isActive {
        known.isActive = isActive
        facts[path] = known
        tellChange()
      }
    } else {
      // One that was begun while logind did not answer.
      Task { @GLibActor [weak self] in await self?.load(path) }
    }
    if let isLocked = values["LockedHint"]?.unwrapped.asBool { facts[path]?.isLocked = isLocked }
    // A compositor that was started from a console makes its session a graphical one.
    if let type = values["Type"]?.unwrapped.asString { facts[path]?.isGraphical = Self.isGraphical(type) }
    if let state = values["State"]?.unwrapped.asString { facts[path]?.isClosing = state == "closing" }
    tellLocks()
    if values["LockedHint"]?.unwrapped.asBool == true { for handler in lockHandlers { handler() } }
    let isBack = values["IdleHint"]?.unwrapped.asBool == false
    if isBack || isActive != nil || values["LockedHint"] != nil { tellActivity() }
  }

  /// Learns all sessions, once.
  private func list() async {
    if let listing { return await listing.value }
    let task = Task { @GLibActor in
      guard let sessions = await ask("ListSessions", [], expecting: "a(susso)")?.asArray else {
        // Asked again next time.
        listing = nil
        return
      }
      for session in sessions {
        if let path = session.asStructure?.last?.asObjectPath { await load(path) }
      }
      isListed = true
      let lid = await ask(
        "Get", [.string(Self.manager), .string("LidClosed")], expecting: "v", of: Self.properties)
      // What was told meanwhile is newer, and the same.
      if let lid { isLidClosed = lid.unwrapped.asBool ?? false }
      tellLocks()
    }
    listing = task
    await task.value
  }

  private func load(_ path: String) async {
    guard
      let values = await ask("GetAll", [.string(Self.session)], expecting: "a{sv}", at: path, of: Self.properties)?
        .asOptions
    else {
      // Looked for again with all the others.
      listing = nil
      return
    }
    facts[path] = SessionFacts(
      user: values["User"]?.unwrapped.asStructure?.first?.asUInt32,
      isActive: values["Active"]?.unwrapped.asBool ?? false, isRemote: values["Remote"]?.unwrapped.asBool ?? false,
      hasSeat: values["Seat"]?.unwrapped.asStructure?.first?.asString.map { !$0.isEmpty } ?? false,
      isPersonal: values["Class"]?.unwrapped.asString?.hasPrefix("user") ?? true,
      isClosing: values["State"]?.unwrapped.asString == "closing",
      isGraphical: Self.isGraphical(values["Type"]?.unwrapped.asString ?? ""),
      isLocked: values["LockedHint"]?.unwrapped.asBool ?? false)
    tellChange()
    tellLocks()
  }

  private func ask(
    _ method: String, _ arguments: [BusValue], expecting: String, at path: String = "/org/freedesktop/login1",
    of interface: String = manager
  ) async -> BusValue? {
    guard DaemonClock.machine.now() >= silentUntil else { return nil }
    do {
      let reply = try await bus.call(
        destination: Self.name, path: path, interface: interface, method: method, arguments: arguments,
        expecting: expecting, timeoutMilliseconds: Self.patience, options: .noAutoStart)
      return reply.arguments.first
    } catch .timedOut {
      silentUntil = DaemonClock.machine.now() + Self.silence
      Log.warning("logind does not answer; everybody counts as one who sits at the machine")
      return nil
    } catch {
      return nil
    }
  }

  private func forget() {
    facts = [:]
    entries = [:]
    // Its successor is asked at once: a lock must not go unnoticed. That nobody is logged in was not said.
    told = told.filter { $0.value != .none }
    isListed = false
    listing = nil
    silentUntil = 0
    tellChange()
    Task { @GLibActor [weak self] in await self?.list() }
  }

  private func tellChange() { for handler in changeHandlers { handler() } }

  private static func isGraphical(_ type: String) -> Bool { ["x11", "wayland", "mir"].contains(type) }

  private func tellLocks() {
    // Who is not listed yet has not logged out.
    guard isListed else { return }
    for (user, sessions) in Dictionary(grouping: facts.values, by: \.user) {
      guard let user else { continue }
      tell(user, SessionFacts.locks(of: sessions))
    }
    for user in told.keys where !facts.values.contains(where: { $0.user == user }) { tell(user, .none) }
  }

  private func tell(_ user: UInt32, _ locks: SessionLocks) {
    guard told[user] != locks else { return }
    told[user] = locks == .none ? nil : locks
    for handler in sessionHandlers { handler(UserID(user), locks) }
  }

  private func tellActivity() { for handler in activityHandlers { handler() } }
}
