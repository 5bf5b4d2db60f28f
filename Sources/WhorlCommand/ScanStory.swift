import GLibLoop
import WhorlClient

/// Follows the statuses of one enrolment or verification, tells them, and remembers how it ended.
///
/// Whatever the daemon sends, each status has a text and the end is the first terminal one.
@GLibActor
final class ScanStory {
  enum Verdict: Sendable, Equatable {
    case enrolled, match, noMatch
    case failed(CommandFailure)
  }

  /// How it ended; nil while it has not.
  private(set) var verdict: Verdict?

  /// Whether the enrolment was refused for a reason that the daemon may know more about.
  private(set) var mayBeExplained = false

  /// Whether it ended by a fault of the reader's, of which whorld's status knows more.
  private(set) var readerFailed = false

  private let console: any Console
  private let scanType: String
  private let stages: Int?
  private var stage = 0
  private var lines: Task<Void, Never>?

  /// - Parameters:
  ///   - scanType: the reader's, `press` or `swipe`.
  ///   - stages: how many touches an enrolment takes; nil where that is not known.
  init(_ console: any Console, scanType: String, stages: Int?) {
    self.console = console
    self.scanType = scanType
    self.stages = stages
  }

  func take(_ status: FprintScanStatus) {
    guard verdict == nil else { return }
    if ["enroll-failed", "enroll-data-full", "enroll-duplicate"].contains(status.word) { mayBeExplained = true }
    switch status.word {
    case "enroll-stage-passed":
      stage += 1
      tell(stageLine)
    case "enroll-completed":
      // The last touch completes; readers differ in whether they report it as a stage as well.
      if let stages, stage < stages {
        stage = stages
        tell(stageLine)
      }
      verdict = .enrolled
    case "verify-match": verdict = .match
    case "verify-no-match": verdict = .noMatch
    case "enroll-failed":
      end(.failed, "the finger was not enrolled: its touches did not fit together; run whorl enroll again")
    case "enroll-data-full":
      end(.failed, "the reader's own memory is full; delete a finger with whorl delete, then enrol again")
    case "enroll-duplicate":
      end(.failed, "this finger is enrolled already; use another one, or name the one that it is enrolled as")
    case "enroll-disconnected", "verify-disconnected":
      readerFailed = true
      end(.noReader, "the reader dropped out; try again, and look at whorl status if it stays so")
    case "enroll-unknown-error", "verify-unknown-error":
      readerFailed = true
      end(.failed, "the reader stopped or failed; try again, and look at whorl status and whorld's log if it stays so")
    default:
      if let hint = RetryTexts.hint(for: status.word, scanType) {
        tell(hint)
      } else {
        tell("The reader says \(Escaping.quoted(status.word)).")
      }
    }
    if status.done, verdict == nil {
      end(.failed, "the reader ended with \(Escaping.quoted(status.word)), which whorl does not know; try again")
    }
  }

  /// How it ended; the daemon saying nothing of that is a failure as well.
  func outcome(of operation: String) throws(CommandFailure) -> Verdict {
    switch verdict {
    case .failed(let failure): throw failure
    case let verdict?: return verdict
    case nil: throw CommandFailure(.failed, "\(operation): whorld ended it without a result; try again")
    }
  }

  /// Comes back when everything has been told.
  func told() async { await lines?.value }

  /// Which stage has passed and, unless it was the last, what comes next.
  private var stageLine: String {
    let next = RetryTexts.again(scanType)
    guard let stages else { return "stage \(stage); \(next)" }
    return stage < stages
      ? "stage \(stage) of \(stages); \(next)" : "stage \(stages) of \(stages)"
  }

  private func end(_ code: ExitCode, _ text: String) { verdict = .failed(CommandFailure(code, text)) }

  private func tell(_ line: String) {
    lines = Task { @GLibActor [lines, console] in
      await lines?.value
      await console.tell(line)
    }
  }
}
