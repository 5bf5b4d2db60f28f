internal import CPosix
internal import Glibc

/// Starts child programs that inherit nothing by accident: posix_spawn(3) with exactly the environment and descriptors
/// given, default signal actions and an empty signal mask. No shell.
public enum ChildProcess {
  /// What one of the child's descriptors is.
  public enum Descriptor: Sendable {
    /// A duplicate of this descriptor of ours.
    case duplicate(Int32)
    /// /dev/null.
    case nothing
  }

  /// Why a program was not started: the error number (see errno(3)).
  public struct Failure: Error, Sendable {
    /// The error number.
    public let code: Int32
    /// What it says, in the C locale's words.
    public var text: String { String(cString: strerror(code)) }
  }

  /// Starts `program`; any thread.
  ///
  /// - Parameters:
  ///   - arguments: without the program's name.
  ///   - environment: all of it, as NAME=VALUE.
  ///   - descriptors: the child's descriptors from 0 on; it has no others. Ours that are duplicated must have numbers
  ///     not below theirs, which holds wherever 0 to 2 are open.
  ///   - ownGroup: whether the child gets a process group of its own, so that a Ctrl-C on our terminal passes it by.
  /// - Returns: the child's process number; the caller reaps it.
  public static func spawn(
    _ program: String, _ arguments: [String] = [], environment: [String], descriptors: [Descriptor],
    ownGroup: Bool = false
  ) throws(Failure) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, descriptor) in descriptors.enumerated() {
      switch descriptor {
      case .duplicate(let source): posix_spawn_file_actions_adddup2(&actions, source, Int32(number))
      case .nothing: posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
      }
    }
    cposix_spawn_closefrom(&actions, Int32(descriptors.count))
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    let group = ownGroup ? POSIX_SPAWN_SETPGROUP : 0
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))

    // strdup: ours to free.
    var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, program, &actions, &attributes, &argv, &envp)
    guard code == 0 else { throw Failure(code: code) }
    return pid
  }
}
