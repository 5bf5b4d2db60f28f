import Bus
import EmbeddedLink
import GLibLoop

/// What the program is to hear, in order, and the questions that it has yet to answer.
@GLibActor
final class EventDesk {
  struct Event {
    let kind: EmbeddedLink.Event
    let number: UInt64
    let details: [String: BusValue]
  }

  private struct Question {
    /// whorld's number of the request.
    let request: UInt64
    let answer: CheckedContinuation<Result<Int32, BusMethodError>, Never>
  }

  private var waiting: [Event] = []
  private var taker: CheckedContinuation<Event, Never>?
  private var questions: [UInt64: Question] = [:]
  private var lastQuestion: UInt64 = 0

  nonisolated init() {}

  func tell(_ kind: EmbeddedLink.Event, _ number: UInt64, _ details: [String: BusValue] = [:]) {
    let event = Event(kind: kind, number: number, details: details)
    guard let taker else { return waiting.append(event) }
    self.taker = nil
    taker.resume(returning: event)
  }

  func next() async -> Event {
    taker?.resume(returning: Event(kind: .none, number: 0, details: [:]))
    taker = nil
    guard waiting.isEmpty else { return waiting.removeFirst() }
    return await withCheckedContinuation { taker = $0 }
  }

  /// Has the program asked for a passcode.
  /// - Returns: a memory file, which is the caller's to close.
  func ask(_ request: UInt64, _ details: [String: BusValue]) async throws(BusMethodError) -> Int32 {
    lastQuestion += 1
    let number = lastQuestion
    let result = await withCheckedContinuation { continuation in
      questions[number] = Question(request: request, answer: continuation)
      tell(.passcode, number, details)
    }
    return try result.get()
  }

  /// Answers a question; one that nobody waits for any more is let go.
  func answer(_ number: UInt64, _ result: Result<Int32, BusMethodError>) -> Bool {
    guard let question = questions.removeValue(forKey: number) else { return false }
    question.answer.resume(returning: result)
    return true
  }

  /// whorld waits for no answer to what belongs to that request any more.
  func drop(_ request: UInt64) {
    for number in questions.filter({ $0.value.request == request }).keys {
      _ = answer(
        number, .failure(BusMethodError(name: "org.whorl.Error.NotInteractive", message: "the request is over")))
    }
  }
}
