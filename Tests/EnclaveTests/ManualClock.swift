import Enclave
import Synchronization

/// Time that stands still until the test turns it. Setting the machine to sleep is the same as advancing it.
final class ManualClock: EnclaveClock {
  private struct Sleeper {
    let target: Int64
    let continuation: CheckedContinuation<Bool, Never>
  }
  private struct State {
    var uptime: Int64 = 1_000_000
    var wall: Int64 = 1_800_000_000
    var boot: [UInt8] = [UInt8](repeating: 1, count: 16)
    var next = 0
    var sleepers: [Int: Sleeper] = [:]
  }
  private let state = Mutex(State())

  func uptime() -> Int64 { state.withLock { $0.uptime } }
  func wallTime() -> Int64 { state.withLock { $0.wall } }
  func bootID() -> [UInt8] { state.withLock { $0.boot } }

  func advance(milliseconds: Int64) {
    let due = state.withLock { state in
      state.uptime += milliseconds
      let wallBefore = state.wall
      state.wall = wallBefore + milliseconds / 1000
      let due = state.sleepers.filter { $0.value.target <= state.uptime }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume(returning: true) }
  }

  func advance(seconds: Int) { advance(milliseconds: Int64(seconds) * 1000) }

  /// Somebody sets the wall clock.
  func setWall(_ seconds: Int64) { state.withLock { $0.wall = seconds } }

  /// The machine starts anew, with this wall clock.
  func reboot(wall: Int64) {
    state.withLock { state in
      state.uptime = 5_000
      state.wall = wall
      state.boot = state.boot.map { $0 &+ 1 }
    }
  }

  func sleep(until target: Int64) async throws(CancellationError) {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    let isReached = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let now: Bool? = state.withLock { state in
          if Task.isCancelled { return false }
          if state.uptime >= target { return true }
          state.sleepers[id] = Sleeper(target: target, continuation: continuation)
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(returning: false)
    }
    if !isReached { throw CancellationError() }
  }
}
