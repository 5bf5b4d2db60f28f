internal import GLibLoop
internal import Keychain

/// A line for each account in front of something that all share: so many of an account's calls are at it at once, the
/// others wait for those.
@GLibActor
final class AccountLines {
  private struct Line {
    var running = 0
    var waiting: [(number: Int, place: CheckedContinuation<Bool, Never>)] = []
  }

  private let atOnce: Int
  private var lines: [UserID: Line] = [:]
  private var lastNumber = 0

  /// - Parameter atOnce: at least 1.
  init(atOnce: Int) { self.atOnce = atOnce }

  /// How many accounts have somebody at it.
  var accountCount: Int { lines.count }

  /// Waits for a place, in order of arrival; false where the task was cancelled first. ``leave(_:)`` gives it back.
  func enter(_ user: UserID) async -> Bool {
    if lines[user, default: Line()].running < atOnce {
      lines[user, default: Line()].running += 1
      return true
    }
    lastNumber += 1
    let number = lastNumber
    return await withTaskCancellationHandler {
      await withCheckedContinuation { place in
        if Task.isCancelled { place.resume(returning: false) } else { lines[user]?.waiting.append((number, place)) }
      }
    } onCancel: {
      Task { @GLibActor [weak self] in self?.giveUp(number, user) }
    }
  }

  /// Hands the place on to the next in line.
  func leave(_ user: UserID) {
    guard var line = lines[user] else { return }
    if line.waiting.isEmpty { line.running -= 1 } else { line.waiting.removeFirst().place.resume(returning: true) }
    lines[user] = line.running == 0 ? nil : line
  }

  private func giveUp(_ number: Int, _ user: UserID) {
    guard let index = lines[user]?.waiting.firstIndex(where: { $0.number == number }) else { return }
    lines[user]?.waiting.remove(at: index).place.resume(returning: false)
  }
}
