// whorl-embedded: what stands between a program that hosts an enclave of its own (the library WhorlEmbedded) and that
// enclave: a private bus, whorld, who says what may be done with the readers, and who passes questions on.
//
// usage: whorl-embedded FOLDER PROGRAMS [--asks]      started by the library; ends with its standard input
//        whorl-embedded --run PARENT PROGRAM ARGUMENTS...   becomes PROGRAM, and ends with the process PARENT

import CTaskPool
import EmbeddedLink
import GLibLoop
import Glibc

@main struct Main {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == EmbeddedLink.runOption { exit(Trampoline.run(Array(arguments.dropFirst()))) }
    guard let order = Order(arguments) else {
      let line = "whorl-embedded: it is started by programs that use the library WhorlEmbedded, not by hand\n"
      _ = write(STDERR_FILENO, line, line.utf8.count)
      exit(2)
    }
    // Idle, it wakes for nothing (see CTaskPool); where that fails it wakes once a second.
    _ = whorl_taskpool_install(2)
    exit(GLibLoop.run { await Keeper(order).run() })
  }
}

/// What the helper was told.
struct Order: Sendable {
  /// The enclave's folder, absolute.
  let folder: String
  /// Where whorld and the others are.
  let programs: String
  /// Whether the program that started us asks for passcodes.
  let asks: Bool

  init?(_ arguments: [String]) {
    guard (2...3).contains(arguments.count), arguments.prefix(2).allSatisfy({ $0.hasPrefix("/") }) else { return nil }
    guard arguments.count == 2 || arguments[2] == EmbeddedLink.asksOption else { return nil }
    folder = arguments[0]
    programs = arguments[1]
    asks = arguments.count == 3
  }
}
