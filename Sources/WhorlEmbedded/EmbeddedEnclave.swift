internal import Bus
public import Foundation
internal import Glibc
internal import Synchronization
internal import WhorlClient

/// An enclave of the program's own, beside it: for tests, demos, and apps on machines where nobody installed the daemon.
///
/// From ``start(folder:programs:environment:passcode:)-(String,_,_,_)`` to ``stop()``, or until the last reference to it goes,
/// `Security`, `LocalAuthentication` and `BiometricsVault` use it in place of the system's daemon. It consists of the same
/// programs as that, run as children of this process: keys and secrets are in none of this process's memory, and what is
/// asked of it never needs Swift's thread pool. They end when this process does, whatever ends it.
///
/// It is weaker than the installed daemon: see <doc:WhorlEmbedded>. It says so on standard error when it starts.
public final class EmbeddedEnclave: Sendable {
  /// The real path of the folder with its state.
  public let folder: String

  private let helper: Helper
  private let pump: EventPump
  /// The process that started it; a fork of that has no enclave.
  private let process = getpid()
  private let hasStopped = Mutex(false)

  private init(folder: String, helper: Helper, pump: EventPump) {
    self.folder = folder
    self.helper = helper
    self.pump = pump
  }

  deinit { stop() }

  /// Starts the enclave, and has this process use it. Blocks the calling thread, for about a second.
  ///
  /// - Parameters:
  ///   - folder: where its state is kept, from one start to the next; made where it is missing, with mode 0700. It must
  ///     belong to this user and be closed to all others, and nobody else may write to a folder above it.
  ///   - programs: the folder with whorl-embedded, whorld, whorl-reader and whorl-passcode; nil looks beside this program,
  ///     where SwiftPM builds them, and where Whorl is installed.
  ///   - environment: the enclave's variables; nil is this process's own. `FP_` variables choose libfprint's virtual
  ///     readers.
  ///   - passcode: asked for the login password, on a thread of its own, whenever the enclave wants it; it may take as long
  ///     as a person does. Nil, or nothing, declines. Without it `whorl agent` asks, on the desktop or
  ///     on this program's terminal, where the command `whorl` is among the programs; otherwise what needs the passcode
  ///     fails.
  /// - Throws: `.alreadyRunning` (this process has one: one folder at a time), `.unsafeFolder`, `.folderInUse` (another
  ///   process has one there), `.cannotStart`.
  public static func start(
    folder: String, programs: String? = nil, environment: [String: String]? = nil,
    passcode: (@Sendable (EmbeddedRequest) -> Data?)? = nil
  ) throws(EmbeddedError) -> EmbeddedEnclave {
    guard WhorlEnclave.reserve() else {
      throw EmbeddedError(
        .alreadyRunning, "This process has an enclave already, and Apple's functions know one; stop that first.")
    }
    do throws(EmbeddedError) {
      let state = try StateFolder(folder)
      let variables = environment ?? ProcessInfo.processInfo.environment
      let programs = try ProgramFolder.find(programs)
      let helper = try Helper.start(
        folder: state.path, programs: programs, asks: passcode != nil,
        environment: variables.map { "\($0.key)=\($0.value)" })
      let bus: BlockingBus
      do { bus = try BlockingBus.open(address: helper.address) } catch {
        helper.end()
        throw EmbeddedError(.cannotStart, "The enclave cannot be reached: \(error)")
      }
      let enclave = EmbeddedEnclave(folder: state.path, helper: helper, pump: EventPump(bus: bus, passcode: passcode))
      enclave.pump.start()
      let command = programs + "/whorl"
      WhorlEnclave.use(
        BlockingBusTransport(
          address: helper.address, asksOnTerminal: passcode == nil,
          agentProgram: access(command, X_OK) == 0 ? command : nil))
      warn(state.path)
      return enclave
    } catch {
      WhorlEnclave.release()
      throw error
    }
  }

  /// As ``start(folder:programs:environment:passcode:)-(String,_,_,_)``, for a file URL.
  public static func start(
    folder: URL, programs: String? = nil, environment: [String: String]? = nil,
    passcode: (@Sendable (EmbeddedRequest) -> Data?)? = nil
  ) throws(EmbeddedError) -> EmbeddedEnclave {
    guard folder.isFileURL else {
      throw EmbeddedError(.unsafeFolder, "The state folder must be a file URL, and is \(folder.absoluteString).")
    }
    return try start(folder: folder.path, programs: programs, environment: environment, passcode: passcode)
  }

  private static func warn(_ folder: String) {
    let line =
      "WhorlEmbedded: this enclave runs with your own rights: any other program of yours can enrol fingers in it, read "
      + "\(folder), or trace it; install Whorl's daemon for more.\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
  }

  /// Ends the enclave's programs, waits for them, removes the folder of its bus, and has this process use what it used
  /// before. Its state stays. Blocks the calling thread for a moment; does nothing the second time.
  public func stop() {
    let isFirst = hasStopped.withLock { hasStopped in
      defer { hasStopped = true }
      return !hasStopped
    }
    guard isFirst else { return }
    WhorlEnclave.release()
    guard process == getpid() else { return helper.forget() }
    pump.stop()
    helper.end()
  }

  // MARK: Fingers

  /// The names of all fingers there are.
  public static let fingerNames = ["left", "right"].flatMap { side in
    ["thumb", "index-finger", "middle-finger", "ring-finger", "little-finger"].map { "\(side)-\($0)" }
  }

  private static func check(_ finger: String) throws(EmbeddedError) {
    guard fingerNames.contains(finger) else {
      throw EmbeddedError(
        .invalidArgument, "There is no finger \(finger); it is one of \(fingerNames.joined(separator: ", ")).")
    }
  }

  /// The names of the enrolled fingers, such as right-index-finger.
  public func fingers() async throws(EmbeddedError) -> [String] {
    try await pump.run("Fingers", nil)["fingers"]?.asStrings ?? []
  }

  /// Enrols a finger of this user, and has it open secrets, for which the passcode is asked at the end.
  ///
  /// Cancelling the task stops it.
  /// - Parameters:
  ///   - finger: one of ``fingerNames``.
  ///   - progress: what the person is to be told, on another thread; the call returns after the last of them.
  /// - Throws: `.notRegistered` where the finger is enrolled now and no passcode was given, so that it opens nothing.
  public func enroll(
    finger: String, progress: @escaping @Sendable (EnrollmentStep) -> Void = { _ in }
  ) async throws(EmbeddedError) {
    try Self.check(finger)
    _ = try await pump.run("Enroll", finger, progress: progress)
  }

  /// Has an enrolled finger open secrets, for which the passcode is asked.
  public func register(finger: String) async throws(EmbeddedError) {
    try Self.check(finger)
    _ = try await pump.run("Register", finger)
  }

  /// Deletes an enrolled finger. Items that are bound to the set of fingers (`biometryCurrentSet`) are gone with it.
  public func delete(finger: String) async throws(EmbeddedError) {
    try Self.check(finger)
    _ = try await pump.run("Delete", finger)
  }
}
