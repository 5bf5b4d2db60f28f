internal import CGLib
public import GLibLoop

/// A connection to a message bus over GDBus, on GLib's default main context.
///
/// It is this process's own: no other user of GDBus shares it. Losing it never ends the process. It closes when it is
/// let go, which its exports and subscriptions do not prevent.
@GLibActor
public final class BusConnection {
  let object: GObjectReference
  /// The connection's name on the bus, such as :1.42.
  public nonisolated let uniqueName: String
  /// Told, one line each, what went wrong on our own side while a call was answered: an error that no handler
  /// should throw, an answer that its interface does not promise. Nothing of it reaches the caller.
  public var onFault: (@GLibActor (String) -> Void)?

  var vanishWatches: [String: [UInt64: @GLibActor () -> Void]] = [:]
  var vanishSubscription: BusSubscription?
  /// The uids of connections that were asked for.
  var users: [String: UInt32] = [:]
  private var closedHandlers: [UInt64: @GLibActor () -> Void] = [:]
  private var lastToken: UInt64 = 0

  private init(_ object: GObjectReference, uniqueName: String) {
    self.object = object
    self.uniqueName = uniqueName
  }

  isolated deinit { g_dbus_connection_close(object.pointer, nil, nil, nil) }

  /// Connects to a bus and greets it.
  ///
  /// - Parameter address: such as unix:path=/run/dbus/system_bus_socket; nil is the system bus, wherever
  ///   DBUS_SYSTEM_BUS_ADDRESS says it is. Only unix: addresses, since others carry no descriptors and no identities.
  /// - Throws: `.cannotConnect`, `.cancelled`.
  public static func open(address: String? = nil) async throws(BusError) -> BusConnection {
    let address = try BusAddress.checked(address)
    let result = await asynchronously(GObjectReference.self) { cancellable, waiter in
      g_dbus_connection_new_for_address(
        address, BusAddress.clientFlags, nil, cancellable, connected, waiter)
    }
    let object: GObjectReference
    switch result {
    case .success(let opened): object = opened
    case .failure(.cancelled): throw .cancelled
    case .failure(let error): throw .cannotConnect(address: address, reason: BusAddress.reason(error))
    }
    g_dbus_connection_set_exit_on_close(object.pointer, 0)
    guard let name = g_dbus_connection_get_unique_name(object.pointer) else {
      throw .cannotConnect(address: address, reason: "the bus gave no name")
    }
    let connection = BusConnection(object, uniqueName: String(cString: name))
    connection.watchClosing()
    return connection
  }

  // MARK: Closing

  /// Whether the connection is gone, from either side.
  public var isClosed: Bool { g_dbus_connection_is_closed(object.pointer) != 0 }

  /// Closes the connection; what waits on it fails with `.closed`. Does nothing the second time.
  public func close() { g_dbus_connection_close(object.pointer, nil, nil, nil) }

  /// Calls `handler` once when the connection is closed from either side; soon, where it is already.
  public func onClosed(_ handler: @escaping @GLibActor () -> Void) -> BusSubscription {
    let token = nextToken()
    closedHandlers[token] = handler
    if isClosed { Task { @GLibActor in self.runClosedHandlers() } }
    return BusSubscription { [weak self] in self?.closedHandlers[token] = nil }
  }

  /// Waits until the connection is closed from either side, or the task is cancelled.
  public func waitUntilClosed() async {
    let (closed, continuation) = AsyncStream.makeStream(of: Void.self)
    let subscription = onClosed { continuation.finish() }
    for await _ in closed {}
    subscription.cancel()
  }

  private func watchClosing() {
    // The box is retained for the handler and released with it. It does not retain the connection.
    let box = Unmanaged.passRetained(ClosingBox(self))
    _ = cglib_connect_closed(object.pointer, connectionClosed, box.toOpaque(), releaseClosingBox)
  }

  fileprivate func runClosedHandlers() {
    let handlers = closedHandlers.sorted { $0.key < $1.key }.map(\.value)
    closedHandlers = [:]
    for handler in handlers { handler() }
    connectionIsGone()
  }

  func nextToken() -> UInt64 {
    lastToken += 1
    return lastToken
  }

  func fault(_ what: String) { onFault?(what) }

  /// Sends everything that was emitted or answered so far.
  ///
  /// For a program that is about to end: without it the last messages may stay behind.
  public func flush() async throws(BusError) {
    let object = self.object
    let result = await asynchronously(Void.self) { cancellable, waiter in
      g_dbus_connection_flush(object.pointer, cancellable, flushed, waiter)
    }
    try result.get()
  }
}

/// Something that goes on until it is cancelled or let go.
@GLibActor
public final class BusSubscription {
  private var ending: (@GLibActor () -> Void)?

  init(_ ending: @escaping @GLibActor () -> Void) { self.ending = ending }

  /// Ends it; its handler is not called again. Does nothing the second time.
  public func cancel() {
    let ending = self.ending
    self.ending = nil
    ending?()
  }

  isolated deinit { ending?() }
}

// MARK: - Callbacks

/// Runs one asynchronous GIO call: `start` gives GIO the cancellable, which the task's cancellation sets off, and the
/// waiter as the callback's data. The callback resumes the waiter exactly once.
@GLibActor
func asynchronously<Value: Sendable>(
  _ type: Value.Type, _ start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
) async -> Result<Value, BusError> {
  let cancellable = Cancellable()
  return await withTaskCancellationHandler {
    await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, BusError>, Never>) in
      // Retained for the call; the callback takes that over in resume.
      let waiter = Unmanaged.passRetained(Waiter(continuation)).toOpaque()
      start(cancellable.pointer, waiter)
    }
  } onCancel: {
    cancellable.cancel()
  }
}

/// The continuation of one asynchronous GIO call, on its way through C.
final class Waiter<Value: Sendable> {
  private let continuation: CheckedContinuation<Result<Value, BusError>, Never>

  init(_ continuation: CheckedContinuation<Result<Value, BusError>, Never>) { self.continuation = continuation }

  static func resume(_ data: UnsafeMutableRawPointer?, _ result: Result<Value, BusError>) {
    guard let data else { return }
    Unmanaged<Waiter<Value>>.fromOpaque(data).takeRetainedValue().continuation.resume(returning: result)
  }
}

private func connected(
  _ source: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: UnsafeMutableRawPointer?
) {
  var error: UnsafeMutablePointer<GError>?
  if let connection = g_dbus_connection_new_for_address_finish(result, &error) {
    addIncomingFilter(to: connection)
    Waiter.resume(data, .success(GObjectReference(owning: connection)))
  } else {
    Waiter<GObjectReference>.resume(data, .failure(consume(error)))
  }
}

private func flushed(
  _ source: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: UnsafeMutableRawPointer?
) {
  var error: UnsafeMutablePointer<GError>?
  let connection = source.map { OpaquePointer($0) }
  if g_dbus_connection_flush_finish(connection, result, &error) != 0 {
    Waiter.resume(data, .success(()))
  } else {
    Waiter<Void>.resume(data, .failure(consume(error)))
  }
}

@GLibActor
private final class ClosingBox {
  weak var connection: BusConnection?

  init(_ connection: BusConnection) { self.connection = connection }
}

private func connectionClosed(
  _ connection: OpaquePointer?, _ remote: gboolean, _ error: UnsafeMutablePointer<GError>?,
  _ data: UnsafeMutableRawPointer?
) {
  guard let data else { return }
  let box = Unmanaged<ClosingBox>.fromOpaque(data).takeUnretainedValue()
  GLibActor.assumeIsolated { box.connection?.runClosedHandlers() }
}

private func releaseClosingBox(_ data: UnsafeMutableRawPointer?, _ closure: UnsafeMutablePointer<GClosure>?) {
  if let data { Unmanaged<ClosingBox>.fromOpaque(data).release() }
}
