import GLibLoop
import WhorlClient
internal import Glibc
internal import SecretMemory

/// The program `whorl`.
public enum WhorlProgram {
  /// Runs one command to its end on the calling thread, which must be the process's only one so far.
  ///
  /// - Parameter words: the words after the program's name; nil for one that is not UTF-8.
  /// - Returns: the process's exit code, as whorl(1) lists them.
  public static func run(_ words: [String?]) -> Int32 {
    fillStandardDescriptors()
    // Whoever reads our output and ends early is met as an error of write.
    signal(SIGPIPE, SIG_IGN)
    SignalWatch.blockSignals()
    // Where the kernel refuses, the secrets are still in memory that dumps leave out.
    try? CoreDumps.forbid()
    return GLibLoop.run { await live(words) }.rawValue
  }

  /// Opens what is closed of the first three descriptors, so that no later one, such as the bus, is taken for
  /// standard output. What is opened fails when it is used.
  private static func fillStandardDescriptors() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  @GLibActor
  private static func live(_ words: [String?]) async -> ExitCode {
    let console = LiveConsole()
    let commands = Commands(console: console, surroundings: .live, service: BusService())
    let work = Task { @GLibActor in await commands.run(words) }
    var ending = false
    var watch: SignalWatch?
    watch = SignalWatch { arrival in
      switch arrival {
      case .end:
        // The second time, whatever still runs is left where it is: the daemon lets go when the bus does.
        if ending {
          console.restoreTerminal()
          exit(ExitCode.cancelled.rawValue)
        }
        ending = true
        work.cancel()
      case .stop:
        console.restoreTerminal()
        watch?.stopProcess()
      case .goOn: Task { @GLibActor in await console.reapplyTerminal() }
      }
    }
    let code = await work.value
    console.restoreTerminal()
    withExtendedLifetime(watch) {}
    return code
  }
}
