import CTaskPool
import GLibLoop
import Glibc
import WhorlDaemon

/// whorld, the daemon: see whorld(8).
@main
struct Main {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    // fprintd's option for staying although nobody asks; whorld stays in any case.
    if let unknown = arguments.first(where: { $0 != "-t" && $0 != "--no-timeout" }) {
      Log.failure("whorld: unknown argument \(unknown); it takes none (see whorld(8))")
      exit(2)
    }
    // Idle, the daemon wakes for nothing: see CTaskPool. Four threads: whatever blocks for long has its own.
    let error = whorl_taskpool_install(4)
    if error != 0 { Log.warning("no threads of its own (error \(error)): whorld wakes once a second when idle") }
    exit(GLibLoop.run { await Daemon.run() })
  }
}
