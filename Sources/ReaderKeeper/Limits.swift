extension ReaderKeeper {
  /// How long the bridge may take before it is killed and replaced, and the like; in milliseconds.
  public struct Limits: Sendable {
    /// From its start to its list of readers.
    public var start = 20_000
    /// To open or close a reader, or to work on a reader's own storage.
    public var answer = 30_000
    /// To show that it is alive while a request runs, a touch awaited included.
    public var pong = 5_000
    /// Between one sign of life and the next question for one.
    public var pingInterval = 2_000
    /// Added to ``pong`` for each print that a running identification compares: libfprint does that in one go.
    public var pongPerPrint = 10
    /// To end a request that was cancelled or whose reader was unplugged, and to end itself.
    public var cancel = 5_000
    /// How long the reader's next request waits for a finger that still lies there after its verdict; then that is ended.
    public var settle = 10_000
    /// How long a bridge without an open reader is kept.
    public var idle = 30_000
    /// The same while a reader is warm: only that bridge knows how warm it is.
    public var idleWarm = 600_000
    /// How long a reader that was hot when its bridge went is left to cool down.
    public var coolDown = 120_000
    /// How long a bridge that could not set up a device is asked again before it is replaced by one that tries afresh.
    public var ignoredDevice = 3_000
    /// How many bridges may fail within a minute; beyond that none is started until the minute is over.
    public var failuresPerMinute = 60
    /// How often one verification may ask for the touch again before it is given up with `.retry`. A number of touches.
    public var retries = 20

    /// The values that are good for real readers.
    public static let standard = Limits()

    /// The standard values, to be changed one by one.
    public init() {}
  }
}
