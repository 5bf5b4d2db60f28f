import GLibLoop
internal import Glibc
import SecretMemory
import WhorlAgent

/// The console of a real process: its standard descriptors and its terminal.
@GLibActor
final class LiveConsole: Console {
  private let terminal = Terminal()
  /// The same terminal as an agent has it.
  private var lent: PromptTerminal?

  var hasTerminal: Bool { terminal != nil }
  var isForeground: Bool { terminal?.isForeground ?? false }
  var inputIsTerminal: Bool { isatty(0) == 1 }
  var outputIsTerminal: Bool { isatty(1) == 1 }
  var inputDescriptor: Int32 { 0 }
  var outputDescriptor: Int32 { 1 }

  /// Puts the terminal back as it was; for the moment before the program stops or ends.
  func restoreTerminal() {
    terminal?.restore()
    lent?.restore()
  }

  /// Goes on after a stop.
  func reapplyTerminal() async {
    await terminal?.reapply()
    await lent?.reapply()
  }

  func lend(to terminal: PromptTerminal?) { lent = terminal }

  func print(_ line: String) async throws(CommandFailure) {
    try check(try await DescriptorIO.write("\(line)\n", to: 1), "the output")
  }

  func emit(_ secret: borrowing SecretBytes) async throws(CommandFailure) {
    try check(try await DescriptorIO.write(secret, to: 1), "the secret")
    if isatty(1) == 1 { try check(try await DescriptorIO.write("\n", to: 1), "the secret") }
  }

  // A standard error that takes nothing is no reason to stop: the exit code still tells.
  func tell(_ line: String) async { _ = try? await DescriptorIO.write("\(line)\n", to: 2) }

  func complain(_ line: String) async {
    // Also after the command's task was cancelled.
    await Task { @GLibActor in _ = try? await DescriptorIO.write("whorl: \(line)\n", to: 2) }.value
  }

  func readInput(limit: Int) async throws(CommandFailure) -> SecretBytes {
    try await DescriptorIO.readToEnd(0, limit: limit, what: "standard input")
  }

  func ask(_ prompt: String) async throws(CommandFailure) -> SecretBytes {
    guard let terminal else { throw noTerminal }
    return try await terminal.ask(prompt)
  }

  func confirm(_ question: String) async throws(CommandFailure) -> Bool {
    guard let terminal else { throw noTerminal }
    return try await terminal.confirm(question)
  }

  func hush() { terminal?.hush() }

  func unhush() { terminal?.unhush() }

  func waitForEnter() async -> Bool { await terminal?.waitForEnter() ?? false }

  private var noTerminal: CommandFailure {
    CommandFailure(.noTerminal, "there is no terminal to ask on; run whorl on one")
  }

  private func check(_ code: Int32?, _ what: String) throws(CommandFailure) {
    guard let code else { return }
    // Whoever read the output has seen enough, as `head` does: no news for anybody.
    if code == EPIPE { throw CommandFailure(.failed, "") }
    throw CommandFailure(
      .failed, "\(what) could not be written to standard output: \(SystemText.error(code)); redirect it elsewhere")
  }
}
