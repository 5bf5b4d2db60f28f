import GLibLoop
import WhorlClient

/// Shows how one wait for a finger goes, and takes Enter for "the passcode instead" where that is offered.
@GLibActor
final class TouchPrompt {
  struct Text {
    /// What the touch is for: `read the secret "mail"`.
    let deed: String
    let offersPasscode: Bool
  }

  /// Whether Enter was pressed.
  private(set) var wasDeclined = false

  private let text: Text
  private var hasPrompted = false
  private var scanType = ""
  private let console: any Console
  private let obstacle: @GLibActor () async -> String?
  private let decline: @GLibActor () async -> Void
  /// Whether it was told that others have the reader.
  private var isBusy: Bool
  private var enter: Task<Void, Never>?
  /// Lines are told one after another, in the order of what they tell.
  private var lines: Task<Void, Never>?

  /// - Parameters:
  ///   - isBusy: whether the person knows already that others have the reader.
  ///   - obstacle: why no passcode can be given now, after Enter; nil where one can.
  ///   - decline: ends the wait for the finger in favour of the passcode.
  init(
    _ text: Text, _ console: any Console, isBusy: Bool, obstacle: @escaping @GLibActor () async -> String?,
    decline: @escaping @GLibActor () async -> Void
  ) {
    self.text = text
    self.isBusy = isBusy
    self.obstacle = obstacle
    self.console = console
    self.decline = decline
  }

  func show(_ progress: WhorlProgress) {
    switch progress {
    case .queued:
      hasPrompted = false
      guard !isBusy else { return isBusy = false }
      tell("Waiting for the reader; another request is first.")
    case .waiting(let reader, let scanType, _):
      // Once for each turn: a miss has said already that the next touch is awaited.
      guard !hasPrompted else { return }
      hasPrompted = true
      self.scanType = scanType
      let name = reader.isEmpty ? "" : " (\(Escaping.shown(reader, limit: 64)))"
      // Before the prompt: whoever sees it may type.
      if text.offersPasscode { console.hush() }
      let other = text.offersPasscode ? ", or press Enter to use your password" : ""
      tell("\(RetryTexts.touch(scanType))\(name) to \(text.deed)\(other).")
      if text.offersPasscode { watchEnter() }
    case .retry(let reason):
      tell(RetryTexts.hint(for: reason, scanType) ?? "That did not work; \(RetryTexts.again(scanType)).")
    case .noMatch(let left):
      tell(
        left > 0
          ? "That finger does not match; \(RetryTexts.again(scanType)) (\(left) left)." : "That finger does not match.")
    case .matched, .other: break
    }
  }

  /// Ends the wait for Enter. The terminal is as it was then, but where Enter was pressed: the passcode is asked for next.
  func end() async {
    enter?.cancel()
    await enter?.value
    await lines?.value
  }

  private func tell(_ line: String) {
    lines = Task { @GLibActor [lines, console] in
      await lines?.value
      await console.tell(line)
    }
  }

  private func watchEnter() {
    guard enter == nil else { return }
    enter = Task { @GLibActor in
      while await console.waitForEnter() {
        if let why = await obstacle() {
          tell(why)
          continue
        }
        wasDeclined = true
        return await decline()
      }
    }
  }
}
