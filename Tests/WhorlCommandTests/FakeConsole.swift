import GLibLoop
import SecretMemory
import WhorlAgent

@testable import WhorlCommand

/// A console that remembers what it is told and gives the answers it was made with.
@GLibActor
final class FakeConsole: Console {
  var hasTerminal = true
  var isForeground = true
  var inputIsTerminal = false
  var outputIsTerminal = false
  /// /dev/null unless a test puts something in their place.
  var inputDescriptor: Int32 = -1
  var outputDescriptor: Int32 = -1
  var input: [UInt8] = []
  /// Answers to `ask`, in turn; none left is Ctrl-D, and Enter alone where a prompt offers that.
  var answers: [String] = []
  /// Whether Ctrl-D answers that, too.
  var declines = false
  var confirms = false
  /// Whether Enter is pressed, once, as soon as somebody waits for it.
  var pressesEnter = false

  private(set) var printed: [String] = []
  private(set) var told: [String] = []
  private(set) var complaints: [String] = []
  private(set) var emitted: [UInt8]?
  private(set) var asked: [String] = []
  private(set) var questions: [String] = []

  func print(_ line: String) async throws(CommandFailure) { printed.append(line) }
  func emit(_ secret: borrowing SecretBytes) async throws(CommandFailure) {
    emitted = secret.withUnsafeBytes { Array($0) }
  }
  func tell(_ line: String) async { told.append(line) }
  func complain(_ line: String) async { complaints.append(line) }
  func readInput(limit: Int) async throws(CommandFailure) -> SecretBytes { try secret(input) }
  func ask(_ prompt: String) async throws(CommandFailure) -> SecretBytes {
    guard hasTerminal else { throw CommandFailure(.noTerminal, "no terminal") }
    asked.append(prompt)
    if answers.isEmpty, !declines, prompt.contains("Enter alone") { return try secret([]) }
    guard !answers.isEmpty else { throw .cancelled }
    return try secret(Array(answers.removeFirst().utf8))
  }
  func lend(to terminal: PromptTerminal?) {}
  func confirm(_ question: String) async throws(CommandFailure) -> Bool {
    questions.append(question)
    return confirms
  }
  func hush() {}
  func unhush() {}
  func waitForEnter() async -> Bool {
    if pressesEnter {
      pressesEnter = false
      return true
    }
    do { try await glibSleep(milliseconds: 600_000) } catch {}
    return false
  }

  private func secret(_ bytes: [UInt8]) throws(CommandFailure) -> SecretBytes {
    do throws(SecretMemoryError) {
      return try SecretBytes(copying: bytes.span.bytes)
    } catch {
      throw CommandFailure(.failed, error.description)
    }
  }
}
