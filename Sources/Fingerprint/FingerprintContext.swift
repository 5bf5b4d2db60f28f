internal import CFPrint
internal import CGLib
public import GLibLoop

/// libfprint's view of the readers that are plugged in. One a process.
@GLibActor
public final class FingerprintContext {
  // A reference of ours.
  private let context: UnsafeMutablePointer<FpContext>
  private var signals: [gulong] = []
  private var known: [Reader] = []
  private var enumerated = false

  /// Told after a reader was plugged in, once ``enumerate()`` has returned.
  public var onAdded: (@GLibActor (Reader) -> Void)?
  /// Told after a reader was unplugged and closed.
  public var onRemoved: (@GLibActor (Reader) -> Void)?

  /// A context that has looked for nothing yet.
  public init() {
    context = fp_context_new()  // transfer full
    let added: @convention(c) (gpointer?, UnsafeMutablePointer<FpDevice>?, gpointer?) -> Void = { _, device, data in
      FingerprintContext.withContext(data, device) { $0.add($1) }
    }
    let removed: @convention(c) (gpointer?, UnsafeMutablePointer<FpDevice>?, gpointer?) -> Void = { _, device, data in
      FingerprintContext.withContext(data, device) { $0.remove($1) }
    }
    connect("device-added", unsafeBitCast(added, to: GCallback.self))
    connect("device-removed", unsafeBitCast(removed, to: GCallback.self))
  }

  /// The readers that are there. Looks for them the first time; later calls give the list as it has become.
  public func enumerate() async -> [Reader] {
    if enumerated { return known }
    await withCheckedContinuation { waiter in
      // libfprint iterates the default context while it probes its drivers. From a source of its own rather than from
      // this job, so that no job of the actor runs inside another.
      let request = Enumeration(context: self, waiter: waiter)
      g_idle_add_full(
        G_PRIORITY_DEFAULT,
        { data in
          guard let data else { return 0 }
          GLibActor.assumeIsolated { Unmanaged<Enumeration>.fromOpaque(data).takeUnretainedValue().run() }
          return 0
        }, Unmanaged.passRetained(request).toOpaque(),
        { data in if let data { Unmanaged<Enumeration>.fromOpaque(data).release() } })
    }
    return known
  }

  /// Leaves a reader out of the list, as one that is gone although libfprint does not say so.
  public func forget(_ reader: Reader) { known.removeAll { $0 === reader } }

  fileprivate func probe() {
    // The array and its devices stay libfprint's (transfer none).
    guard !enumerated, let devices = fp_context_get_devices(context) else { return }
    for index in 0..<Int(devices.pointee.len) {
      guard let device = devices.pointee.pdata[index] else { continue }
      note(device.assumingMemoryBound(to: FpDevice.self))
    }
    enumerated = true
  }

  @discardableResult
  private func note(_ device: UnsafeMutablePointer<FpDevice>) -> Reader? {
    if known.contains(where: { $0.device == device }) { return nil }
    let reader = Reader(device)
    known.append(reader)
    return reader
  }

  private func add(_ device: UnsafeMutablePointer<FpDevice>) {
    // While it enumerates, libfprint announces what it will list in a moment.
    if let reader = note(device), enumerated { onAdded?(reader) }
  }

  private func remove(_ device: UnsafeMutablePointer<FpDevice>) {
    guard let index = known.firstIndex(where: { $0.device == device }) else { return }
    let reader = known.remove(at: index)
    if enumerated { onRemoved?(reader) }
  }

  // MARK: Signals

  private func connect(_ signal: String, _ callback: GCallback) {
    signals.append(
      g_signal_connect_data(
        context, signal, callback, Unmanaged.passRetained(WeakContext(self)).toOpaque(),
        { data, _ in if let data { Unmanaged<WeakContext>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0)))
  }

  private nonisolated static func withContext(
    _ data: gpointer?, _ device: UnsafeMutablePointer<FpDevice>?,
    _ body: @GLibActor (FingerprintContext, UnsafeMutablePointer<FpDevice>) -> Void
  ) {
    guard let data, let device else { return }
    let box = Unmanaged<WeakContext>.fromOpaque(data).takeUnretainedValue()
    nonisolated(unsafe) let subject = device  // Stays on this thread: assumeIsolated runs in place.
    GLibActor.assumeIsolated { if let context = box.context { body(context, subject) } }
  }

  isolated deinit {
    for signal in signals { g_signal_handler_disconnect(context, signal) }
    g_object_unref(context)
  }
}

@GLibActor
private final class WeakContext {
  weak var context: FingerprintContext?

  init(_ context: FingerprintContext) { self.context = context }
}

@GLibActor
private final class Enumeration {
  let context: FingerprintContext
  let waiter: CheckedContinuation<Void, Never>

  init(context: FingerprintContext, waiter: CheckedContinuation<Void, Never>) {
    self.context = context
    self.waiter = waiter
  }

  func run() {
    context.probe()
    waiter.resume()
  }
}
