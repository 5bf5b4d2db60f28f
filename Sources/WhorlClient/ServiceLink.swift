internal import Bus
internal import GLibLoop
internal import Glibc

/// The way to one service on the bus: connects, has the service started, and checks whose it is, before anything is
/// sent to it. Everything goes to the unique name that was checked, so that no other program can step in between.
@GLibActor
final class ServiceLink {
  /// One instance of the service, on one connection.
  struct Peer {
    let bus: BusConnection
    let name: String
  }

  let service: String
  private let address: String?
  private var peer: Peer?
  private var connecting: Task<Result<Peer, WhorlError>, Never>?
  private var bus: BusConnection?
  /// Told when polkit is about to ask a person before a call goes on.
  var onAuthorizing: (@GLibActor (_ action: String) -> Void)?
  private var authorizing: BusSubscription?
  /// Whether the service must be whorld's, which has both names.
  private let mustBeWhorld: Bool

  /// - Parameters:
  ///   - address: of the bus; nil is the system bus.
  ///   - mustBeWhorld: whether another daemon with that name, such as fprintd, is refused.
  nonisolated init(service: String, address: String?, mustBeWhorld: Bool = false) {
    self.service = service
    self.address = address
    self.mustBeWhorld = mustBeWhorld
  }

  /// Whether there is an owner of that name, or one that the bus can start. Starts nothing; true where the bus does not
  /// say.
  func isThere(_ name: String) async -> Bool {
    do throws(BusError) {
      let bus = try await connection()
      if try await bus.owner(of: name) != nil { return true }
      let driver = "org.freedesktop.DBus"
      let reply = try await bus.call(
        destination: driver, path: "/org/freedesktop/DBus", interface: driver, method: "ListActivatableNames",
        expecting: "as")
      return reply.arguments[0].asStrings?.contains(name) ?? true
    } catch {
      return true
    }
  }

  /// The service as it is now, started if need be.
  func current() async throws(WhorlError) -> Peer {
    if let peer, !peer.bus.isClosed { return peer }
    // Several requests at once share one search.
    let task =
      connecting
      ?? Task { @GLibActor in
        do throws(WhorlError) { return .success(try await self.connect()) } catch { return .failure(error) }
      }
    connecting = task
    let result = await task.value
    if connecting == task { connecting = nil }
    peer = try result.get()
    return try result.get()
  }

  /// Closes the connection, which ends what runs on it. The next request opens another.
  func close() {
    bus?.close()
    bus = nil
    authorizing = nil
    peer = nil
  }

  private func connect() async throws(WhorlError) -> Peer {
    let peer: Peer
    let uid: UInt32
    do throws(BusError) {
      peer = try await find()
      uid = try await peer.bus.credentials(of: peer.name).uid
    } catch {
      let problem = WhorlError(connectingTo: service, error)
      // fprintd on its name keeps whorld, which needs both, from starting.
      if problem.code == .noDaemon, service == Self.whorld, let bus, !bus.isClosed,
        (try? await bus.owner(of: Self.fprint)) != nil
      {
        throw Self.otherDaemon
      }
      throw problem
    }
    try checkOwner(uid, of: service)
    if mustBeWhorld { try await requireWhorld(peer) }
    if onAuthorizing != nil { listen(to: peer) }
    return peer
  }

  private static let whorld = "org.whorl"
  private static let fprint = "net.reactivated.Fprint"
  private static let otherDaemon = WhorlError(
    .otherDaemon, "fprintd runs in whorld's place; stop it with: sudo systemctl disable --now fprintd, then try again")

  /// whorld has both names, and has org.whorl first.
  private func requireWhorld(_ peer: Peer) async throws(WhorlError) {
    let owner: String?
    do throws(BusError) { owner = try await peer.bus.owner(of: Self.whorld) } catch {
      throw WhorlError(connectingTo: service, error)
    }
    guard owner == peer.name else { throw Self.otherDaemon }
  }

  private func listen(to peer: Peer) {
    authorizing?.cancel()
    // A connection that is closed already makes itself felt at the next call.
    authorizing = try? peer.bus.subscribe(
      sender: peer.name, path: "/org/whorl", interface: "org.whorl.Authentication1", member: "Progress"
    ) { [weak self] signal in
      guard signal.arguments.count == 3, signal.arguments[0] == .uint64(0),
        signal.arguments[1] == .string("authorizing")
      else { return }
      self?.onAuthorizing?(printable(signal.arguments[2].asOptions?["action"]?.asString ?? ""))
    }
  }

  private func connection() async throws(BusError) -> BusConnection {
    if let bus, !bus.isClosed { return bus }
    let new = try await BusConnection.open(address: address)
    bus = new
    return new
  }

  /// The owner of the name, whoever it is.
  private func find() async throws(BusError) -> Peer {
    let bus = try await connection()
    if let owner = try await bus.owner(of: service) { return Peer(bus: bus, name: owner) }
    try await bus.startService(service)
    guard let owner = try await bus.owner(of: service) else { throw .failed("it ended right after its start") }
    return Peer(bus: bus, name: owner)
  }

  /// Calls a method of the service.
  ///
  /// - Parameters:
  ///   - daemon: the instance that must answer, where the call makes sense to that one alone.
  ///   - timeoutMilliseconds: nil where a user is asked: it then lasts for as long as the daemon lives.
  func call(
    _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = [], descriptors: [Int32] = [],
    expecting: String, daemon: String? = nil, timeoutMilliseconds: Int? = BusConnection.usualTimeout,
    options: BusCallOptions = []
  ) async throws(WhorlError) -> BusReply {
    var attempts = 2
    while true {
      attempts -= 1
      let peer = try await current()
      if let daemon, daemon != peer.name { throw .startedAnew }
      do throws(BusError) {
        return try await peer.bus.call(
          destination: peer.name, path: path, interface: interface, method: method, arguments: arguments,
          descriptors: descriptors, expecting: expecting, timeoutMilliseconds: timeoutMilliseconds,
          options: options.union(.noAutoStart))
      } catch {
        // That instance has gone before it got the call: whoever came after it may have it instead.
        if error.isUndelivered {
          self.peer = nil
          if attempts > 0, daemon == nil { continue }
        }
        if error.meansGone { self.peer = nil }
        throw WhorlError(calling: method, error)
      }
    }
  }
}
