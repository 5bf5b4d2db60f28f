internal import CPosix
internal import Glibc

/// Threads for what waits: an answer of the enclave's, a person. Foundation's `Thread` says nothing where none can be had.
package enum LibraryThread {
  /// The bytes of a thread's stack; nil: the system's choice. For tests, which ask for more than there can be.
  @TaskLocal package static var stackBytes: Int?

  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread.
  /// - Returns: false where there is none to be had (a limit on processes, memory): `body` does not run then.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
    // Taken over by the thread, where there is one.
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { data in
        if let data { Unmanaged<Work>.fromOpaque(data).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    if code != 0 { work.release() }
    return code == 0
  }

  /// What is said where there is none.
  package static let unavailable = WhorlError(
    .busy, "No thread can be started to wait in; end some of the account's programs.")
}
