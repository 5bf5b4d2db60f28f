internal import Enclave
internal import GLibLoop

/// The machine's clocks for the enclave, with timers of the main loop: `Task.sleep` would bring libdispatch's threads
/// along, which wake once a second for good.
struct DaemonEnclaveClock: EnclaveClock {
  private let machine = SystemClock()

  func uptime() -> Int64 { machine.uptime() }
  func wallTime() -> Int64 { machine.wallTime() }
  func bootID() -> [UInt8] { machine.bootID() }

  /// A timer that stood still while the machine slept is set again; so it may be late by that time, once.
  func sleep(until target: Int64) async throws(CancellationError) {
    while true {
      let left = target - uptime()
      if left <= 0 { return }
      try await glibSleep(milliseconds: Int(clamping: left))
    }
  }
}
