internal import CGLib

/// Unix signals as they arrive, taken out of the signal handler's world by GLib.
///
/// The default action of the signals (ending the process) is off for as long as this object lives.
@GLibActor
public final class UnixSignals {
  /// The signals' numbers, in the order in which they arrive. One consumer.
  public nonisolated let arrivals: AsyncStream<Int32>

  private let arrived: AsyncStream<Int32>.Continuation
  private var sources: [UInt32] = []

  /// Listens to these signals.
  ///
  /// - Parameter signals: out of SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and SIGWINCH, which are all that GLib can
  ///   watch; others are left out.
  public init(_ signals: [Int32]) {
    (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    for signal in signals where Self.watchable.contains(signal) {
      // Retained for the source; released by its destroy notify.
      let box = Unmanaged.passRetained(SignalBox(signal: signal, arrived: arrived))
      sources.append(
        g_unix_signal_add_full(
          G_PRIORITY_DEFAULT, signal,
          { data in
            guard let data else { return 0 }
            let box = Unmanaged<SignalBox>.fromOpaque(data).takeUnretainedValue()
            box.arrived.yield(box.signal)
            return 1
          }, box.toOpaque(), { data in if let data { Unmanaged<SignalBox>.fromOpaque(data).release() } }))
    }
  }

  /// SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGTERM, SIGWINCH on Linux.
  private nonisolated static let watchable: Set<Int32> = [1, 2, 10, 12, 15, 28]

  /// Stops listening and ends the stream.
  public func cancel() {
    for source in sources { g_source_remove(source) }
    sources = []
    arrived.finish()
  }

  isolated deinit {
    for source in sources { g_source_remove(source) }
    arrived.finish()
  }
}

private final class SignalBox: Sendable {
  let signal: Int32
  let arrived: AsyncStream<Int32>.Continuation

  init(signal: Int32, arrived: AsyncStream<Int32>.Continuation) {
    self.signal = signal
    self.arrived = arrived
  }
}
