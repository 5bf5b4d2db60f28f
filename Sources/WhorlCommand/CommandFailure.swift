/// What ends a command: its exit code and one line for people (what happened, to which thing, what to do next).
struct CommandFailure: Error, Sendable, Equatable {
  let code: ExitCode
  /// Empty where nobody is to be told more than the exit code.
  let message: String

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Ended by Ctrl-C, a signal, the end of the input at a prompt, or a no to a question; ``CancelTexts`` has the words that
  /// people see.
  static let cancelled = CommandFailure(.cancelled, "cancelled")
}
