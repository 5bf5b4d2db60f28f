internal import Bus
internal import Glibc
internal import Synchronization

/// As ``ServiceLink``, for threads that wait: connects, has the daemon started, and checks whose it is, before anything
/// is sent to it.
final class BlockingLink: Sendable {
  /// One instance of the daemon, on one connection.
  struct Peer: Sendable {
    let bus: BlockingBus
    let name: String
  }

  private struct State {
    var peer: Peer?
    /// The process that made the connection; a fork of it can neither use that nor make its own.
    var process: pid_t = 0
    /// Connections of the process that this one was forked from: letting them go would end them for that one.
    var inherited: [Peer] = []
  }

  private static let service = "org.whorl"
  private let address: String?
  /// Held for moments only, so that what must not wait can take it.
  private let state = Mutex(State())
  /// Held while a thread connects.
  private let connecting = Mutex(())

  init(address: String?) { self.address = address }

  /// The daemon as it is now, started if need be. Who comes while another thread connects waits for that.
  func current() throws(WhorlError) -> Peer {
    if let peer = known() { return peer }
    return try connecting.withLock { (_) throws(WhorlError) in
      if let peer = known() { return peer }
      let peer = try connect(over: state.withLock { $0.process == getpid() ? $0.peer?.bus : nil })
      state.withLock { state in
        state.peer = peer
        state.process = getpid()
      }
      return peer
    }
  }

  private func known() -> Peer? {
    state.withLock { state in
      guard let peer = state.peer else { return nil }
      guard state.process == getpid() else {
        state.inherited.append(peer)
        state.peer = nil
        return nil
      }
      return peer.bus.isClosed ? nil : peer
    }
  }

  /// That instance has gone.
  private func drop(_ peer: Peer) {
    state.withLock { state in
      if state.peer?.name == peer.name { state.peer = nil }
    }
  }

  private func connect(over open: BlockingBus?) throws(WhorlError) -> Peer {
    let peer: Peer
    let uid: UInt32
    do throws(BusError) {
      let bus = if let open, !open.isClosed { open } else { try BlockingBus.open(address: address) }
      peer = try find(on: bus)
      uid = try bus.user(of: peer.name)
    } catch {
      throw WhorlError(connectingTo: Self.service, error)
    }
    try checkOwner(uid, of: Self.service)
    return peer
  }

  private func find(on bus: BlockingBus) throws(BusError) -> Peer {
    if let owner = try bus.owner(of: Self.service) { return Peer(bus: bus, name: owner) }
    try bus.startService(Self.service)
    guard let owner = try bus.owner(of: Self.service) else { throw .failed("it ended right after its start") }
    return Peer(bus: bus, name: owner)
  }

  /// Makes a call and waits for its answer.
  ///
  /// - Parameters:
  ///   - daemon: the instance that must answer, where the call makes sense to that one alone.
  ///   - timeoutMilliseconds: nil where a person is asked.
  ///   - sent: called once the call is on its way, with where it went.
  func call(
    _ call: WhorlCall, file: BusDescriptor? = nil, daemon: String? = nil,
    timeoutMilliseconds: Int? = BusConnection.usualTimeout, sent: (Peer) -> Void = { _ in }
  ) throws(WhorlError) -> BusReply {
    // The file is kept until the call is over, then closed.
    let descriptors = file.map { file in file.withDescriptor { [$0] } } ?? []
    defer { file?.close() }
    var attempts = 2
    while true {
      attempts -= 1
      let peer = try current()
      if let daemon, daemon != peer.name { throw .startedAnew }
      do throws(BusError) {
        return try peer.bus.call(
          destination: peer.name, path: WhorlCall.path, interface: call.interface, method: call.method,
          arguments: call.arguments, descriptors: descriptors, expecting: call.expecting,
          timeoutMilliseconds: timeoutMilliseconds, options: .noAutoStart, sent: { sent(peer) })
      } catch {
        if error.meansGone { drop(peer) }
        if error.isUndelivered, daemon != nil { throw .startedAnew }
        if error.isUndelivered, attempts > 0 { continue }
        throw WhorlError(calling: call.method, error)
      }
    }
  }

  /// Sends a call to the daemon that a context belongs to, without waiting; nothing where that is gone.
  func send(_ call: WhorlCall, to daemon: String) {
    let peer = state.withLock { state in state.process == getpid() ? state.peer : nil }
    guard let peer, peer.name == daemon else { return }
    Self.send(call, to: peer)
  }

  /// Sends a call without waiting; nothing where the connection is gone, since the daemon ends what was on it.
  static func send(_ call: WhorlCall, to peer: Peer) {
    try? peer.bus.send(
      destination: peer.name, path: WhorlCall.path, interface: call.interface, method: call.method,
      arguments: call.arguments)
  }
}
