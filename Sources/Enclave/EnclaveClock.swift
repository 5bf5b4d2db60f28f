internal import Glibc

/// Where the enclave has its time from. Tests bring one that they turn by hand.
public protocol EnclaveClock: Sendable {
  /// Milliseconds since the machine started, the time that it slept included. Never goes back.
  func uptime() -> Int64
  /// Seconds since 1970, as the machine believes. May jump either way.
  func wallTime() -> Int64
  /// Which start of the machine `uptime()` counts from: 16 bytes, or none where nobody can tell.
  func bootID() -> [UInt8]
  /// Returns when `uptime()` has reached `uptime`; at once where it has already.
  /// - Throws: where the task was cancelled before.
  func sleep(until uptime: Int64) async throws(CancellationError)
}

/// The machine's own clocks: CLOCK_BOOTTIME, so that a reuse time goes on while a laptop sleeps, and CLOCK_REALTIME.
public struct SystemClock: EnclaveClock {
  private let boot: [UInt8]

  /// The machine's clocks.
  public init() { boot = Self.readBootID() }

  /// The kernel's boot_id.
  public func bootID() -> [UInt8] { boot }

  private static func readBootID() -> [UInt8] {
    let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 64)
    let length = read(file, &text, text.count)
    guard length > 0 else { return [] }
    let digits = text[..<length].compactMap { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
    guard digits.count == 32 else { return [] }
    return stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// CLOCK_BOOTTIME in milliseconds.
  public func uptime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)  // cannot fail: a known clock and a valid place
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// CLOCK_REALTIME in seconds.
  public func wallTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec)
  }

  /// Sleeps until then. A timer that wakes early (the machine slept, a coarse timer) is set again.
  public func sleep(until target: Int64) async throws(CancellationError) {
    while true {
      let left = target - uptime()
      if left <= 0 { return }
      do {
        try await Task.sleep(for: .milliseconds(left), clock: .continuous)
      } catch {
        throw CancellationError()
      }
    }
  }
}
