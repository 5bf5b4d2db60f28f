internal import CGLib
internal import Glibc
internal import Synchronization

/// Closes what others sent us, which may take as long as they like: a socket that lingers over unsent data, a file on
/// a FUSE mount whose server is theirs, a pipe whose lock a stuck write holds.
///
/// Threads of its own do it, a few at most, each started when there is something to close and ended when there is
/// nothing. What they cannot do yet waits and stays open: better than that the bus or the loop does.
final class Closer: Sendable {
  static let shared = Closer()

  private struct Entry {
    let descriptor: Int32
    let isAbandoned: Bool
  }

  private struct State {
    var queue: [Entry] = []
    var threads = 0
  }

  private static let maximumThreads = 16
  /// F_GET_SEALS, which glibc shows to GNU sources alone.
  private static let getSeals: Int32 = 1034
  private let state = Mutex(State())

  private init() {}

  /// Closes a descriptor without ever waiting for that.
  /// - Parameter isAbandoned: nobody is to use the open file any further: a socket is disconnected first, for all who
  ///   share it, so that there is nothing left for its close to wait for.
  func close(_ descriptor: Int32, isAbandoned: Bool) {
    // Memory files, and nothing else, have seals; they have no flush, and no lock that another could hold meanwhile.
    if fcntl(descriptor, Self.getSeals) >= 0 {
      _ = Glibc.close(descriptor)
      return
    }
    let mustStart = state.withLock { state in
      state.queue.append(Entry(descriptor: descriptor, isAbandoned: isAbandoned))
      guard state.threads < Self.maximumThreads else { return false }
      state.threads += 1
      return true
    }
    // Where no thread can be had, a later close or a thread that runs still takes it along.
    if mustStart, !Self.startThread() { state.withLock { $0.threads -= 1 } }
  }

  private static func startThread() -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 256 << 10)
    var thread = pthread_t()
    return pthread_create(
      &thread, &attributes,
      { _ in
        // Signals are for the threads that expect them.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        Closer.shared.work()
        return nil
      }, nil) == 0
  }

  private func work() {
    while let entry = next() {
      if entry.isAbandoned { Self.disconnect(entry.descriptor) }
      _ = Glibc.close(entry.descriptor)
    }
  }

  /// Nil ends the thread: that there is nothing more and that it is gone are one step.
  private func next() -> Entry? {
    state.withLock { state in
      if state.queue.isEmpty {
        state.threads -= 1
        return nil
      }
      return state.queue.removeFirst()
    }
  }

  private static func disconnect(_ descriptor: Int32) {
    var off = linger(l_onoff: 0, l_linger: 0)
    // Fails for everything that is no socket.
    guard setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &off, socklen_t(MemoryLayout<linger>.size)) == 0 else { return }
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    _ = connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
  }
}
