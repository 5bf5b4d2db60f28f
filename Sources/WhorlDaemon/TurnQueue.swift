internal import GLibLoop
internal import Keychain

/// Somebody who wants a reader for a while.
@GLibActor
struct Seeker {
  /// What for, in words for people, such as "the verification of ann (fprintd-verify)".
  let name: String
  /// Goes before those without it. For the enclave, whose request may take several touches: none of them must go to
  /// somebody who got in between.
  var isFirst = false
  /// The uid of who asks; nil for the daemon itself.
  var user: UserID?
  /// Where he is now.
  var standing: @GLibActor () -> Standing = { .unknown }
  /// Asks him to give the turn back, since somebody at the seat waits for it; nil where he cannot.
  var giveWay: (@GLibActor () -> Void)?

  /// Whether another goes before him: one at the seat before one in a session that the seat has switched away from,
  /// and before another account's program that is at no seat at all. Root's programs, as a greeter's, give way only
  /// where their session is in the background.
  func givesWay(to other: Seeker) -> Bool {
    standing().givesWay(to: other.standing(), isOtherAccount: user != nil && user?.rawValue != 0 && user != other.user)
  }
}

/// Whose turn it is on one reader: one operation at a time, the enclave's first, otherwise in order of arrival.
///
/// Somebody in a background session comes after all others. Whoever has the turn gives it to one who goes before him.
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
    let seeker: Seeker
    let continuation: CheckedContinuation<Bool, Never>
  }

  /// So many milliseconds a turn that was given back is kept for a ``take(_:waiting:)`` of one who is first.
  private static let reserve = 250

  private var current: Seeker?
  private var hasAsked = false
  private var waiters: [Waiter] = []
  private var nextNumber = 0
  private var reservation: Task<Void, Never>?

  /// What runs on the reader now, in words for people.
  var holder: String? { current?.name }

  /// As ``take(_:waiting:)`` for somebody of whom no more is known.
  func take(for name: String, waiting seconds: Int?, first: Bool = false) async throws(Refusal) {
    try await take(Seeker(name: name, isFirst: first), waiting: seconds)
  }

  /// Waits for the turn, at most `seconds` where given.
  ///
  /// - Throws: ``Refusal``; the turn is then not held.
  func take(_ seeker: Seeker, waiting seconds: Int?) async throws(Refusal) {
    if isFree(for: seeker) {
      endReservation()
      hold(seeker)
      return
    }
    if seconds == 0 { throw .busy(holder: holder ?? seeker.name) }
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
          waiters.append(Waiter(number: number, seeker: seeker, continuation: continuation))
          reconsider()
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
    throw Task.isCancelled ? .cancelled : .busy(holder: holder ?? seeker.name)
  }

  /// Whether ``take(_:waiting:)`` would have the turn at once.
  func isFree(for seeker: Seeker) -> Bool {
    current == nil && (seeker.isFirst || (reservation == nil && waiters.isEmpty))
  }

  /// Ends the turn; the next in line has it.
  ///
  /// - Parameter keeping: whether the one who gives it may be back at once, as the first, for another touch.
  func give(keeping: Bool = false) {
    current = nil
    guard keeping, !waiters.contains(where: \.seeker.isFirst) else { return pass() }
    reservation = Task { @GLibActor [weak self] in
      do { try await glibSleep(milliseconds: Self.reserve) } catch { return }
      self?.reservation = nil
      self?.pass()
    }
  }

  /// Has the holder give way where somebody waits who goes before him; to be called when standings change.
  func reconsider() {
    guard let current, !hasAsked, waiters.contains(where: { current.givesWay(to: $0.seeker) }) else { return }
    hasAsked = true
    current.giveWay?()
  }

  private func hold(_ seeker: Seeker) {
    current = seeker
    hasAsked = false
  }

  private func pass() {
    guard current == nil, !waiters.isEmpty else { return }
    let next = waiters.remove(at: nextIndex())
    hold(next.seeker)
    next.continuation.resume(returning: true)
    reconsider()
  }

  private func nextIndex() -> Int {
    let present = waiters.indices.filter { waiters[$0].seeker.standing() != .background }
    // Whoever would have to give way at once is not given the turn.
    let candidates = (present.isEmpty ? Array(waiters.indices) : present).filter { index in
      !waiters.contains { waiters[index].seeker.givesWay(to: $0.seeker) }
    }
    return candidates.first { waiters[$0].seeker.isFirst } ?? candidates.first ?? 0
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
