/// How warm libfprint believes a reader to be (its `FpTemperature`): an estimate from the time that the sensor was on.
public enum ReaderTemperature: UInt8, Sendable, CaseIterable, Hashable {
  /// Good for a long time.
  case cold = 0
  /// In use for a while.
  case warm = 1
  /// Too hot: what waits for a finger ends with `.tooHot`, and nothing new starts until it has cooled down.
  case hot = 2
}
