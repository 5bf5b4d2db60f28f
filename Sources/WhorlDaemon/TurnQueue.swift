internal import GLibLoop
internal import Keychain

/// Somebody who wants a reader for a while.
@GLibActor
struct Seeker {
  /// What for, in words for people, such as "the verification of ann (fprintd-verify)".
  let name: String
  /// The enclave's request that this is for: it may take several touches, and none of them must go to somebody who got in
  /// between. Nil for others.
  var request: UInt64?
  /// The uid of who asks; nil for the daemon itself.
  var user: UserID?
  /// Where he is now.
  var standing: @GLibActor () -> Standing = { .unknown }
  /// Asks him to give the turn back, since somebody at the seat waits for it; nil where he cannot.
  var giveWay: (@GLibActor () -> Void)?

  /// Whether another goes before him: see ``Standing/givesWay(to:from:to:)``.
  func givesWay(to other: Seeker) -> Bool {
    standing().givesWay(to: other.standing(), from: user, to: other.user)
  }
}

/// Whose turn it is on one reader: one operation at a time, in order of arrival. A request of the enclave's that gives its
/// turn back between two touches has it again, if it comes at once.
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

  /// So many milliseconds a turn that was given back is kept for the same request.
  private static let reserve = 250

  private var current: Seeker?
  private var hasAsked = false
  private var waiters: [Waiter] = []
  private var nextNumber = 0
  private var reservation: (owner: Seeker, end: Task<Void, Never>)?

  /// What runs on the reader now, in words for people.
  var holder: String? { current?.name }

  /// As ``take(_:waiting:)`` for somebody of whom no more is known.
  func take(for name: String, waiting seconds: Int?, request: UInt64? = nil) async throws(Refusal) {
    try await take(Seeker(name: name, request: request), waiting: seconds)
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
    if seconds == 0 { throw .busy(holder: inTheWay(of: seeker)) }
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
    throw Task.isCancelled ? .cancelled : .busy(holder: inTheWay(of: seeker))
  }

  /// Whether ``take(_:waiting:)`` would have the turn at once.
  func isFree(for seeker: Seeker) -> Bool {
    guard current == nil else { return false }
    guard let reservation else { return waiters.isEmpty }
    // The enclave has one request at a time: where another comes, the one that the turn is kept for has ended.
    return seeker.request != nil && (seeker.request == reservation.owner.request || waiters.isEmpty)
  }

  /// Ends the turn; the next in line has it.
  ///
  /// - Parameter keeping: whether the request that gives it may be back at once for another touch.
  func give(keeping: Bool = false) {
    let giver = current
    current = nil
    guard keeping, let giver, !waiters.contains(where: { giver.givesWay(to: $0.seeker) }) else { return pass() }
    let end = Task { @GLibActor in
      do { try await glibSleep(milliseconds: Self.reserve) } catch { return }
      self.reservation = nil
      self.pass()
    }
    reservation = (giver, end)
  }

  /// Has the holder give way where somebody waits who goes before him; to be called when standings change.
  func reconsider() {
    if let owner = reservation?.owner, waiters.contains(where: { owner.givesWay(to: $0.seeker) }) {
      endReservation()
      return pass()
    }
    guard let current, !hasAsked, waiters.contains(where: { current.givesWay(to: $0.seeker) }) else { return }
    hasAsked = true
    current.giveWay?()
  }

  /// Who has the turn, or is to have it before somebody who does not get it; in words for people.
  private func inTheWay(of seeker: Seeker) -> String {
    holder ?? reservation?.owner.name ?? waiters.first?.seeker.name ?? seeker.name
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
    return candidates.first ?? 0
  }

  private func endReservation() {
    reservation?.end.cancel()
    reservation = nil
  }

  /// How many wait.
  var waitingCount: Int { waiters.count }

  private func giveUp(_ number: Int) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
    waiters.remove(at: index).continuation.resume(returning: false)
  }
}
