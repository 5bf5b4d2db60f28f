import GLibLoop
import SecretMemory
import WhorlAgent

/// Where a command talks to people and to other programs. The live one has the process's descriptors and its
/// terminal; tests script one of their own.
@GLibActor
protocol Console: AnyObject {
  /// Whether there is a terminal to ask on (`/dev/tty`), wherever standard input and output go.
  var hasTerminal: Bool { get }
  /// Whether this command has that terminal now, and does not run in its background.
  var isForeground: Bool { get }
  /// Whether standard input is a terminal, so that a secret is asked for and not read.
  var inputIsTerminal: Bool { get }
  /// Whether standard output is a terminal, which nobody sends a file to.
  var outputIsTerminal: Bool { get }
  /// Standard input, for what is read as a file.
  var inputDescriptor: Int32 { get }
  /// Standard output, for what is written as a file.
  var outputDescriptor: Int32 { get }

  /// One line on standard output.
  func print(_ line: String) async throws(CommandFailure)
  /// The secret on standard output exactly as it is; a newline after it only where standard output is a terminal.
  func emit(_ secret: borrowing SecretBytes) async throws(CommandFailure)
  /// One line for the person, beside the results: on standard error.
  func tell(_ line: String) async
  /// Why the command failed: one line on standard error, after the program's name.
  func complain(_ line: String) async
  /// All of standard input, of `limit` bytes at most.
  func readInput(limit: Int) async throws(CommandFailure) -> SecretBytes
  /// Asks on the terminal without an echo. Never reads standard input.
  func ask(_ prompt: String) async throws(CommandFailure) -> SecretBytes
  /// Has this terminal put back whenever the program stops or ends, and asked on again when it goes on; nil: no more.
  func lend(to terminal: PromptTerminal?)
  /// Asks on the terminal for a yes; anything else is a no.
  func confirm(_ question: String) async throws(CommandFailure) -> Bool
  /// Switches the terminal's echo off and drops what was typed before, for what is about to be asked.
  func hush()
  /// Waits until Enter is pressed on the terminal, without an echo meanwhile. False where the wait was cancelled, with the
  /// terminal as it was; after Enter the echo stays off until `ask` has been answered or ``unhush()``, and what was typed
  /// after Enter is kept for that.
  func waitForEnter() async -> Bool
  /// Puts the terminal back as it was.
  func unhush()
}
