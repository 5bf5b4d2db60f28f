internal import CGLib

/// Watches a file descriptor on the default main context until it is cancelled or let go.
@GLibActor
public final class FDWatch {
  /// What a descriptor is ready for.
  public struct Conditions: OptionSet, Sendable, Hashable {
    /// The bits, in an order of our own.
    public let rawValue: UInt8
    /// The conditions with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes can be read.
    public static let readable = Conditions(rawValue: 1)
    /// Bytes can be written.
    public static let writable = Conditions(rawValue: 2)
    /// The other end is gone; reported whether asked for or not.
    public static let hangup = Conditions(rawValue: 4)
    /// The descriptor is broken or closed; reported whether asked for or not.
    public static let failure = Conditions(rawValue: 8)
  }

  private var source: UInt32 = 0

  /// Calls `handler` each time that the descriptor is ready, for as long as it stays so.
  ///
  /// The descriptor stays the caller's: cancel the watch before closing it.
  public init(descriptor: Int32, for conditions: Conditions, handler: @escaping @GLibActor (Conditions) -> Void) {
    var wanted: UInt32 = G_IO_HUP.rawValue | G_IO_ERR.rawValue | G_IO_NVAL.rawValue
    if conditions.contains(.readable) { wanted |= G_IO_IN.rawValue }
    if conditions.contains(.writable) { wanted |= G_IO_OUT.rawValue }
    // Retained for the source; released by its destroy notify.
    source = g_unix_fd_add_full(
      G_PRIORITY_DEFAULT, descriptor, GIOCondition(rawValue: wanted),
      { _, ready, data in
        guard let data else { return 0 }
        let box = Unmanaged<HandlerBox>.fromOpaque(data).takeUnretainedValue()
        GLibActor.assumeIsolated { box.handler(Conditions(ready)) }
        return 1
      }, Unmanaged.passRetained(HandlerBox(handler)).toOpaque(),
      { data in if let data { Unmanaged<HandlerBox>.fromOpaque(data).release() } })
  }

  /// Ends the watch; the handler is not called again. Does nothing the second time.
  public func cancel() {
    if source != 0 { g_source_remove(source) }
    source = 0
  }

  isolated deinit { if source != 0 { g_source_remove(source) } }
}

extension FDWatch.Conditions {
  init(_ ready: GIOCondition) {
    self = []
    if ready.rawValue & G_IO_IN.rawValue != 0 { insert(.readable) }
    if ready.rawValue & G_IO_OUT.rawValue != 0 { insert(.writable) }
    if ready.rawValue & G_IO_HUP.rawValue != 0 { insert(.hangup) }
    if ready.rawValue & (G_IO_ERR.rawValue | G_IO_NVAL.rawValue) != 0 { insert(.failure) }
  }
}

@GLibActor
private final class HandlerBox {
  let handler: @GLibActor (FDWatch.Conditions) -> Void

  init(_ handler: @escaping @GLibActor (FDWatch.Conditions) -> Void) { self.handler = handler }
}
