internal import ReaderLink

/// Which readers are hot. libfprint's estimate ends with the bridge, the heat does not: a reader that was hot in one
/// bridge is left to cool down although the next one believes it to be cold.
struct HeatRecord {
  private struct Heat {
    var since: ContinuousClock.Instant
    var bridge: Int32
  }

  private var heats: [ReaderID: Heat] = [:]

  /// Takes what a bridge says.
  mutating func note(
    _ reader: ReaderID, _ temperature: ReaderTemperature, by bridge: Int32, limits: ReaderKeeper.Limits
  ) {
    let now = ContinuousClock.now
    heats = heats.filter { now - $0.value.since < .milliseconds(limits.coolDown) }
    if temperature == .hot {
      heats[reader] = Heat(since: now, bridge: bridge)
    } else if heats[reader]?.bridge == bridge {
      heats[reader] = nil
    }
  }

  /// How many seconds it has to cool down yet; nil where this bridge knows better.
  func secondsLeft(_ reader: ReaderID, in bridge: Int32, limits: ReaderKeeper.Limits) -> Int? {
    guard let heat = heats[reader], heat.bridge != bridge else { return nil }
    let left = .milliseconds(limits.coolDown) - (ContinuousClock.now - heat.since)
    return left > .zero ? Int(left.components.seconds) + 1 : nil
  }
}
