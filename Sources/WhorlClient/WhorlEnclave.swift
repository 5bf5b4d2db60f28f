internal import Synchronization

/// Which enclave Apple's functions reach. Those are global, so this is, too: the one piece of state that the whole process
/// shares. The daemon on the system bus, unless `WhorlEmbedded` put another in its place.
package enum WhorlEnclave {
  private struct State {
    var transport: any BlockingTransport
    /// What a program that has an enclave of its own used before; nil where it has none.
    var former: (any BlockingTransport)?
  }

  private static let current = Mutex(State(transport: BlockingBusTransport()))

  /// Another for what runs in this scope alone: tests have many at once.
  @TaskLocal package static var scoped: (any BlockingTransport)?

  /// The way to it.
  package static var transport: any BlockingTransport { scoped ?? current.withLock { $0.transport } }

  /// Takes the place for another, which ``use(_:)`` then fills, until ``release()``.
  /// - Returns: false where it is taken.
  package static func reserve() -> Bool {
    current.withLock { state in
      guard state.former == nil else { return false }
      state.former = state.transport
      return true
    }
  }

  /// Puts another in the place that was reserved, from the next request on.
  package static func use(_ transport: any BlockingTransport) { current.withLock { $0.transport = transport } }

  /// Puts the former one back.
  package static func release() {
    current.withLock { state in
      if let former = state.former { state.transport = former }
      state.former = nil
    }
  }
}
