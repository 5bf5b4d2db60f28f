import CPAM
import CSystemd

/// What is shown to the person and what is typed, in the lane that the program allows.
struct Conversation: ~Copyable {
  private let host: whorl_pam_host
  private let service: CText
  private let isMute: Bool
  let lane: Lane
  private var terminal = Terminal()
  private var signals = HeldSignals()
  private var line: TypedLine
  /// The question that stands on the terminal.
  private var question: Prompt?
  private var linesLeft = 64

  /// Why the person waits no longer.
  enum End {
    /// A password was given, or none, on purpose.
    case passedOver
    /// The program was stopped, or is about to be.
    case suspended
    /// The program's conversation failed.
    case failed
  }

  /// - Parameter memory: for what is typed, `TypedLine.capacity` bytes.
  init(
    _ host: whorl_pam_host, service: CText, _ options: ModuleOptions, memory: UnsafeMutableBufferPointer<CChar>
  ) {
    self.host = host
    self.service = service
    isMute = host.silent && !options.alwaysPrompt
    lane = Lane(host, service, options, terminal)
    if !lane.holdsTerminal { terminal.letGo() }
    line = TypedLine(memory, keys: TypedLine.Keys())
  }

  /// What the program itself shows may appear elsewhere.
  private var words: Words {
    let isOnTerminal = lane == .terminal || KnownService(service).writesToTerminal
    return Words(host, onTextConsole: isOnTerminal && terminal.isTextConsole)
  }

  /// Whether the lane is still there: the program may have been put into the background.
  var isPossible: Bool {
    guard lane.holdsTerminal else { return true }
    return terminal.isOurs
  }

  /// Drops what was typed so far.
  mutating func forgetLine() { line.clear() }

  /// Waits for the rest of a password that the person had begun when the finger's time ended, for as long as keys come.
  mutating func finishTyping() -> End {
    while isTyping {
      var watch = watch
      watch.poll(bus: -1, events: 0, microseconds: TimeBudget.betweenKeys)
      guard watch.hasSomething else { break }
      if let end = attend(watch) { return end }
    }
    return .passedOver
  }

  /// What to look at beside the bus.
  var watch: Watch {
    var watch = Watch()
    switch lane {
    case .terminal:
      // Until the first question nobody types for us.
      if terminal.isQuiet {
        watch.input = terminal.descriptor
        watch.signals = signals.descriptor
      }
    case .messagesOnTerminal: watch.signals = signals.descriptor
    case .messages(let input?): watch.input = input
    case .messages(nil), .unattended: break
    }
    return watch
  }

  /// Whether the program was stopped since the question was put, or is about to be.
  var wasStopped: Bool {
    guard lane.holdsTerminal else { return false }
    guard terminal.isQuiet else { return false }
    return signals.holdsStop
  }

  /// Whether what is typed on the terminal comes here.
  private var readsKeys: Bool { lane == .terminal }

  /// Whether the person is in the middle of a password.
  var isTyping: Bool { !line.isEmpty }

  /// Shows a prompt, or does not where the program wants silence; false where that failed.
  mutating func show(_ prompt: Prompt) -> Bool {
    // A daemon gone wild must not flood the screen.
    guard linesLeft > 0 else { return true }
    linesLeft -= 1
    if lane == .terminal { return showOnTerminal(prompt) }
    // Before the question comes: whoever sees it may type. Where it cannot be done the finger counts all the same.
    if lane == .messagesOnTerminal, prompt.isQuestion, !terminal.isQuiet, !begin(droppingInput: false) { signals.end() }
    guard !isMute else { return true }
    let words = words
    return withTextLine { text in
      prompt.write(to: &text, service: service, in: words)
      return text.withText { host.show(host.handle, $0) == PAM_SUCCESS } ?? false
    }
  }
}

// MARK: The terminal

extension Conversation {
  private mutating func showOnTerminal(_ prompt: Prompt) -> Bool {
    if prompt.isQuestion {
      guard prompt != question else { return true }
      if !terminal.isQuiet {
        guard begin(droppingInput: true) else { return false }
      } else if question != nil {
        terminal.write("\n")
      }
      question = prompt
      write(prompt)
    } else {
      // Said on a line of its own; the question that it interrupts is put again.
      if question != nil { terminal.write("\n") }
      write(prompt)
      terminal.write("\n")
      if prompt.isLast { question = nil }
      if let question { write(question) }
    }
    return true
  }

  private func write(_ prompt: Prompt) {
    let words = words
    withTextLine { text in
      prompt.write(to: &text, service: service, in: words, takesPassword: true)
      _ = text.withText { terminal.write($0) }
    }
  }

  /// Takes the terminal over. Signals are held first: none may come while echo is off.
  private mutating func begin(droppingInput: Bool) -> Bool {
    guard signals.begin() else { return false }
    guard let keys = terminal.quiet(readingKeys: readsKeys, droppingInput: droppingInput) else { return false }
    if droppingInput { line.use(keys) }
    return true
  }

  /// Ends the question on the terminal and gives the terminal back. A match takes what was typed with it; what was typed
  /// after a password is left for whoever reads next. Of what the module does not read itself nothing is left: the password
  /// prompts of sudo, su, login and doas would drop it, and where none follows, the shell would have a password to run.
  mutating func end(droppingInput: Bool) {
    // What was held comes in any case, but not before the terminal is in order.
    defer { signals.end() }
    guard terminal.isQuiet else { return }
    if question != nil { terminal.write("\n") }
    question = nil
    terminal.restore(droppingInput: readsKeys ? droppingInput : true)
  }

  /// Looks at what `watch` saw; nil where the wait goes on.
  mutating func attend(_ watch: Watch) -> End? {
    if watch.hasSignals, let end = letSignalsCome() { return end }
    guard watch.hasInput else { return nil }
    return readsKeys ? readKeys() : .passedOver
  }

  /// Has held signals come, with the terminal in order, and goes on where the program does.
  private mutating func letSignalsCome() -> End? {
    // Not before the request has ended: a touch while the program is stopped is meant for something else.
    if signals.holdsStop { return .suspended }
    let holdsEnd = signals.holdsEnd
    if holdsEnd, question != nil { terminal.write("\n") }
    terminal.restore(droppingInput: !readsKeys)
    signals.letCome()
    // A program that lives on has a handler, which knows what to do once the wait is over.
    guard !holdsEnd, begin(droppingInput: false) else { return .passedOver }
    return nil
  }

  private mutating func readKeys() -> End? {
    var isGone = false
    while let key = terminal.read(isGone: &isGone) {
      switch line.take(key) {
      case .open: continue
      case .cancelled: return .passedOver
      case .done: return handOver()
      }
    }
    return isGone ? .passedOver : nil
  }

  /// Gives the line to the modules that follow.
  private mutating func handOver() -> End {
    if line.isUnusable {
      end(droppingInput: false)
      write(.tooLong)
      terminal.write("\n")
    } else if !line.isEmpty {
      let isSet = line.withText { host.set_password(host.handle, $0) == PAM_SUCCESS } ?? false
      line.clear()
      guard isSet else { return .failed }
    }
    return .passedOver
  }
}
