internal import GLibLoop
internal import SecretMemory

/// A terminal: says which program asks for what, waits for Enter or Ctrl-C while the reader waits for a finger, and asks
/// for the passcode without an echo. One thing at a time: a question goes before what waits for a finger, which is shown
/// again afterwards.
@GLibActor
final class TerminalFace: PromptFace {
  private let terminal: PromptTerminal
  /// The requests that wait for a finger, the oldest first.
  private var waiting: [(request: UInt64, words: PromptWords)] = []
  /// The one of them that is on the terminal, and what reads the keys for it.
  private var shown: (request: UInt64, task: Task<Void, Never>)?
  /// Whether the passcode is being asked for.
  private var isAsking = false
  /// The request of which it was last said who asks for what.
  private var introduced: UInt64?

  var onWish: (@GLibActor (UInt64, PromptWish) -> Void)?

  init(_ terminal: PromptTerminal) { self.terminal = terminal }

  var name: String { "the terminal" }

  func show(_ request: UInt64, _ words: PromptWords) {
    close(request)
    // What wants the passcode is shown with the question.
    guard words.wantsFinger else { return }
    waiting.append((request, words))
    showNext()
  }

  func close(_ request: UInt64) {
    waiting.removeAll { $0.request == request }
    guard let shown, shown.request == request else { return }
    shown.task.cancel()
  }

  func finish() async {
    while let shown {
      shown.task.cancel()
      await shown.task.value
    }
  }

  func ask(_ request: UInt64, _ words: PromptWords) async throws(PromptFailure) -> SecretBytes {
    isAsking = true
    await putAside()
    defer {
      isAsking = false
      showNext()
    }
    guard !Task.isCancelled else { throw .hidden }
    let text = introduction(request, words) + words.question
    do throws(PromptFailure) {
      let answer = try await terminal.ask(text)
      await terminal.show("\n")
      return answer
    } catch {
      // The line after the question is not the question's. In a task of its own, for this one may be cancelled.
      if case .unusable = error {} else { await Task { @GLibActor in await terminal.show("\n") }.value }
      throw error
    }
  }

  // MARK: - Fingers

  private func showNext() {
    guard shown == nil, !isAsking, let next = waiting.first else { return }
    let task = Task { @GLibActor in
      await watch(next.request, next.words)
      shown = nil
      showNext()
    }
    shown = (next.request, task)
  }

  /// Takes the terminal for a question.
  private func putAside() async {
    guard let shown else { return }
    shown.task.cancel()
    await shown.task.value
  }

  /// Shows that a finger is waited for, until the task is cancelled.
  private func watch(_ request: UInt64, _ words: PromptWords) async {
    var text = introduction(request, words) + words.invitation
    while !Task.isCancelled, waiting.contains(where: { $0.request == request }) {
      let wish: PromptWish
      do throws(PromptFailure) {
        _ = try await terminal.ask(text, takesLine: words.fallback != nil)
        wish = .fallBack
      } catch {
        switch error {
        case .cancelled: wish = .cancel
        // Not to be asked again: the finger counts all the same.
        case .hidden, .unusable: return waiting.removeAll { $0.request == request && error != .hidden }
        }
      }
      text = ""
      onWish?(request, wish)
    }
  }

  /// Who asks for what, once.
  private func introduction(_ request: UInt64, _ words: PromptWords) -> String {
    guard introduced != request, terminal.isForeground else { return "" }
    introduced = request
    return "Whorl: " + words.claim + "\n"
  }
}

extension PromptWords {
  /// Below who asks for what, while a finger is waited for.
  var invitation: String {
    switch fallback {
    case .passcode: "Touch the fingerprint reader; Enter: give your login password instead; Ctrl-C: refuse.\n"
    // Nobody asks for the login password then, and what is typed would be the program's.
    case .program: "Touch the fingerprint reader; Enter: no finger (the program goes on as it can); Ctrl-C: refuse.\n"
    case nil: "Touch the fingerprint reader; Ctrl-C: refuse.\n"
    }
  }

  /// The question for the passcode, why it is asked, and what was wrong with the last answer.
  var question: String {
    var lines: [String] = []
    if let error {
      let left = triesLeft.map { $0 == 0 ? " This is the last try." : " \($0 + 1) tries are left." } ?? ""
      lines.append(error + left)
    } else if let why {
      lines.append(why)
    }
    lines.append(wantsFormer ? "Your former login password or recovery key: " : "Your login password: ")
    return lines.joined(separator: "\n")
  }
}
