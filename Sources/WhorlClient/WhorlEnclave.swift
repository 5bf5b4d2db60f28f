internal import Synchronization

/// Which enclave Apple's functions reach. Those are global, so this is, too: the one piece of state that the whole process
/// shares. The daemon on the system bus, unless `WhorlEmbedded` put another in its place.
package enum WhorlEnclave {
  private static let current = Mutex<any BlockingTransport>(BlockingBusTransport())

  /// Another for what runs in this scope alone: tests have many at once.
  @TaskLocal package static var scoped: (any BlockingTransport)?

  /// The way to it.
  package static var transport: any BlockingTransport { scoped ?? current.withLock { $0 } }

  /// Puts another in its place, from the next request on.
  package static func use(_ transport: any BlockingTransport) { current.withLock { $0 = transport } }
}
