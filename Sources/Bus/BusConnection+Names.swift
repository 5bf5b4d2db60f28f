internal import GLibLoop

/// How a name is asked for. Without either, an owned name is an error and ours is ours until we release it.
public struct BusNameOptions: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt32
  /// The options with these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Others may take the name from us.
  public static let allowReplacement = BusNameOptions(rawValue: 1)
  /// Take the name from an owner that allows it.
  public static let replace = BusNameOptions(rawValue: 2)
}

/// Who is behind a connection, as the bus vouches for it.
public struct BusCredentials: Sendable {
  /// The user.
  public let uid: UInt32
  /// The process at the time it connected. Numbers are used again: prefer the descriptor.
  public let pid: UInt32?
  /// A pidfd of that process, where the bus gives one (dbus-daemon from 1.15.8 on).
  public let process: BusDescriptor?

  /// What GetConnectionCredentials answered, an a{sv}.
  init(_ reply: BusReply, of name: String) throws(BusError) {
    guard let facts = reply.arguments[0].asOptions, let uid = facts["UnixUserID"]?.asUInt32 else {
      throw .badMessage("the bus does not say which user \(name) belongs to")
    }
    self.uid = uid
    pid = facts["ProcessID"]?.asUInt32
    process = try? reply.descriptor(facts["ProcessFD"])
  }
}

extension BusConnection {
  nonisolated static let driver = "org.freedesktop.DBus"

  private func askBus(
    _ method: String, _ arguments: [BusValue], expecting: String, options: BusCallOptions = []
  ) async throws(BusError) -> BusReply {
    try await call(
      destination: Self.driver, path: "/org/freedesktop/DBus", interface: Self.driver, method: method,
      arguments: arguments, expecting: expecting, options: options)
  }

  /// Takes a well-known name, at once or not at all.
  /// - Throws: `.nameTaken`; `.remote` where the bus's policy forbids it; as ``call(destination:path:interface:method:arguments:descriptors:expecting:timeoutMilliseconds:options:)``.
  public func requestName(_ name: String, options: BusNameOptions = []) async throws(BusError) {
    try checkBusName(name)
    let doNotQueue: UInt32 = 4
    let reply = try await askBus(
      "RequestName", [.string(name), .uint32(options.rawValue & 3 | doNotQueue)], expecting: "u")
    switch reply.arguments[0].asUInt32 {
    case 1, 4: return  // it is ours now, or was before
    default: throw .nameTaken(name)
    }
  }

  /// Gives a name back; no error where it was not ours.
  public func releaseName(_ name: String) async throws(BusError) {
    try checkBusName(name)
    _ = try await askBus("ReleaseName", [.string(name)], expecting: "u")
  }

  /// Calls `handler` each time that a name of ours goes to somebody else or is released, with the name.
  public func onNameLost(_ handler: @escaping @GLibActor (String) -> Void) throws(BusError) -> BusSubscription {
    try subscribe(sender: Self.driver, interface: Self.driver, member: "NameLost") { signal in
      if let name = signal.arguments.first?.asString { handler(name) }
    }
  }

  /// The unique name of a name's owner; nil where nobody owns it.
  public func owner(of name: String) async throws(BusError) -> String? {
    try checkBusName(name)
    do {
      return try await askBus("GetNameOwner", [.string(name)], expecting: "s").arguments[0].asString
    } catch .remote("org.freedesktop.DBus.Error.NameHasNoOwner", _) {
      return nil
    }
  }

  /// Has the bus start the service of this name, where it knows one and it does not run yet.
  /// - Throws: `.remote` where the bus knows no such service or it did not start.
  public func startService(_ name: String) async throws(BusError) {
    try checkBusName(name)
    _ = try await askBus("StartServiceByName", [.string(name), .uint32(0)], expecting: "u")
  }

  /// Who is behind a connection.
  ///
  /// Ask by unique name: those are never used again, so the answer stays true.
  /// - Throws: `.remote` where there is no such connection (any more); `.badMessage` where the bus does not say who
  ///   the user is.
  public func credentials(of name: String) async throws(BusError) -> BusCredentials {
    try checkBusName(name)
    let reply = try await askBus("GetConnectionCredentials", [.string(name)], expecting: "a{sv}")
    return try BusCredentials(reply, of: name)
  }

  /// The uid of the user behind a connection, by its unique name; the bus is asked once for each connection.
  /// - Throws: as ``credentials(of:)``.
  public func user(of connection: String) async throws(BusError) -> UInt32 {
    if let known = users[connection] { return known }
    let user = try await credentials(of: connection).uid
    // Other names get other owners.
    guard connection.hasPrefix(":") else { return user }
    if users.count >= Self.rememberedUsers { users = [:] }
    users[connection] = user
    return user
  }

  private nonisolated static let rememberedUsers = 1024

  /// Calls `vanished` once when nobody owns the name any more; soon, where nobody does now. Also when our own
  /// connection closes.
  ///
  /// For unique names, which never come back. All watches of a connection share one match rule, so that no limit
  /// of the bus makes one of them go amiss.
  /// - Throws: `.invalid`, `.closed`.
  public func watchName(_ name: String, vanished: @escaping @GLibActor () -> Void) throws(BusError) -> BusSubscription {
    try checkBusName(name)
    if vanishSubscription == nil {
      vanishSubscription = try subscribe(
        sender: Self.driver, path: "/org/freedesktop/DBus", interface: Self.driver, member: "NameOwnerChanged"
      ) { [weak self] signal in
        guard signal.arguments.count == 3, signal.arguments[2] == .string("") else { return }
        if let name = signal.arguments[0].asString { self?.nameVanished(name) }
      }
    }
    let token = nextToken()
    vanishWatches[name, default: [:]][token] = vanished
    Task { @GLibActor [weak self] in
      // It may have gone before the bus knew that we listen.
      guard let connection = self else { return }
      do {
        if try await connection.owner(of: name) == nil { connection.nameVanished(name) }
      } catch {
        if connection.isClosed { connection.nameVanished(name) }
      }
    }
    return BusSubscription { [weak self] in self?.unwatch(name, token) }
  }

  private func nameVanished(_ name: String) {
    guard let watches = vanishWatches.removeValue(forKey: name) else { return }
    for (_, vanished) in watches.sorted(by: { $0.key < $1.key }) { vanished() }
    dropUnusedVanishSubscription()
  }

  private func unwatch(_ name: String, _ token: UInt64) {
    vanishWatches[name]?[token] = nil
    if vanishWatches[name]?.isEmpty == true { vanishWatches[name] = nil }
    dropUnusedVanishSubscription()
  }

  private func dropUnusedVanishSubscription() {
    // So that an idle daemon is not woken by every connection that comes and goes.
    if vanishWatches.isEmpty { vanishSubscription = nil }
  }

  func connectionIsGone() {
    for name in vanishWatches.keys.sorted() { nameVanished(name) }
  }
}
