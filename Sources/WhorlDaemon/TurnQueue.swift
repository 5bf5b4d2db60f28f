internal import GLibLoop

/// Whose turn it is on one reader: one operation at a time, in order of arrival.
@GLibActor
final class TurnQueue {
  /// Why a turn was not had.
  enum Refusal: Error, Hashable {
    /// Somebody else had the reader for the whole of the time to wait.
    case busy(holder: String)
    /// The waiting task was cancelled.
    case cancelled
  }

  private struct Waiter {
    let number: Int
    let name: String
    let continuation: CheckedContinuation<Bool, Never>
  }

  /// What runs on the reader now, in words for people.
  private(set) var holder: String?
  private var waiters: [Waiter] = []
  private var nextNumber = 0

  /// Waits for the turn, at most `seconds` where given.
  ///
  /// - Throws: ``Refusal``; the turn is then not held.
  func take(for name: String, waiting seconds: Int?) async throws(Refusal) {
    if holder == nil && waiters.isEmpty {
      holder = name
      return
    }
    if seconds == 0 { throw .busy(holder: holder ?? name) }
    let number = nextNumber
    nextNumber += 1
    let limit = seconds.map { seconds in
      Task { @GLibActor [weak self] in
        do { try await glibSleep(milliseconds: seconds * 1000) } catch { return }
        self?.giveUp(number)
      }
    }
    defer { limit?.cancel() }
    let granted = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          continuation.resume(returning: false)
        } else {
          waiters.append(Waiter(number: number, name: name, continuation: continuation))
        }
      }
    } onCancel: {
      Task { @GLibActor [weak self] in self?.giveUp(number) }
    }
    if granted {
      // The turn came at the very moment of the cancellation: hand it on instead of losing it.
      if Task.isCancelled {
        give()
        throw .cancelled
      }
      return
    }
    throw Task.isCancelled ? .cancelled : .busy(holder: holder ?? name)
  }

  /// Ends the turn; the next in line has it.
  func give() {
    guard !waiters.isEmpty else {
      holder = nil
      return
    }
    let next = waiters.removeFirst()
    holder = next.name
    next.continuation.resume(returning: true)
  }

  /// How many wait.
  var waitingCount: Int { waiters.count }

  private func giveUp(_ number: Int) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
    waiters.remove(at: index).continuation.resume(returning: false)
  }
}
