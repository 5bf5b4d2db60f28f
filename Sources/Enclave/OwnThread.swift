internal import CPosix
internal import Glibc

/// Work that keeps a processor busy for a second, on a thread of its own: those that run tasks have others waiting.
enum OwnThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` to its end; false where no thread could be had.
  static func run(_ body: @escaping @Sendable () -> Void) async -> Bool {
    await withCheckedContinuation { continuation in
      let work = Work {
        body()
        continuation.resume(returning: true)
      }
      if !start(work) { continuation.resume(returning: false) }
    }
  }

  private static func start(_ work: Work) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    var thread = pthread_t()
    // The thread takes the reference over, or where there is none it is given back.
    let reference = Unmanaged.passRetained(work)
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        // Signals are for the threads that expect them.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, reference.toOpaque())
    if code != 0 { reference.release() }
    return code == 0
  }
}
