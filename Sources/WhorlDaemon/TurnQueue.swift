internal import GLibLoop

/// Whose turn it is on one reader: one operation at a time, the enclave's first, otherwise in order of arrival.
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
    let isFirst: Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  /// So many milliseconds a turn that was given back is kept for ``take(for:waiting:first:)`` with `first`.
  private static let reserve = 250

  /// What runs on the reader now, in words for people.
  private(set) var holder: String?
  private var waiters: [Waiter] = []
  private var nextNumber = 0
  private var reservation: Task<Void, Never>?

  /// Waits for the turn, at most `seconds` where given.
  ///
  /// - Parameter first: goes before those without it. For the enclave, whose request may take several touches: none of
  ///   them must go to somebody who got in between.
  /// - Throws: ``Refusal``; the turn is then not held.
  func take(for name: String, waiting seconds: Int?, first: Bool = false) async throws(Refusal) {
    if holder == nil, first || (reservation == nil && waiters.isEmpty) {
      endReservation()
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
          waiters.append(Waiter(number: number, name: name, isFirst: first, continuation: continuation))
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
  ///
  /// - Parameter keeping: whether the one who gives it may be back at once, with `first`, for another touch.
  func give(keeping: Bool = false) {
    holder = nil
    guard keeping, !waiters.contains(where: \.isFirst) else { return pass() }
    reservation = Task { @GLibActor [weak self] in
      do { try await glibSleep(milliseconds: Self.reserve) } catch { return }
      self?.reservation = nil
      self?.pass()
    }
  }

  private func pass() {
    guard holder == nil, !waiters.isEmpty else { return }
    let next = waiters.remove(at: waiters.firstIndex { $0.isFirst } ?? 0)
    holder = next.name
    next.continuation.resume(returning: true)
  }

  private func endReservation() {
    reservation?.cancel()
    reservation = nil
  }

  /// How many wait.
  var waitingCount: Int { waiters.count }

  private func giveUp(_ number: Int) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
    waiters.remove(at: index).continuation.resume(returning: false)
  }
}
